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

    It is `ended` if the last line of the text is there.
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
    start, end, ended = _ends(kept, lines[low:high], *run)
    held = set[tuple[str, str]]().union(*hits[start : end + 1])
    share = sum(1 / seen[pair] for pair in held) / sum(1 / max(1, seen[pair]) for pair in pairs)
    return SimilarLines(LineRange(low + start + 1, low + min(end, start + MAX_LINES - 1) + 1), share, ended)


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


def _ends(kept: Sequence[str], lines: Sequence[str], first: int, last: int) -> tuple[int, int, bool]:
    """Where a kept text begins and ends near a run of lines that holds most of it, and if its end is sure."""
    low, high = max(0, first - len(kept)), min(len(lines), last + len(kept) + 1)
    old, new = ([line.strip() for line in some] for some in (kept, lines[low:high]))
    matcher = SequenceMatcher(None, old, new, autojunk=max(len(old), len(new)) > EXACT_COMPARISON)
    places = {
        block.a + at: low + block.b + at
        for block in matcher.get_matching_blocks()
        for at in range(block.size)
        if sum(map(str.isalnum, old[block.a + at])) >= TELLING_CHARS
    }
    if not places:
        return first, last, False
    (top, start), (bottom, end) = min(places.items()), max(places.items())
    rest = list(zip(old[bottom + 1 :], new[end + 1 - low :], strict=False))  # braces, or lines that changed
    ended = len(rest) == len(old) - bottom - 1 and all(
        line == there or alike(words_of([line]), words_of([there])) >= SAME_LINE for line, there in rest
    )
    start = start if top == 0 else max(0, min(first, start))
    return start, end + len(rest) if ended else max(end, last), ended
