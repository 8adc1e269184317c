"""Finding anchored code in a text that has changed: where it stands exactly.

`identical` is proof: every place it names hashes to the anchor, and when it says it is complete there is no
other. Where the code was changed, `surroundings` has to guess. Lines are numbered from 0 inside this module.
Theory: fingerprints start with the line's length, so that almost no line has to be hashed; the digest is
computed only where first and last line agree, and the work spent on it is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

from attrs import frozen

from context_pack.kernel.digest import sha256_hex
from context_pack.kernel.lines import LineRange
from context_pack.packs.domain.anchors import Anchor, fingerprint
from context_pack.packs.domain.source import SourceText

MOST_PLACES = 6
NEARBY_LINES = 1_000
MOST_WORK = 32 * 1024 * 1024
LINE_WORK = 32


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
    ends_alike = alike(anchor.last)
    for start in positions(anchor.first, lines, lengths):
        if start + reach >= len(lines) or not ends_alike(lines[start + reach]):
            continue
        if work > MOST_WORK:
            return None, False
        text = "\n".join(lines[start : start + anchor.lines])
        work += len(text) + LINE_WORK * anchor.lines
        if sha256_hex(text) == anchor.digest:
            return text, True
    return None, True


def positions(print_: str, lines: list[str], lengths: list[int]) -> Iterator[int]:
    """The lines with that fingerprint, in file order."""
    length, same, at = int(print_.partition("-")[0], 16), alike(print_), -1
    while True:
        try:
            at = lengths.index(length, at + 1)
        except ValueError:
            return
        if same(lines[at]):
            yield at


def alike(print_: str) -> Callable[[str], bool]:
    """A test for lines with that fingerprint; no text is hashed twice."""
    return cache(lambda line: fingerprint(line) == print_)
