"""Similarity of texts: a stored sketch of one, and the block of a file that fits it best.

A sketch is a sample of the pairs of neighbouring words in a text, as short hashes: always the pairs with the
smallest hashes, so that equal texts have equal sketches. It is stored in anchors and so must not depend on
the process. What share of the sketch a block holds says how alike they are; it proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from context_pack.kernel.lines import MAX_LINES, LineRange
from context_pack.packs.domain.source import SourceText, word_pairs

MOST_PAIRS, PAIR_DIGITS = 64, 4
LEAST_PAIRS = 8
"""A smaller sketch says how alike a known place is, and is too little to find one by."""
GAP_COST = 0.25
"""What a line without any pair of the sketch costs a block, in average lines of the sketched text."""


def sketch_of(lines: Iterable[str]) -> str:
    """The sketch of these lines, in hexadecimal."""
    smallest = sorted({pair for line in lines for pair in word_pairs(line)})[:MOST_PAIRS]
    return "".join(f"{pair:0{PAIR_DIGITS}x}" for pair in smallest)


def longest(count: int) -> int:
    """How many lines so many may have become and still be believed to be the same code."""
    return min(MAX_LINES, max(2 * count, count + 40))


def alike(sketch: str, source: SourceText, lines: LineRange, *, among_all: bool = False) -> float:
    """The share of the sketch that these lines of a file hold, from 0 to 1.

    Among all, a pair that stands in several lines of the file counts as much less: what many blocks of it
    have in common does not tell one of them from the others.
    """
    wanted = _read(sketch)
    held = set[int]().union(*_hits(wanted, source, lines.start, lines.end))
    every = _hits(wanted, source, 1, source.count) if among_all else ()
    seen = Counter(pair for pairs in every for pair in pairs)
    worth = {pair: 1 / max(1, seen[pair]) for pair in wanted}
    return sum(worth[pair] for pair in held) / sum(worth.values()) if wanted else 0.0


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
    found_in = enumerate(_hits(wanted, source, first, last), first)
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


def _hits(wanted: set[int], source: SourceText, first: int, last: int) -> list[set[int]]:
    """The wanted pairs in each of these lines."""
    pairs = source.pairs
    return [wanted & pairs[line] for line in source.lines[first - 1 : last]]


def _read(sketch: str) -> set[int]:
    return {int(sketch[at : at + PAIR_DIGITS], 16) for at in range(0, len(sketch), PAIR_DIGITS)}
