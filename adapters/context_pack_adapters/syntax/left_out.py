"""Code that is never compiled: what `#if 0` leaves out is no definition and no import."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from context_pack_adapters.syntax.import_captures import Match


def without_dead_code(matches: Sequence[Match]) -> Sequence[Match]:
    """The matches outside of each `@dead` node; the `@live` node in one is no part of it."""
    dead = sorted(_dead(matches))
    if not dead:
        return matches
    starts: list[int] = []
    ends: list[int] = []
    for start, end in dead:
        starts.append(start)
        ends.append(max(end, ends[-1] if ends else 0))
    return [match for match in matches if not _is_inside(_place(match), starts, ends)]


def _dead(matches: Sequence[Match]) -> Iterator[tuple[int, int]]:
    for _, captures in matches:
        for node in captures.get("dead", ()):
            end: int = node.end_byte
            for live in captures.get("live", ()):
                yield live.end_byte, end
                end = live.start_byte
            yield node.start_byte, end


def _place(match: Match) -> int:
    """Where a definition or import stands; -1 for other matches, which count everywhere."""
    nodes = match[1].get("name") or match[1].get("specifier")
    return nodes[0].start_byte if nodes else -1


def _is_inside(place: int, starts: Sequence[int], ends: Sequence[int]) -> bool:
    before = bisect_right(starts, place)
    return before > 0 and place < ends[before - 1]
