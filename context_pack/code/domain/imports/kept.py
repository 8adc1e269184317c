"""Parsed imports, kept by content: the same text of the same language is not parsed twice.

Bounded by the number of texts; the longest unused goes first. Threads share it without a lock, because each
step is one the interpreter does not interrupt; at worst a text is parsed once more.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from attrs import define, field

from context_pack.code.domain.imports.table import Language
from context_pack.kernel.digest import sha256_hex

MOST_KEPT = 512


@define
class ParsedImports:
    """What the texts seen lately import."""

    most: int = MOST_KEPT
    _kept: OrderedDict[tuple[str, str], Any] = field(factory=OrderedDict, init=False)

    def of(self, name: str, language: Language, text: str) -> Any:
        """What `text` imports, in the language called `name`; what parsing raises is not kept."""
        key = (name, sha256_hex(text))
        parsed = self._kept.pop(key, None)
        if parsed is None:
            parsed = language.parse(text)
        self._kept[key] = parsed
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
        return parsed

    def __len__(self) -> int:
        return len(self._kept)
