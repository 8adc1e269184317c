"""Finds changed code by votes of its neighbour lines and of its first and last line.

This is evidence, never proof: what it finds is shown only as changed, so it would rather find nothing than
show other code. A place needs a telling line on its side: an end of the file, a brace or a blank line may
support a place and never makes one. And the lines that stood around the code are not the code: a range that
would show one of them is no answer. Lines are numbered from 0 inside this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice, product

from context_pack.kernel.lines import LineRange
from context_pack.packs.domain.anchors import CONTEXT_LINES, Anchor
from context_pack.packs.domain.likeness import longest
from context_pack.packs.domain.source import SourceText

COMMON_AFTER = 64
MOST_CANDIDATES = 32
WORTH_LINE, WORTH_EDGE, WORTH_TRIVIAL = 1.0, 0.75, 0.25
TELLING_CHARS = 3

Votes = Sequence[tuple[int, str | None]]
"""(offset from the line sought, fingerprint of the line there; None for an end of the file)."""
Rare = Mapping[str, list[int]]
"""Where the lines with each fingerprint stand; nowhere for those that stand all over the file."""
Choice = tuple[float, int, int, int]
"""What a range is worth, how far its length is from the anchored one (negative), its start and its end."""


def by_context(anchor: Anchor, source: SourceText, stored: LineRange) -> LineRange | None:
    """Where the changed code stands, judged by its surroundings; None when they do not say.

    The best beginning and the best end are taken together; where only one side is known, the code keeps its
    number of lines. Two equally good answers are no answer.
    """
    prints = {anchor.first, anchor.last, *anchor.before, *anchor.after}
    rare = {print_: _rare(print_, source) for print_ in prints}
    starts = _tally(_start_votes(anchor), rare, source, stored.start - 1)
    ends = _tally(_end_votes(anchor), rare, source, stored.end - 1)
    around = list(_around(anchor, rare, source))
    ranked = sorted(_choices(anchor, source.count, starts, ends), reverse=True)
    for _, equals in groupby(ranked, key=lambda choice: choice[:2]):
        answers = {choice[2:] for choice in equals if not _shows_surroundings(*choice[2:], around)}
        if len(answers) == 1:
            start, end = answers.pop()
            return LineRange(start + 1, end + 1)
        if answers:
            return None
    return None


def stands_beside(anchor: Anchor, source: SourceText, lines: LineRange) -> bool:
    """Whether a telling line that stood beside the anchored code stands there beside these lines."""
    sides = (
        *(
            (lines.start - 1 - len(anchor.before) + index, print_)
            for index, print_ in enumerate(anchor.before)
        ),
        *((lines.end + index, print_) for index, print_ in enumerate(anchor.after)),
    )
    return any(_worth(line, print_, 0, source) == WORTH_LINE for line, print_ in sides)


def _choices(
    anchor: Anchor, count: int, starts: Mapping[int, float], ends: Mapping[int, float]
) -> list[Choice]:
    """Every range that the candidates allow."""
    found = [
        (start_worth + end_worth, -abs(end - start + 1 - anchor.lines), start, end)
        for (start, start_worth), (end, end_worth) in product(starts.items(), ends.items())
        if 1 <= end - start + 1 <= longest(anchor.lines)
    ]
    if not found and any(start - 1 in ends for start in starts):
        return []  # what stood before the code and what stood after it now touch: it was removed
    found += [(worth, 0, start, min(start + anchor.lines, count) - 1) for start, worth in starts.items()]
    found += [(worth, 0, max(0, end - anchor.lines + 1), end) for end, worth in ends.items()]
    return found


def _start_votes(anchor: Anchor) -> Votes:
    size = len(anchor.before)
    votes: list[tuple[int, str | None]] = [(0, anchor.first)]
    votes += [(index - size, print_) for index, print_ in enumerate(anchor.before)]
    return [*votes, (-size - 1, None)] if size < CONTEXT_LINES else votes


def _end_votes(anchor: Anchor) -> Votes:
    size = len(anchor.after)
    votes: list[tuple[int, str | None]] = [(0, anchor.last)]
    votes += [(index + 1, print_) for index, print_ in enumerate(anchor.after)]
    return [*votes, (size + 1, None)] if size < CONTEXT_LINES else votes


def _around(anchor: Anchor, rare: Rare, source: SourceText) -> Iterator[tuple[int, list[int]]]:
    """The telling lines that stood around the code: how far from its edge, and where they stand now."""
    for offset, print_ in (*_start_votes(anchor), *_end_votes(anchor)):
        if offset and print_ is not None and print_ not in (anchor.first, anchor.last):
            places = rare[print_]
            if places and _telling(source.lines[places[0]]):
                yield offset, places


def _shows_surroundings(start: int, end: int, around: Sequence[tuple[int, list[int]]]) -> bool:
    """Whether the range holds a line that belongs beside the code, and does not stand beside the range."""
    return any(
        (start if offset < 0 else end) + offset not in places
        and any(start <= place <= end for place in places)
        for offset, places in around
    )


def _rare(print_: str, source: SourceText) -> list[int]:
    found = list(islice(source.like(print_), COMMON_AFTER))
    return found if len(found) < COMMON_AFTER else []


def _tally(votes: Votes, rare: Rare, source: SourceText, stored: int) -> dict[int, float]:
    """The lines that the votes point at, with what the votes for each are worth; only the best of them.

    Lines that stand all over the file are heard about candidates but propose none.
    """
    proposed = {stored}
    for offset, print_ in votes:
        if print_ is not None:
            proposed.update(place - offset for place in rare[print_])
    worths: dict[int, float] = {}
    for candidate in proposed:
        if 0 <= candidate < source.count:
            heard = [_worth(candidate + offset, print_, offset, source) for offset, print_ in votes]
            if WORTH_LINE in heard:
                worths[candidate] = sum(heard)
    best = sorted(worths, key=lambda line: (-worths[line], line))[:MOST_CANDIDATES]
    return {line: worths[line] for line in best}


def _worth(line: int, print_: str | None, offset: int, source: SourceText) -> float:
    """The weight of this line's vote: none if it is not there, little if it is trivial."""
    if print_ is None:
        return WORTH_EDGE if line == (-1 if offset < 0 else source.count) else 0.0
    if not 0 <= line < source.count or source.fingerprints[source.lines[line]] != print_:
        return 0.0
    return WORTH_LINE if _telling(source.lines[line]) else WORTH_TRIVIAL


def _telling(line: str) -> bool:
    """Whether a line says where it is: braces and blank lines do not."""
    return sum(map(str.isalnum, line)) >= TELLING_CHARS
