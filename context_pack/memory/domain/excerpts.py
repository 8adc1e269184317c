"""A piece of code as a search shows it: its head and the lines that answer the question, not its body."""

from __future__ import annotations

from collections.abc import Collection

from context_pack.retrieval.words import tokens

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"


def excerpt(text: str, words: Collection[str]) -> str:
    """The head of a definition and the lines that hold most of the words, gaps marked; a short text whole."""
    lines = text.split("\n")
    if len(lines) <= SHORT_LINES:
        return text
    kept = set(range(_head(lines)))
    asked = frozenset(words)
    scores = {
        index: len(asked.intersection(tokens(line))) for index, line in enumerate(lines) if index not in kept
    }
    best = sorted((index for index in scores if scores[index]), key=lambda index: (-scores[index], index))
    kept.update(best[:TELLING_LINES])
    shown: list[str] = []
    for index, line in enumerate(lines):
        if index in kept:
            shown.append(line)
        elif shown[-1] != GAP:
            shown.append(GAP)
    return "\n".join(shown)


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return 1 if len(lines) < HEAD_LINES else HEAD_LINES
