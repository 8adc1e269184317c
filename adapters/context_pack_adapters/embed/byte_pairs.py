"""Byte-level byte-pair encoding, as RoBERTa's tokenizer.json describes it.

A text is cut into words (with the blank before them), a word into bytes written as printable characters, and
neighbours are merged in the order of the merge table. A text is always only text: what looks like a special
token in it has no power.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LONGEST_WORD = 1024
"""In bytes; a longer one is data, and is cut into words of this length."""


class BytePairs:
    """Texts into ids by a `tokenizer.json` with a ByteLevel pre-tokenizer and a BPE model."""

    def __init__(self, description: dict[str, Any]) -> None:
        import regex

        model = description["model"]
        self._vocabulary: dict[str, int] = model["vocab"]
        self._ranks = {
            pair if isinstance(pair, str) else " ".join(pair): at for at, pair in enumerate(model["merges"])
        }
        self._letters = _byte_letters()
        self._cut = regex.compile(WORDS)
        self._ids = lru_cache(maxsize=50_000)(self._merged)  # words come again

    def ids(self, text: str, longest: int) -> list[int]:
        """At most `longest` ids, the marks of begin and end among them."""
        ids = [self._vocabulary["<s>"]]
        # No id stands for more than a word, and no word that counts is longer than this.
        for match in self._cut.finditer(text[: longest * LONGEST_WORD]):
            raw = match[0].encode("utf-8", "replace")
            for start in range(0, len(raw), LONGEST_WORD):
                ids += self._ids(raw[start : start + LONGEST_WORD])
            if len(ids) >= longest:
                break
        return [*ids[: longest - 1], self._vocabulary["</s>"]]

    def _merged(self, word: bytes) -> list[int]:
        """The ids of a word: neighbours merged, the pair with the lowest rank first."""
        parts = [self._letters[byte] for byte in word]
        while len(parts) > 1:
            ranks = [self._ranks.get(f"{left} {right}", len(self._ranks)) for left, right in pairwise(parts)]
            lowest = min(ranks)
            if lowest == len(self._ranks):
                break
            made: list[str] = []
            at = 0
            while at < len(parts):
                both = at < len(ranks) and ranks[at] == lowest
                made.append(parts[at] + parts[at + 1] if both else parts[at])
                at += 2 if both else 1
            parts = made
        return [self._vocabulary.get(part, self._vocabulary["<unk>"]) for part in parts]


def _byte_letters() -> list[str]:
    """A printable character for each byte: itself where it is one, else the next after U+0100."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]
