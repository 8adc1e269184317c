"""The order of discoveries that supersede each other: what no longer holds comes after what replaced it."""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.memory.domain.entries import DISCOVERY
from context_pack.retrieval.searching import Ranked

SUPERSEDED_BY = "supersededBy"


def after_successors(hits: Sequence[tuple[float, Ranked]]) -> list[tuple[float, Ranked]]:
    """The hits in their order, but for superseded discoveries: they follow their successors."""
    found = {hit.found.key: number for number, (_, hit) in enumerate(hits) if hit.found.corpus == DISCOVERY}
    if not found:
        return list(hits)

    def order(number: int) -> tuple[int, int]:
        """Where a hit goes: behind the last of its successors, the nearest one first."""
        place, steps, seen = number, 0, {number}
        while True:
            successor = hits[number][1].found.entry_facts.get(SUPERSEDED_BY)
            after = found.get(str(successor)) if successor is not None else None
            if after is None or after in seen:
                return place, steps
            number = after
            seen.add(number)
            place, steps = max(place, number), steps + 1

    return [hits[number] for number in sorted(range(len(hits)), key=order)]
