"""Joins the indexed parts of a long definition, so that a hit shows it whole.

Each part says in its facts which one it is and of how many; parts of one definition follow one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from attrs import evolve

from context_pack.memory.domain.entries import CODE
from context_pack.retrieval.model import FoundPiece, Ranked

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
