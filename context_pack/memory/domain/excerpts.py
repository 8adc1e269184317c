"""Shortens code for a search result: its head and the lines that match the question."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, pairwise

from context_pack.retrieval.words import ascii_runs, folded, run_tokens, tokens

SHORT_LINES = 8
"""What has no more lines is shown whole."""
HEAD_LINES, TELLING_LINES = 3, 5
GAP = "…"
_JOINTS = b"_-./:>"
"""The signs that words are joined by: `parse_http` is found as `parsehttp` too."""
_LOWER = bytes(range(256)).lower()
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
        bare = _bare(text)
        parts, most = bare.split("\n"), [0] * len(lines)
        for stem, words in self._stems.items():
            if stem in bare:
                for index, part in enumerate(parts):
                    if stem in part:
                        most[index] += words
        strange = _signed(text, lines) if self._plain else range(len(lines))
        for index in strange:
            most[index] = len(self._words)
        best: list[tuple[int, int]] = []
        likely = [index for index in range(head, len(lines)) if most[index]]
        for index in sorted(likely, key=most.__getitem__, reverse=True):
            if len(best) == TELLING_LINES and best[-1] < (-most[index], index):
                break  # no line after it can have more words
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


def _bare(text: str) -> str:
    """The text folded, without the signs that join words."""
    plain = text if text.isascii() else folded(text).casefold()
    return plain.encode("utf-8", "surrogatepass").translate(_LOWER, _JOINTS).decode("utf-8", "surrogatepass")


def _signed(text: str, lines: Sequence[str]) -> Collection[int]:
    """The lines that hold a word with a sign."""
    if "#" not in text and "++" not in text:
        return ()
    signs = [sign for sign in _SIGNED if sign in text]
    return [index for index, line in enumerate(lines) if any(sign in line for sign in signs)] if signs else ()


def _head(lines: list[str]) -> int:
    """How many lines the signature takes: up to the one that opens the body, decorators and comments too."""
    for index, line in enumerate(lines[:HEAD_LINES]):
        if line.rstrip().endswith((":", "{", "=>", "=", "do")):
            return index + 1
    return 1 if len(lines) < HEAD_LINES else HEAD_LINES
