"""Shortens code for a search result: its head and the lines that match the question."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from context_pack.retrieval.words import tokens

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"


def excerpt(text: str, words: Iterable[str]) -> str:
    """The head of a definition and the lines that hold most of the words, gaps marked; a short text whole."""
    lines = text.split("\n")
    if len(lines) <= SHORT_LINES:
        return text
    head, asked = _head(lines), frozenset(words)
    counts = {index: len(asked.intersection(tokens(lines[index]))) for index in range(head, len(lines))}
    best = sorted(filter(counts.get, counts), key=counts.__getitem__, reverse=True)[:TELLING_LINES]
    shown: list[str] = []
    for index, following in pairwise([*range(head), *sorted(best), len(lines)]):
        shown.append(lines[index])
        if following > index + 1:
            shown.append(GAP)
    return "\n".join(shown)


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return HEAD_LINES
