"""Shortens code for a search result: its head and the lines that match the question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from context_pack.retrieval.words import ascii_runs, tokens

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"
_JOINTS = str.maketrans("", "", "_-./:>")
"""The signs that words are joined by: `parse_http` is found as `parsehttp` too."""


class AskedWords:
    """The words of a question, looked for in the lines of one piece after the other."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        # A stem differs from its word in the last letter at most, but for `die`, `lie` and `tie` of `dying`
        # and so on: what has the rest of no stem needs no tokens.
        self._stems = {word[: -2 if word.endswith("ie") else -1] or word[:1] for word in self._words}
        self._plain = all(map(str.isascii, self._words))
        self._met: dict[str, frozenset[str]] = {}

    def scores(self, text: str, lines: Sequence[str]) -> dict[int, int]:
        """The lines that hold some of the words, and how many."""
        strange = _holding(text, ("#", "++"))
        if not (self._plain and text.isascii()):
            strange.update(index for index, line in enumerate(lines) if not (self._plain and line.isascii()))
        likely = _holding(text.lower().translate(_JOINTS), self._stems) - strange
        met = {index: self._words.intersection(tokens(lines[index])) for index in strange}
        met |= {index: self._meeting(lines[index]) for index in likely}
        return {index: len(words) for index, words in met.items() if words}

    def _meeting(self, line: str) -> frozenset[str]:
        """The words in a line whose tokens are those of its runs; many runs come again."""
        met = frozenset[str]()
        for run in ascii_runs(line):
            found = self._met.get(run)
            if found is None:
                found = self._met[run] = self._words.intersection(tokens(run))
            if found:
                met |= found
        return met


def excerpt(text: str, words: AskedWords) -> str:
    """The head of a definition and the lines that hold most of the words, gaps marked; a short text whole."""
    lines = text.split("\n")
    if len(lines) <= SHORT_LINES:
        return text
    kept = set(range(_head(lines)))
    scores = {index: score for index, score in words.scores(text, lines).items() if index not in kept}
    best = sorted(scores, key=lambda index: (-scores[index], index))
    kept.update(best[:TELLING_LINES])
    shown: list[str] = []
    for index, line in enumerate(lines):
        if index in kept:
            shown.append(line)
        elif shown[-1] != GAP:
            shown.append(GAP)
    return "\n".join(shown)


def _holding(text: str, stems: Iterable[str]) -> set[int]:
    """The lines that hold one of these."""
    found: set[int] = set()
    for stem in stems:
        line, last, at = 0, 0, text.find(stem)
        while at >= 0:
            line += text.count("\n", last, at)
            found.add(line)
            last = text.find("\n", at)
            at = text.find(stem, last) if last >= 0 else -1
    return found


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return 1 if len(lines) < HEAD_LINES else HEAD_LINES
