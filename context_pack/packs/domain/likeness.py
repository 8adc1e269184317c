"""Similarity of texts: a stored sketch of one, and the block of a file that fits it best.

A sketch is a sample of the pairs of neighbouring words in a text, as short hashes: always the pairs with the
smallest hashes, so that equal texts have equal sketches. It is stored in anchors and so must not depend on
the process. What share of the sketch a block holds says how alike they are; it proves nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from zlib import crc32

from context_pack.kernel.lines import MAX_LINES, LineRange
from context_pack.packs.domain.source import SourceText

MOST_PAIRS, PAIR_DIGITS = 64, 4
LEAST_PAIRS = 8
"""A smaller sketch says how alike a known place is, and is too little to find one by."""
GAP_COST = 0.25
"""What a line without any pair of the sketch costs a block, in average lines of the sketched text."""
_WORD = re.compile(r"\w+|[^\w\s]")


def sketch_of(lines: Iterable[str]) -> str:
    """The sketch of these lines, in hexadecimal."""
    smallest = sorted({pair for line in lines for pair in _pairs(line)})[:MOST_PAIRS]
    return "".join(f"{pair:0{PAIR_DIGITS}x}" for pair in smallest)


def longest(count: int) -> int:
    """How many lines so many may have become and still be believed to be the same code."""
    return min(MAX_LINES, max(2 * count, count + 40))


def alike(sketch: str, lines: Sequence[str], among: Sequence[str] = ()) -> float:
    """The share of the sketch that these lines hold, from 0 to 1.

    A pair that stands in several of the lines `among` which they are counts as much less: what many blocks of
    a file have in common does not tell one of them from the others.
    """
    wanted = _read(sketch)
    held = {pair for line in lines for pair in _pairs(line)}
    seen = Counter(pair for pairs in _hits(wanted, among) for pair in pairs)
    worth = {pair: 1 / max(1, seen[pair]) for pair in wanted}
    return sum(worth[pair] for pair in wanted & held) / sum(worth.values()) if wanted else 0.0


def best_block(
    sketch: str,
    count: int,
    source: SourceText,
    within: LineRange | None = None,
    without: Collection[int] = frozenset(),
) -> LineRange | None:
    """The lines that fit the sketch of `count` lines best, as few as hold what they hold; None if none do.

    Each line is worth the pairs it holds, the rarer in the file the more, less the cost of a line. The lines
    `without` which it must do are in no answer.
    """
    wanted = _read(sketch)
    if len(wanted) < LEAST_PAIRS:
        return None
    first, last = (1, source.count) if within is None else (within.start, within.end)
    found_in = enumerate(_hits(wanted, source.lines[first - 1 : last]), first)
    hits = [None if line in without else pairs for line, pairs in found_in]
    seen = Counter(pair for pairs in hits if pairs for pair in pairs)
    found = _heaviest(hits, seen, GAP_COST * len(wanted) / count, longest(count))
    return None if found is None else LineRange(first + found[0], first + found[1])


def _heaviest(
    hits: Sequence[set[int] | None], seen: Mapping[int, int], cost: float, most: int
) -> tuple[int, int] | None:
    """The first and last index of the run of at most so many lines that is worth most; None is in no run."""
    best, found = 0.0, None
    worth, start = 0.0, 0
    for at, pairs in enumerate(hits):
        if pairs is None:
            worth = 0.0
            continue
        if worth <= 0 or at - start >= most:
            worth, start = 0.0, at
        worth += sum(1 / seen[pair] for pair in pairs) - cost
        if pairs and worth > best:
            best, found = worth, (start, at)
    return found


def _hits(wanted: set[int], lines: Iterable[str]) -> Iterator[set[int]]:
    known: dict[str, set[int]] = {}
    for line in lines:
        if line not in known:
            known[line] = wanted.intersection(_pairs(line))
        yield known[line]


def _pairs(line: str) -> Iterator[int]:
    before = ""
    for word in _WORD.findall(line):
        yield crc32(f"{before} {word}".encode("utf-8", "surrogatepass")) & 0xFFFF
        before = word


def _read(sketch: str) -> set[int]:
    return {int(sketch[at : at + PAIR_DIGITS], 16) for at in range(0, len(sketch), PAIR_DIGITS)}
