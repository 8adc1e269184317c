"""Memory for library callers: record, list, forget and search, with discoveries as values."""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.memory.discovery import Discovery
from context_pack.memory.entries import CODE
from context_pack.memory.record import ContextRecord
from context_pack.memory.search import ContextSearch
from context_pack.memory.stores import Recorded
from context_pack.results import MemoryHit, MemoryHits
from context_pack.retrieval.searching import Ranked
from context_pack_adapters.library.calls import asked


class Memory:
    """What was found out about the project, and one search over all of it and the code.

    Every method raises `Failure` where the tools would refuse.
    """

    def __init__(self, cases: UseCases) -> None:
        if cases.ports.memory is None or cases.ports.discoveries is None:
            raise Failure(Code.NOT_FOUND, "these ports have no memory")
        self._cases, self._store = cases, cases.ports.discoveries

    def _record(self, command: ContextRecord) -> Recorded:
        return self._cases.recorder.record(command)

    record = asked(
        ContextRecord,
        _record,
        "Keep a discovery: `discovery` as it is kept, and whether it was `merged` with one that was there.",
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

    def _search(self, command: ContextSearch) -> MemoryHits:
        search = self._cases.memory.search(command)
        return MemoryHits(tuple(map(_flat, search.hits)), search.total, search.warnings)

    search = asked(
        ContextSearch,
        _search,
        "What memory and the code have on a question, the best first; what has changed is indexed before.",
    )


def _flat(hit: Ranked) -> MemoryHit:
    """A hit without what only the index knows."""
    piece = hit.found
    if piece.corpus == CODE:
        lines, symbol = (piece.start, piece.end), piece.heading or None
        return MemoryHit(CODE, piece.text, hit.relevance, piece.key, *lines, symbol, module=piece.module)
    facts = dict(piece.entry_facts)
    module = piece.module or facts.pop("module", None)
    return MemoryHit(piece.corpus, piece.text, hit.relevance, id=piece.key, module=module, facts=facts)
