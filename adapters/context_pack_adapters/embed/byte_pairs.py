"""Byte-level byte-pair encoding, as RoBERTa's tokenizer.json describes it.

A text is cut into words (with the blank before them), a word into bytes written as printable characters, and
neighbours are merged in the order of the merge table. A text is always only text: what looks like a special
token in it has no power. Cutting goes on only as far as ids are wanted, so that the length of a text does not
matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed.sentences import Tokenizer

WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LONGEST_WORD = 1024
"""In bytes; a longer one is data, and is cut into words of this length."""


class BytePairs(Tokenizer):
    """Texts into ids by a `tokenizer.json` with a ByteLevel pre-tokenizer and a BPE model."""

    def __init__(self, description: dict[str, Any], begin: str = "<s>", end: str = "</s>") -> None:
        import regex

        try:
            model = description["model"]
            if model["type"] != "BPE":
                raise ValueError
            pairs = model["merges"]
            self._vocabulary: dict[str, int] = model["vocab"]
            self._ranks: dict[str, int] = {
                pair if isinstance(pair, str) else " ".join(pair): rank for rank, pair in enumerate(pairs)
            }
            self._prefix = " " if (description.get("pre_tokenizer") or {}).get("add_prefix_space") else ""
            super().__init__(self._vocabulary[begin], self._vocabulary[end])
            self._unknown = self._vocabulary.get("<unk>", self._end)
            self.largest = max(self._vocabulary.values())
        except (KeyError, TypeError, ValueError, AttributeError):
            raise EmbedderFailed("tokenizer.json describes no byte-level BPE tokenizer") from None
        self._cut = regex.compile(WORDS)

    def _words(self, text: str, longest: int) -> Iterator[str]:
        """The words of a text, each as it is written."""
        # No id stands for more than a word, and no word that counts is longer than this.
        text = text[: longest * LONGEST_WORD]
        if text and not text.startswith(" "):
            text = self._prefix + text
        for match in self._cut.finditer(text):
            yield match[0]

    def _pieces(self, word: str) -> list[int]:
        """The ids of a word, merged from its bytes."""
        raw = word.encode("utf-8", "replace")
        pieces = [raw[start : start + LONGEST_WORD] for start in range(0, len(raw), LONGEST_WORD)]
        spelled = byte_letters()
        parts = [part for piece in pieces for part in self._merged([spelled[byte] for byte in piece])]
        return [self._vocabulary.get(part, self._unknown) for part in parts]

    def _merged(self, parts: list[str]) -> list[str]:
        """Neighbours merged, the pair with the lowest rank first, until none is in the table."""
        ranks = self._ranks
        while len(parts) > 1:
            found = [ranks.get(f"{left} {right}", -1) for left, right in pairwise(parts)]
            lowest = min((rank for rank in found if rank >= 0), default=-1)
            if lowest < 0:
                break
            made: list[str] = []
            place, last = 0, len(parts) - 1
            while place <= last:
                if place < last and found[place] == lowest:
                    made.append(parts[place] + parts[place + 1])
                    place += 2
                else:
                    made.append(parts[place])
                    place += 1
            parts = made
        return parts


@cache
def byte_letters() -> tuple[str, ...]:
    """A printable character for each byte: itself where it is one, else the next after U+0100."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return tuple(chr(byte if byte in plain else next(others)) for byte in range(256))
