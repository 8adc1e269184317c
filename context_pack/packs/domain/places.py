"""Finding anchored code in a text that has changed: where it stands exactly, and where it probably stood.

`identical` is proof: every place it names hashes to the anchor, and when it says it is complete there is no
other. `by_context` is evidence: the lines around the code, and its first and last line, vote for where it
begins and ends; what it finds is shown only as changed. Lines are numbered from 0 inside this module.
Theory: fingerprints start with the line's length, so that almost no line has to be hashed; the digest is
computed only where first and last line agree, and the work spent on it is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, product

from attrs import frozen

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.lines import MAX_LINES, LineRange
from context_pack.packs.domain.anchors import CONTEXT_LINES, Anchor, fingerprint
from context_pack.packs.domain.source import SourceText

MOST_PLACES = 6
NEARBY_LINES = 1_000
MOST_WORK = 32 * 1024 * 1024
LINE_WORK = 32
COMMON_AFTER = 64
MOST_CANDIDATES = 32
WORTH_LINE, WORTH_EDGE, WORTH_TRIVIAL = 1.0, 1.0, 0.25
ENOUGH = 1.0


@frozen
class Places:
    """Where code stands, in file order; `complete` when there is no place besides these."""

    ranges: tuple[LineRange, ...]
    complete: bool


def identical(anchor: Anchor, source: SourceText, near: int | None = None) -> Places:
    """Every place whose text hashes to the anchor, up to a few; `near` says where to look first.

    One place is found by its hashes. Then its text is known, and a plain text search finds the others.
    """
    excerpt = _nearby(anchor, source, near) if near is not None else None
    if excerpt is None:
        excerpt, complete = _search(anchor, source.lines, source.lengths)
        if excerpt is None:
            return Places((), complete)
    starts = tuple(islice(source.occurrences(excerpt), MOST_PLACES))
    ranges = tuple(LineRange(start, start + anchor.lines - 1) for start in starts)
    return Places(ranges, len(ranges) < MOST_PLACES)


def _nearby(anchor: Anchor, source: SourceText, near: int) -> str | None:
    """The anchored text, if it stands not far from where it was: most edits move code by a few lines."""
    low, high = max(1, near - NEARBY_LINES), near + anchor.lines - 1 + NEARBY_LINES
    if not source.has(high):
        high = source.count
    if high - low + 1 < anchor.lines:
        return None
    lines = source.excerpt(low, high).split("\n")
    return _search(anchor, lines, list(map(len, lines)))[0]


def _search(anchor: Anchor, lines: list[str], lengths: list[int]) -> tuple[str | None, bool]:
    """The anchored text, found by its first and last line; and whether every candidate was looked at."""
    reach, work = anchor.lines - 1, 0
    ends_alike = _same(anchor.last)
    for start in _positions(anchor.first, lines, lengths):
        if start + reach >= len(lines) or not ends_alike(lines[start + reach]):
            continue
        if work > MOST_WORK:
            return None, False
        text = "\n".join(lines[start : start + anchor.lines])
        work += len(text) + LINE_WORK * anchor.lines
        if sha256_hex(text) == anchor.digest:
            return text, True
    return None, True


def _positions(print_: str, lines: list[str], lengths: list[int]) -> Iterator[int]:
    """The lines with that fingerprint, in file order."""
    length, alike, at = int(print_.partition("-")[0], 16), _same(print_), -1
    while True:
        try:
            at = lengths.index(length, at + 1)
        except ValueError:
            return
        if alike(lines[at]):
            yield at


def _same(print_: str) -> Callable[[str], bool]:
    """A test for lines with that fingerprint; no text is hashed twice."""
    return cache(lambda line: fingerprint(line) == print_)


def by_context(anchor: Anchor, source: SourceText, stored: LineRange) -> LineRange | None:
    """Where the changed code stands, judged by its surroundings; None when they do not say.

    The best beginning and the best end are taken together; where only one side is known, the code keeps its
    number of lines. Two equally good answers are no answer.
    """
    starts = _tally(_start_votes(anchor), source, stored.start - 1)
    ends = _tally(_end_votes(anchor), source, stored.end - 1)
    choices = [
        (start_worth + end_worth, -abs(end - start + 1 - anchor.lines), start, end)
        for (start, start_worth), (end, end_worth) in product(starts.items(), ends.items())
        if 1 <= end - start + 1 <= _longest(anchor)
    ]
    if not choices and _removed(starts, ends):
        return None
    last = source.count - 1
    choices += [(worth, 0, start, min(start + anchor.lines - 1, last)) for start, worth in starts.items()]
    choices += [(worth, 0, max(0, end - anchor.lines + 1), end) for end, worth in ends.items()]
    if not choices:
        return None
    best = max(choice[:2] for choice in choices)
    answers = {choice[2:] for choice in choices if choice[:2] == best}
    if len(answers) > 1:
        return None
    start, end = answers.pop()
    return LineRange(start + 1, end + 1)


def _longest(anchor: Anchor) -> int:
    """How long changed code may have become and still be believed."""
    return min(MAX_LINES, max(2 * anchor.lines, anchor.lines + 40))


def _removed(starts: Mapping[int, float], ends: Mapping[int, float]) -> bool:
    """Whether what stood before the code and what stood after it now touch."""
    return any(start - 1 in ends for start in starts)


Votes = Sequence[tuple[int, str | None]]
"""(offset from the line sought, fingerprint of the line there; None for an end of the file)."""


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


def _tally(votes: Votes, source: SourceText, stored: int) -> dict[int, float]:
    """The lines that the votes point at, with what the votes for each are worth; only the best of them.

    Lines that stand all over the file are heard about candidates but propose none.
    """
    proposed = {stored}
    for offset, print_ in votes:
        found = _edge(offset, source)
        if print_ is not None:
            found = list(islice(_positions(print_, source.lines, source.lengths), COMMON_AFTER))
        if len(found) < COMMON_AFTER:
            proposed.update(place - offset for place in found)
    tests = [(offset, None if print_ is None else _same(print_)) for offset, print_ in votes]
    worths: dict[int, float] = {}
    for candidate in proposed:
        if 0 <= candidate < source.count:
            worth = sum(_worth(candidate + offset, alike, offset, source) for offset, alike in tests)
            if worth >= ENOUGH:
                worths[candidate] = worth
    best = sorted(worths, key=lambda line: (-worths[line], line))[:MOST_CANDIDATES]
    return {line: worths[line] for line in best}


def _edge(offset: int, source: SourceText) -> list[int]:
    """The line that is not there: before the first, or after the last."""
    return [-1 if offset < 0 else source.count]


def _worth(line: int, alike: Callable[[str], bool] | None, offset: int, source: SourceText) -> float:
    """What this line's vote is worth: braces and blank lines say little."""
    if alike is None:
        return WORTH_EDGE if [line] == _edge(offset, source) else 0.0
    if not 0 <= line < source.count or not alike(source.lines[line]):
        return 0.0
    return WORTH_LINE if sum(map(str.isalnum, source.lines[line])) >= 3 else WORTH_TRIVIAL
