"""Finds anchored code in a text by hash: every place returned has the text of the anchor.

One place is found by its hashes: the nearest lines that begin and end like the code first, and where too many
do (blank lines, braces), the runs that have the checksum of the whole. Then its text is known, and a plain
search finds the others. Where the code itself was changed, `surroundings` has to guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from attrs import frozen

from context_pack.kernel.lines import LineRange
from context_pack.kernel.text import sha256_hex
from context_pack.packs.domain.anchors import Anchor
from context_pack.packs.domain.source import SourceText, length_of, runs

MOST_PLACES = 6
NEAR_LINES = 50
"""Most edits move code by a few lines: these are looked at before the whole file is."""
QUICK_WORK, MOST_WORK = 2 * 1024 * 1024, 32 * 1024 * 1024
"""About how many bytes are hashed before the checksum is asked, and before the search is given up."""
LINE_WORK, VISIT_WORK = 32, 16

Sought = tuple[str | None, bool]
"""The anchored text if it was found; and whether it stands nowhere if it was not."""


@frozen
class Places:
    """Where code stands, in file order; `complete` when there is no place besides these; and the code."""

    ranges: tuple[LineRange, ...]
    complete: bool
    excerpt: str = ""


def identical(anchor: Anchor, source: SourceText, near: int = 1) -> Places:
    """Every place whose text hashes to the anchor, up to a few; `near` is the line to look at first."""
    excerpt, complete = _by_ends(anchor, source, near - 1)
    if not complete and anchor.rolling is not None:
        excerpt, complete = _by_checksum(anchor, anchor.rolling, source)
    return Places((), complete) if excerpt is None else copies(excerpt, source)


def copies(excerpt: str, source: SourceText) -> Places:
    """Every place that reads exactly like the excerpt, up to a few."""
    last = excerpt.count("\n")
    starts = tuple(islice(source.occurrences(excerpt), MOST_PLACES))
    ranges = tuple(LineRange(start, start + last) for start in starts)
    return Places(ranges, len(starts) < MOST_PLACES, excerpt)


def _by_ends(anchor: Anchor, source: SourceText, home: int) -> Sought:
    """The anchored text by its first and last line, the nearest to `home` first; not complete if too many."""
    lines, prints, reach, work = source.lines, source.fingerprints, anchor.lines - 1, 0
    most = MOST_WORK if anchor.rolling is None else QUICK_WORK
    for start in _starts(source, length_of(anchor.first), home):
        work += VISIT_WORK
        if work > most:
            return None, False
        end = start + reach
        if end < len(lines) and prints[lines[end]] == anchor.last and prints[lines[start]] == anchor.first:
            text = "\n".join(lines[start : end + 1])
            if sha256_hex(text) == anchor.digest:
                return text, True
            work += len(text) + LINE_WORK * anchor.lines
    return None, True


def _starts(source: SourceText, length: int, home: int) -> Iterator[int]:
    """The lines of that length: those around `home`, the nearest first, then the others."""
    near = range(max(0, home - NEAR_LINES), min(source.count, home + NEAR_LINES))
    around = [at for at in near if len(source.lines[at]) == length]
    yield from sorted(around, key=lambda at: abs(at - home))
    yield from (at for at in source.by_length.get(length, ()) if at not in near)


def _by_checksum(anchor: Anchor, rolling: str, source: SourceText) -> Sought:
    """Every place with the checksum of the anchor; only lines made to deceive have it in many places."""
    work = 0
    for start in runs(source.sums, anchor.lines, rolling):
        text = "\n".join(source.lines[start : start + anchor.lines])
        if sha256_hex(text) == anchor.digest:
            return text, True
        work += len(text) + LINE_WORK * anchor.lines
        if work > MOST_WORK:
            return None, False
    return None, True
