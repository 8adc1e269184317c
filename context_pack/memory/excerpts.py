"""What is shown of hits: long definitions whole, code by the lines that match, what no longer holds last.

The indexed parts of a long definition say in their facts which one they are and of how many; parts of one
definition follow one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from attrs import evolve

from context_pack.memory.entries import CODE, DISCOVERY
from context_pack.retrieval.model import FoundPiece, Ranked
from context_pack.retrieval.words import tokens

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"


def excerpt(text: str, words: Iterable[str]) -> str:
    """The head of a definition and the lines that hold most of the words, gaps marked; a short text whole."""
    lines = text.split("\n")
    if len(lines) <= SHORT_LINES:
        return text
    head, asked = _head(lines), frozenset(words)
    counts = {index: len(asked.intersection(tokens(lines[index]))) for index in range(head, len(lines))}
    best = sorted(filter(counts.get, counts), key=counts.__getitem__, reverse=True)[:TELLING_LINES]
    shown: list[str] = []
    for index, following in pairwise([*range(head), *sorted(best), len(lines)]):
        shown.append(lines[index])
        if following > index + 1:
            shown.append(GAP)
    return "\n".join(shown)


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return HEAD_LINES


MOST_LINES = 150
"""A longer definition is shown in the part that was found."""
PART, OF, WITHIN = "part", "of", "within"


def parts_of(found: FoundPiece) -> tuple[int, ...]:
    """The pieces of the definition that a hit is a part of; nothing for a hit that is whole."""
    if found.corpus != CODE or OF not in found.facts:
        return ()
    first = found.piece - int(found.facts[PART])
    return tuple(range(first, first + int(found.facts[OF])))


def whole(
    hits: Iterable[tuple[float, Ranked]], limit: int, pieces: Mapping[int, FoundPiece]
) -> list[tuple[float, Ranked]]:
    """The first so many hits, parts of a definition as all of it, and once, where that is short enough.

    Other parts have the lines of the whole in their facts.
    """
    shown: list[tuple[float, Ranked]] = []
    seen: set[tuple[int, ...]] = set()
    for relevance, hit in hits:
        if len(shown) == limit:
            break
        numbers = parts_of(hit.found)
        if numbers and numbers in seen:
            continue
        parts = [pieces[number] for number in numbers if number in pieces]
        if _is_one(hit.found, parts):
            first, last = parts[0].start, parts[-1].end
            if last - first < MOST_LINES:
                seen.add(numbers)
                hit = hit._replace(found=_joined(hit.found, parts))
            else:
                facts = {**hit.found.facts, WITHIN: (first, last)}
                hit = hit._replace(found=evolve(hit.found, facts=facts))
        shown.append((relevance, hit))
    return shown


def _is_one(found: FoundPiece, parts: Sequence[FoundPiece]) -> bool:
    """Whether these are the parts that a hit belongs to, all of them."""
    return (
        len(parts) > 1
        and len(parts) == found.facts[OF]
        and all((part.key, part.heading) == (found.key, found.heading) for part in parts)
    )


def _joined(found: FoundPiece, parts: Sequence[FoundPiece]) -> FoundPiece:
    """All parts as one, with the blank lines between them."""
    text = parts[0].text
    for before, part in pairwise(parts):
        text += "\n" * (part.start - before.end) + part.text
    return evolve(found, text=text, start=parts[0].start, end=parts[-1].end)


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
