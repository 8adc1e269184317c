"""How alike two texts are, and the lines of a file that a kept text has become.

Texts are compared by their pairs of neighbouring words: what is renamed or reformatted keeps most of them,
and counting them takes linear time. `similar_block` finds the run of lines that holds most of a kept text,
rare pairs counting more, then lets `difflib` say where its first and its last line went. Nothing here proves
anything: it is used for code that is shown as changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from attrs import frozen

from context_pack.kernel.text import MAX_LINES, LineRange

TELLING_CHARS = 3
"""Letters and digits from which on a line says where it is: braces and blank lines do not."""
GAP_COST = 0.25
"""What a line without any pair of the text costs a block, in average lines of the text."""
EXACT_COMPARISON = 300
"""Lines up to which `difflib` takes every line into account; above, it passes over very common ones."""
SAME_LINE = 0.5
"""From here on, a line may be what became of another."""
_WORD = re.compile(r"\w+|[^\w\s]")

Words = Counter[tuple[str, str]]


def words_of(lines: Iterable[str]) -> Words:
    """How often each word or sign follows each other one, line by line."""
    pairs: Words = Counter()
    for line in lines:
        found = _WORD.findall(line)
        pairs.update(zip(["", *found], found, strict=False))
    return pairs


def alike(some: Words, others: Words) -> float:
    """The share of two texts that they have in common, from 0 to 1."""
    total = some.total() + others.total()
    return 2 * (some & others).total() / total if total else 1.0


def longest(count: int) -> int:
    """How many lines so many may have become and still be believed to be the same code."""
    return min(MAX_LINES, max(2 * count, count + 40))


@frozen
class SimilarLines:
    """Lines of a file, and the share of a kept text in them; what is common in the file counts less.

    It is `ended` if it is known what became of the last line of the text.
    """

    lines: LineRange
    share: float
    ended: bool


def similar_block(
    kept: Sequence[str], lines: Sequence[str], within: LineRange | None = None
) -> SimilarLines | None:
    """The lines of a file, or within some of it, that a kept text has most likely become."""
    filled = [at for at, line in enumerate(kept) if line.strip()]
    if not filled:
        return None
    kept = kept[filled[0] : filled[-1] + 1]
    low, high = (0, len(lines)) if within is None else (within.start - 1, within.end)
    pairs = words_of(kept).keys()
    hits = [pairs & words_of([line]).keys() for line in lines[low:high]]
    seen = Counter(pair for found in hits for pair in found)
    worth = [sum(1 / seen[pair] for pair in found) for found in hits]
    run = _heaviest(worth, GAP_COST * len(pairs) / len(kept), longest(len(kept)))
    if run is None:
        return None
    start, end, ended = _ends(kept, lines, low + run[0], low + run[1], low, high)
    held = set[tuple[str, str]]().union(*hits[start - low : end + 1 - low])
    total = sum(1 / max(1, seen[pair]) for pair in pairs)
    share = sum(1 / seen[pair] for pair in held) / total
    return SimilarLines(LineRange(start + 1, min(end, start + MAX_LINES - 1) + 1), share, ended)


def _heaviest(worth: Sequence[float], cost: float, most: int) -> tuple[int, int] | None:
    """The first and last index of the run of at most so many lines that is worth most."""
    best, run = 0.0, None
    total, start = 0.0, 0
    for at, value in enumerate(worth):
        if total <= 0 or at - start >= most:
            total, start = 0.0, at
        total += value - cost
        if value and total > best:
            best, run = total, (start, at)
    return run


def _ends(
    kept: Sequence[str], lines: Sequence[str], first: int, last: int, low: int, high: int
) -> tuple[int, int, bool]:
    """Where the first and the last line of a kept text went, near a run of lines that holds most of it.

    And whether that is known of the last one.
    """
    most = longest(len(kept))
    low, high = max(low, last + 1 - most), min(high, first + most)
    there = [line.strip() for line in lines[low:high]]
    matcher = SequenceMatcher(
        None, [line.strip() for line in kept], there, autojunk=max(len(kept), len(there)) > EXACT_COMPARISON
    )
    pairs = [
        (block.a + at, low + block.b + at)
        for block in matcher.get_matching_blocks()
        for at in range(block.size)
        if _telling(kept[block.a + at])
    ]
    # A common line that stands far outside the run is another one that reads the same.
    common = {line for line, count in Counter(there).items() if count > 1}
    near = [
        (old, new)
        for old, new in pairs
        if first - old - 3 <= new <= last + len(kept) - old + 3 or lines[new].strip() not in common
    ]
    if not near:
        return first, last, False
    (old, start), (old_end, end) = near[0], near[-1]
    if old > 0:
        edge = _Edge(kept[0], _indent(lines[start]) - _indent(kept[old]), old)
        place = edge.found(lines, range(start - 1, low - 1, -1))
        start = min(start, first if place is None else place)
    if old_end == len(kept) - 1:
        return start, end, True
    edge = _Edge(kept[-1], _indent(lines[end]) - _indent(kept[old_end]), len(kept) - 1 - old_end)
    place = edge.found(lines, range(end + 1, high))
    return start, max(end, last if place is None else place), place is not None


@frozen
class _Edge:
    """The first or last line of a kept text, and what is known of where it went.

    `shift` is by how much the code was indented since, `missing` how many lines it stood from one that was
    found again.
    """

    line: str
    shift: int
    missing: int

    def found(self, lines: Sequence[str], places: Iterable[int]) -> int | None:
        """Its place, going outwards from the line that was found: it reads the same, or is most alike."""
        indent, words = _indent(self.line) + self.shift, words_of([self.line])
        best, place = 0.0, None
        for distance, at in enumerate(places, 1):
            line = lines[at]
            if line.strip() == self.line.strip() and _indent(line) == indent:
                return at
            if line.strip() and _indent(line) < indent:
                break  # the code around it begins
            if distance <= self.missing + 3 and _telling(self.line):
                likeness = alike(words, words_of([line]))
                if likeness >= SAME_LINE and likeness > best:
                    best, place = likeness, at
        return place


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _telling(line: str) -> bool:
    return sum(map(str.isalnum, line)) >= TELLING_CHARS
