"""Searches files that are not indexed yet for the words of a question, within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Collection

from attrs import frozen

from context_pack.memory.domain.text_lines import TextLine, WordWeights, beginnings, best_line, held
from context_pack.memory.ports import CodeTree

SECONDS = 2.0
SHORTLIST = 40
"""How many files with the rarest words are searched line by line."""


@frozen
class FoundByText:
    """The best line of each of the best files, the best first, and how many files were searched."""

    lines: tuple[TextLine, ...] = ()
    searched: int = 0


@frozen
class TextSearcher:
    """Reads files until the time is over, those first whose paths hold words of the question."""

    tree: CodeTree
    monotonic: Callable[[], float]

    def search(self, pending: Collection[str], query: str, check: Callable[[], None]) -> FoundByText:
        """The lines that hold most of the question, the rarest words first."""
        words, end = beginnings(query), self.monotonic() + SECONDS
        if not words:
            return FoundByText()
        files: dict[str, frozenset[str]] = {}
        searched = 0
        for path in sorted(pending, key=lambda path: (-len(held(path, words)), path)):
            check()
            if self.monotonic() >= end:
                break
            searched += 1
            if found := held(self._text(path), words):
                files[path] = found
        worth = WordWeights(files)
        scores = {path: worth(found) + worth(held(path, words)) for path, found in files.items()}
        ranked = []
        for path in sorted(scores, key=lambda path: (-scores[path], path))[:SHORTLIST]:
            check()
            score, line = best_line(path, self._text(path), words, worth)
            ranked.append((-score - scores[path], line))
        return FoundByText(tuple(line for _, line in sorted(ranked, key=lambda pair: pair[0])), searched)

    def _text(self, path: str) -> str:
        """The text of a file; none of one that cannot be read, which the index will say."""
        try:
            return self.tree.read(path).text
        except Exception:
            return ""
