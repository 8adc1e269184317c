"""Files that are not indexed yet, ranked by the words of a question that they hold as they are written.

The rarer a word is among the files that hold any, the more it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log

from attrs import frozen

from context_pack.kernel.text import split_lines
from context_pack.retrieval.words import tokens

LEAST_BYTES, MOST_WORDS = 3, 12
LONG_STEM = 4
"""A longer stem may differ from its word in the last letter: it is looked for without that."""
LINE_CHARS = 500
NEIGHBOURS = 2


@frozen
class TextLine:
    """The line of a file that holds most of the words, with its neighbours, which begin at `start`."""

    path: str
    line: int
    start: int
    lines: tuple[str, ...]


def beginnings(query: str) -> list[str]:
    """How the longest words of a question begin, whatever their ending; in lower case."""
    words = [word for word in dict.fromkeys(tokens(query)) if len(word.encode()) >= LEAST_BYTES]
    longest = sorted(words, key=lambda word: -len(word))[:MOST_WORDS]
    return [word[:-1] if len(word) > LONG_STEM or word.endswith("i") else word for word in longest]


def held(text: str, words: Iterable[str]) -> frozenset[str]:
    """Which of the words a text holds."""
    lowered = text.lower()
    return frozenset(word for word in words if word in lowered)


class WordWeights:
    """The summed weight of words; a word that is in fewer files weighs more."""

    def __init__(self, files: Mapping[str, Collection[str]]) -> None:
        self._files = len(files)
        self._counts = Counter(word for words in files.values() for word in words)

    def __call__(self, words: Collection[str]) -> float:
        return sum(log(1 + self._files / self._counts[word]) for word in words if word in self._counts)


def best_line(path: str, text: str, words: Sequence[str], worth: WordWeights) -> tuple[float, TextLine]:
    """The line of a file whose words are worth most, the first of equal ones, and how much."""
    lines = split_lines(text)
    scores = [worth(held(line, words)) for line in lines]
    score = max(scores, default=0.0)
    index = scores.index(score) if scores else 0
    first = max(0, index - NEIGHBOURS)
    shown = tuple(line[:LINE_CHARS] for line in lines[first : index + NEIGHBOURS + 1])
    return score, TextLine(path, index + 1, first + 1, shown)
