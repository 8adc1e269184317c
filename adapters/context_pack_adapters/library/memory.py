"""Memory for library callers: record, list, forget and search, with discoveries as values."""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.memory.discovery import Discovery
from context_pack.memory.entries import CODE
from context_pack.memory.record import ContextRecord
from context_pack.memory.search import DEFAULT_LIMIT, ContextSearch
from context_pack.memory.stores import Recorded
from context_pack.results import MemoryHit, MemoryHits
from context_pack.retrieval.searching import Ranked


class Memory:
    """What was found out about the project, and one search over all of it and the code.

    Every method raises `Failure` where the tools would refuse.
    """

    def __init__(self, cases: UseCases) -> None:
        if cases.ports.memory is None or cases.ports.discoveries is None:
            raise Failure(Code.NOT_FOUND, "these ports have no memory")
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

        Args:
            type: `rule`, `decision`, `pattern`, … as `context_record` names them.
            content: what was found out, in a sentence or two.
            module: the part of the project that it is about.
            id: correct the discovery of that id.
            supersedes: the discovery that this one replaces.
            path: the file that it is about; a search then says when that code has changed.
            lines: its lines, as in `"10-20"`.
            symbol: or a definition of it.

        Returns:
            `discovery` as it is kept, and whether it was `merged` with one that was there.
        """
        command = ContextRecord(type, content, module, id, supersedes, path, lines, symbol)
        return self._cases.recorder.record(command)

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
    ) -> MemoryHits:
        """What memory and the code have on a question, the best first; what has changed is indexed before.

        Args:
            query: a question or some words, 3 characters at least.
            type: only discoveries of this type.
            module: only this module.
            limit: at most so many hits, up to 20.
        """
        search = self._cases.memory.search(ContextSearch(query, type, module, limit))
        return MemoryHits(tuple(map(_flat, search.hits)), search.total, search.warnings)


def _flat(hit: Ranked) -> MemoryHit:
    """A hit without what only the index knows."""
    piece = hit.found
    if piece.corpus == CODE:
        lines, symbol = (piece.start, piece.end), piece.heading or None
        return MemoryHit(CODE, piece.text, hit.relevance, piece.key, *lines, symbol, module=piece.module)
    facts = dict(piece.entry_facts)
    module = piece.module or facts.pop("module", None)
    return MemoryHit(piece.corpus, piece.text, hit.relevance, id=piece.key, module=module, facts=facts)
