"""Memory for library callers: record, list, forget and search, with discoveries as values."""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.composition import UseCases
from context_pack.memory.discovery import Discovery
from context_pack.memory.ports import Recorded
from context_pack.memory.record import ContextRecord
from context_pack.memory.search import DEFAULT_LIMIT, ContextSearch, FoundInMemory


class Memory:
    """Every use case of memory; each raises `Failure` as the tools would answer it."""

    def __init__(self, cases: UseCases) -> None:
        if cases.ports.memory is None:
            raise ValueError("this workspace has no memory")
        assert cases.ports.discoveries is not None
        self._cases, self._store = cases, cases.ports.discoveries

    def record(
        self,
        type: str,  # noqa: A002
        content: str,
        *,
        module: str | None = None,
        id: str | None = None,  # noqa: A002
        supersedes: str | None = None,
        path: str | None = None,
        lines: str | None = None,
        symbol: str | None = None,
    ) -> Recorded:
        """Keep a discovery; what was said before in the same words is merged.

        With `id` that discovery is corrected; the one that it `supersedes` is marked as such. With `path`,
        `lines` (`"10-20"`) or `symbol` it is about that code, and a search says when it has changed.
        """
        return self._cases.recorder.record(
            ContextRecord(type, content, module, id, supersedes, path, lines, symbol)
        )

    def discoveries(self) -> Sequence[Discovery]:
        """Every discovery, the oldest first."""
        return self._store.all()

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove a discovery and return it, or None when its file was malformed."""
        return self._cases.recorder.forget(discovery_id)

    def accept(self, discovery_id: str) -> Discovery:
        """Anchor a discovery anew where its code is found now: it was read again, and still holds."""
        return self._cases.recorder.accept(discovery_id)

    def search(
        self,
        query: str,
        *,
        type: str = "all",  # noqa: A002
        module: str | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> FoundInMemory:
        """The best matches; what has changed is indexed first, however much that is."""
        return self._cases.memory.search(ContextSearch(query, type, module, limit))
