"""Lines of files that are not indexed yet, found by the words of a question and ranked by them.

The rarer a word is among the files that were found, the more it counts; of a file only its best line is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from math import log

from context_pack.kernel.classes import frozen
from context_pack.retrieval.words import tokens

LEAST_BYTES, MOST_WORDS = 3, 12
LONG_STEM = 4
"""A longer stem may differ from its word in the last letter: it is looked for without that."""


@frozen
class TextLine:
    """A line of a file with the lines around it; `line` counts from 1."""

    path: str
    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        """The first of the lines that are shown."""
        return self.line - len(self.before)

    @property
    def shown(self) -> str:
        """The line between its neighbours."""
        return "\n".join((*self.before, self.text, *self.after))


def pattern_of(query: str) -> str | None:
    """A regular expression for lines that may hold words of a question; None if none is worth a search."""
    words = [word for word in dict.fromkeys(tokens(query)) if len(word.encode()) >= LEAST_BYTES]
    longest = sorted(words, key=lambda word: -len(word))[:MOST_WORDS]
    return "|".join(re.escape(_beginning(word)) for word in longest) or None


def _beginning(word: str) -> str:
    return word[:-1] if len(word) > LONG_STEM or word.endswith("i") else word


def best_lines(lines: Iterable[TextLine], query: str) -> list[TextLine]:
    """The best line of each file that has words of the question, the best file first."""
    asked = frozenset(tokens(query))
    files: dict[str, list[tuple[TextLine, Collection[str]]]] = {}
    for line in lines:
        if words := asked.intersection(tokens(line.text)):
            files.setdefault(line.path, []).append((line, words))
    held = {path: asked.intersection(tokens(path)).union(*(w for _, w in of)) for path, of in files.items()}
    counts = Counter(word for words in held.values() for word in words)

    def worth(words: Collection[str]) -> float:
        return sum(log(1 + len(files) / counts[word]) for word in words)

    ranked = sorted(files, key=lambda path: (-worth(held[path]), path))
    return [max(files[path], key=lambda found: worth(found[1]))[0] for path in ranked]
