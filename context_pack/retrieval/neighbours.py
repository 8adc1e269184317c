"""Passages that follow each other share the sentences around the cut: an answer shows them once.

Of two neighbours the one further down loses what the other shows already, and its lines with it. What an
entry says several times in the same words is shown once too.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from context_pack.retrieval.model import FoundPiece


def without_repeats(found: Sequence[FoundPiece]) -> list[FoundPiece | None]:
    """The passages without what an earlier neighbour shows; None for one that has nothing new."""
    entries: dict[tuple[str, str], tuple[dict[int, FoundPiece], set[str]]] = {}
    kept: list[FoundPiece | None] = []
    for one in found:
        entry = (one.corpus, one.key)
        if entry not in entries:
            entries[entry] = ({one.index: one}, {one.text})
            kept.append(one)
            continue
        shown, said = entries[entry]
        rest = None
        if one.text not in said:
            before, after = shown.get(one.index - 1), shown.get(one.index + 1)
            rest = one if before is None else _after(before, one)
            rest = rest if rest is None or after is None else _before(rest, after)
            # Neighbours are compared with the whole passage: what it lost is shown by another one.
            shown[one.index] = one
            said.add(one.text)
        kept.append(rest)
    return kept


def _after(first: FoundPiece, second: FoundPiece) -> FoundPiece | None:
    """The second passage without the end of the first at its beginning."""
    if first.end < second.start:
        return second
    shared = _shared(first, second)
    if not shared:
        return second
    rest = second.text[shared:]
    body = rest.lstrip("\r\n")
    if not body.strip():
        return None
    start = second.start + second.text.count("\n", 0, len(second.text) - len(body))
    return evolve(second, text=body, start=start)


def _before(first: FoundPiece, second: FoundPiece) -> FoundPiece | None:
    """The first passage without the beginning of the second at its end."""
    if first.end < second.start:
        return first
    shared = _shared(first, second)
    if not shared:
        return first
    body = first.text[: len(first.text) - shared].rstrip()
    if not body:
        return None
    return evolve(first, text=body, end=first.start + body.count("\n"))


def _shared(first: FoundPiece, second: FoundPiece) -> int:
    """How many characters at the end of the first passage begin the second, on the same lines."""
    end, begin = first.text, second.text
    at = max(0, len(end) - len(begin))
    while at < len(end):
        # Text that repeats itself may fit in several places: only one of them is where the second begins.
        if begin.startswith(end[at:]) and first.end - end.count("\n", at) == second.start:
            return len(end) - at
        following = end.find(begin[:1], at + 1)
        if following < 0:
            return 0
        at = following
    return 0
