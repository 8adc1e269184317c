"""Shortens code for a search result: its head and the lines that match the question."""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from context_pack.retrieval.words import ascii_runs, folded, run_tokens, tokens

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"
_JOINTS = str.maketrans("", "", "_-./:>")
"""The signs that words are joined by: `parse_http` is found as `parsehttp` too."""


_SIGNED = ("C#", "c#", "F#", "f#", "C++", "c++")
"""What is a word of its own only where other signs do not follow: the tokens of a whole line tell."""


class AskedWords:
    """The words of a question, looked for in the lines of one piece after the other."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        # A stem differs from its word in the last letter at most, but for `die`, `lie` and `tie` of `dying`
        # and so on: what has the rest of no stem needs no tokens.
        self._stems = Counter(word[: -2 if word.endswith("ie") else -1] or word[:1] for word in self._words)
        self._plain = all(map(str.isascii, self._words))

    def telling(self, text: str, lines: Sequence[str], head: int) -> list[int]:
        """The lines behind the head that hold most of the words, the first of equal ones."""
        most: dict[int, int] = defaultdict(int)
        bare = (text if text.isascii() else folded(text)).casefold().translate(_JOINTS)
        for stem, words in self._stems.items():
            for index in _holding(bare, stem):
                most[index] += words
        strange = {line for signed in _SIGNED for line in _holding(text, signed)}
        if not self._plain:
            strange.update(range(len(lines)))
        most.update((index, len(self._words)) for index in strange)
        best: list[tuple[int, int]] = []
        for place in sorted([(-words, index) for index, words in most.items() if index >= head]):
            if len(best) == TELLING_LINES and best[-1] < place:
                break  # no line after it can have more words
            index = place[1]
            if found := self._words_in(lines[index], index in strange or not lines[index].isascii()):
                insort(best, (-len(found), index))
                del best[TELLING_LINES:]
        return [index for _, index in best]

    def _words_in(self, line: str, is_strange: bool) -> frozenset[str]:
        found = tokens(line) if is_strange else chain.from_iterable(map(run_tokens, ascii_runs(line)))
        return self._words.intersection(found)


def excerpt(text: str, words: AskedWords) -> str:
    """The head of a definition and the lines that hold most of the words, gaps marked; a short text whole."""
    lines = text.split("\n")
    if len(lines) <= SHORT_LINES:
        return text
    head = _head(lines)
    shown: list[str] = []
    for index, following in pairwise([*range(head), *sorted(words.telling(text, lines, head)), len(lines)]):
        shown.append(lines[index])
        if following > index + 1:
            shown.append(GAP)
    return "\n".join(shown)


def _holding(text: str, part: str) -> Iterator[int]:
    """The lines that hold a part of a word."""
    line, last, at = 0, 0, text.find(part)
    while at >= 0:
        line += text.count("\n", last, at)
        yield line
        last = text.find("\n", at)
        at = text.find(part, last) if last >= 0 else -1


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return 1 if len(lines) < HEAD_LINES else HEAD_LINES
