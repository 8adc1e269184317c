"""A piece of code as a search shows it: its head and the lines that answer the question, not its body."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from context_pack.retrieval.words import tokens

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"
_JOINTS = str.maketrans("", "", "_-./:>")
"""The signs that words are joined by: `parse_http` is found as `parsehttp` too."""


def excerpt(text: str, words: Collection[str]) -> str:
    """The head of a definition and the lines that hold most of the words, gaps marked; a short text whole."""
    lines = text.split("\n")
    if len(lines) <= SHORT_LINES:
        return text
    kept = set(range(_head(lines)))
    scores = {index: score for index, score in _scores(text, lines, frozenset(words)) if index not in kept}
    best = sorted(scores, key=lambda index: (-scores[index], index))
    kept.update(best[:TELLING_LINES])
    shown: list[str] = []
    for index, line in enumerate(lines):
        if index in kept:
            shown.append(line)
        elif shown[-1] != GAP:
            shown.append(GAP)
    return "\n".join(shown)


def _scores(text: str, lines: Sequence[str], asked: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The lines that hold some of the words, and how many."""
    # A stem differs from its word in the last letter at most, but for `die`, `lie` and `tie` of `dying` and
    # so on: a line that has the rest of no stem needs no tokens.
    stems = (word[: -2 if word.endswith("ie") else -1] or word[:1] for word in asked)
    begun = re.compile("|".join(map(re.escape, stems))).search
    plain = all(map(str.isascii, asked))
    for index, joined in enumerate(text.lower().translate(_JOINTS).split("\n")):
        if plain and joined.isascii() and "#" not in joined and "++" not in joined and not begun(joined):
            continue
        if score := len(asked.intersection(tokens(lines[index]))):
            yield index, score


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return 1 if len(lines) < HEAD_LINES else HEAD_LINES
