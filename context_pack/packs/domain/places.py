"""Finding anchored code in a text that has changed: where it stands exactly.

`identical` is proof: every place it names hashes to the anchor, and when it says it is complete there is no
other. Where the code was changed, `surroundings` has to guess. Lines are numbered from 0 inside this module.
Theory: fingerprints start with the line's length, so that almost no line has to be hashed; the digest is
computed only where first and last line agree, and first where the code most probably is: as far away as other
code of its file, then nearby. Where too many places agree (blank lines, braces), the rolling checksum of the
whole excerpt leaves only the right ones, at a cost that depends only on the file's size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from attrs import frozen

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.lines import LineRange
from context_pack.packs.domain.anchors import Anchor
from context_pack.packs.domain.prints import Prints, length_of
from context_pack.packs.domain.rolling import runs
from context_pack.packs.domain.source import SourceText

MOST_PLACES = 6
NEARBY_LINES = (40, 1_000)
"""How far up and down is looked before the whole file is: most edits move code by a few lines."""
MOST_SHIFTS = 4
QUICK_WORK, MOST_WORK = 2 * 1024 * 1024, 32 * 1024 * 1024
LINE_WORK, VISIT_WORK = 32, 16

Sought = tuple[str | None, bool]
"""The anchored text if it was found; and whether it stands nowhere if it was not."""


@frozen
class Places:
    """Where code stands, in file order; `complete` when there is no place besides these; and the code."""

    ranges: tuple[LineRange, ...]
    complete: bool
    excerpt: str = ""


def identical(anchor: Anchor, source: SourceText, near: int | None = None) -> Places:
    """Every place whose text hashes to the anchor, up to a few; `near` says where to look first.

    One place is found by its hashes. Then its text is known, and a plain text search finds the others.
    """
    excerpt, complete = _sought(anchor, source, near)
    if excerpt is None:
        return Places((), complete)
    places = copies(excerpt, source)
    if near is not None and len(places.ranges) == 1:
        shift = places.ranges[0].start - near
        others = [known for known in source.shifts if known != shift]
        source.shifts[:] = [shift, *others][:MOST_SHIFTS]
    return places


def copies(excerpt: str, source: SourceText) -> Places:
    """Every place that reads exactly like the excerpt, up to a few."""
    last = excerpt.count("\n")
    starts = tuple(islice(source.occurrences(excerpt), MOST_PLACES))
    ranges = tuple(LineRange(start, start + last) for start in starts)
    return Places(ranges, len(starts) < MOST_PLACES, excerpt)


def _sought(anchor: Anchor, source: SourceText, near: int | None) -> Sought:
    """The anchored text, looked for in the order of cost: nearby, by its first and last line, by checksum."""
    if near is not None:
        excerpt, complete = _nearby(anchor, source, near)
        if excerpt is not None:
            return excerpt, True
        if not complete and anchor.rolling is not None:
            return _rolled(anchor, anchor.rolling, source)
    starts = (start for start in source.like(anchor.first) if start + anchor.lines <= source.count)
    excerpt, complete = _search(anchor, source.lines, starts, source.prints)
    if not complete and anchor.rolling is not None:
        return _rolled(anchor, anchor.rolling, source)
    return excerpt, complete


def _nearby(anchor: Anchor, source: SourceText, near: int) -> Sought:
    """The same, as far away as other code has moved, or else not far from where it was, the nearest first."""
    for shift in source.shifts:
        start = near + shift
        text = source.cut(start, start + anchor.lines - 1) if start > 0 else None
        if text is not None and sha256_hex(text) == anchor.digest:
            return text, True
    for distance in NEARBY_LINES:
        low, high = max(1, near - distance), near + anchor.lines - 1 + distance
        text = source.cut(low, high)
        ends = text is None
        if text is None and (text := source.cut(low, source.count)) is None:
            return None, True
        lines = text.split("\n")
        home = near - low
        starts = sorted(_alike(anchor, list(map(len, lines))), key=lambda at: abs(at - home))
        excerpt, complete = _search(anchor, lines, starts, source.prints)
        if excerpt is not None or not complete or (ends and low == 1):
            return excerpt, complete
    return None, True


def _alike(anchor: Anchor, lengths: Sequence[int]) -> Iterator[int]:
    """Where lines begin and end that are as long as the anchored ones, in order."""
    first, last, reach = length_of(anchor.first), length_of(anchor.last), anchor.lines - 1
    at, end = -1, max(0, len(lengths) - reach)
    while True:
        try:
            at = lengths.index(first, at + 1, end)
        except ValueError:
            return
        if lengths[at + reach] == last:
            yield at


def _search(anchor: Anchor, lines: Sequence[str], starts: Iterable[int], prints: Prints) -> Sought:
    """The same at one of these places; not complete where too many of them begin and end like it."""
    reach, work = anchor.lines - 1, 0
    most = MOST_WORK if anchor.rolling is None else QUICK_WORK
    for start in starts:
        work += VISIT_WORK
        if work > most:
            return None, False
        if prints[lines[start]] == anchor.first and prints[lines[start + reach]] == anchor.last:
            text = "\n".join(lines[start : start + anchor.lines])
            if sha256_hex(text) == anchor.digest:
                return text, True
            work += len(text) + LINE_WORK * anchor.lines
    return None, True


def _rolled(anchor: Anchor, rolling: str, source: SourceText) -> Sought:
    """The same, found by its rolling checksum; only lines made to deceive could have it in many places."""
    work = 0
    for start in runs(source.sums, anchor.lines, rolling):
        text = "\n".join(source.lines[start : start + anchor.lines])
        if sha256_hex(text) == anchor.digest:
            return text, True
        work += len(text) + LINE_WORK * anchor.lines
        if work > MOST_WORK:
            return None, False
    return None, True
