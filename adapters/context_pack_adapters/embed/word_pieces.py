"""WordPiece tokens, as BERT's tokenizer.json describes them.

A text is cleaned of control characters, perhaps folded to lower case and bare letters, cut at blanks,
punctuation and around Chinese characters; a word is then the longest pieces of the vocabulary from left to
right, or unknown. A text is always only text: what looks like a special token in it has no power.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed.sentences import Tokenizer

LONGEST_TEXT = 64
"""Characters that are looked at for each id that is wanted."""
_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPieces(Tokenizer):
    """Texts into ids by a `tokenizer.json` with a BertNormalizer and a WordPiece model."""

    def __init__(self, description: dict[str, Any]) -> None:
        try:
            model = description["model"]
            normalizer = description.get("normalizer") or {}
            if model.get("type", "WordPiece") != "WordPiece":
                raise ValueError
            self._vocabulary: dict[str, int] = model["vocab"]
            self._prefix: str = model.get("continuing_subword_prefix", "##")
            self._longest: int = model.get("max_input_chars_per_word", 100)
            self._lower: bool = normalizer.get("lowercase", False)
            bare = normalizer.get("strip_accents")
            self._bare: bool = self._lower if bare is None else bare
            self._clean: bool = normalizer.get("clean_text", True)
            self._chinese: bool = normalizer.get("handle_chinese_chars", True)
            self._unknown = self._vocabulary[model.get("unk_token", "[UNK]")]
            super().__init__(self._vocabulary["[CLS]"], self._vocabulary["[SEP]"])
            self.largest = max(self._vocabulary.values())
        except (KeyError, TypeError, ValueError, AttributeError):
            raise EmbedderFailed("tokenizer.json describes no WordPiece tokenizer") from None

    def _words(self, text: str, longest: int) -> Iterator[str]:
        """The words and the marks of punctuation of a text, folded."""
        folded = "".join(self._prepared(char) for char in text[: longest * LONGEST_TEXT])
        if self._bare:
            apart = unicodedata.normalize("NFD", folded)
            folded = "".join(char for char in apart if unicodedata.category(char) != "Mn")
        if self._lower:
            folded = folded.lower()
        for run in folded.split():
            yield from _cut(run)

    def _prepared(self, char: str) -> str:
        """A normalised character: a blank, nothing, itself, or itself between blanks."""
        if self._clean:
            if char.isspace():
                return " "
            if char in "\0\ufffd" or (not char.isprintable() and unicodedata.category(char)[0] == "C"):
                return ""
        return f" {char} " if self._chinese and _is_chinese(char) else char

    def _pieces(self, word: str) -> list[int]:
        """The longest pieces from left to right; one unknown when they do not cover the word."""
        ids: list[int] = []
        start = 0
        while start < len(word) <= self._longest:
            prefix = self._prefix if start else ""
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return [self._unknown]
            ids.append(piece)
            start = end
        return ids or [self._unknown]


def _cut(run: str) -> Iterator[str]:
    """A run without blanks, cut around each mark of punctuation."""
    start = 0
    for place, char in enumerate(run):
        if _is_punctuation(char):
            if start < place:
                yield run[start:place]
            yield char
            start = place + 1
    if start < len(run):
        yield run[start:]


@lru_cache(maxsize=8192)
def _is_chinese(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _CHINESE)


@lru_cache(maxsize=8192)
def _is_punctuation(char: str) -> bool:
    """ASCII that is neither letter nor digit, and what Unicode calls punctuation."""
    if char.isascii():
        return char.isprintable() and not char.isalnum() and char != " "
    return unicodedata.category(char)[0] == "P"
