"""Parsed texts, kept by content: the same text of the same language is not parsed twice in a row.

What it saves: `benches/side_by_side/read_file.py` (with imports). Bounded by the number of texts; the longest
unused goes first. Threads share it without a lock, because each step is one that the interpreter does not
interrupt; at worst a text is parsed once more.
"""

from __future__ import annotations

from collections import OrderedDict

from context_pack.kernel.syntax import NotParsed, Parsed
from context_pack.kernel.text import sha256_hex
from context_pack_adapters.syntax.guarded_syntax import GuardedSyntax

MOST_KEPT = 256


class KeptSyntax(GuardedSyntax):
    """Has texts parsed by another process, and remembers what was parsed lately.

    `parse_all` is not remembered, because its callers store the result; nor is what is asked rarely.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        super().__init__()
        self._most = most
        self._kept: OrderedDict[tuple[str, str], Parsed | NotParsed] = OrderedDict()

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text."""
        key = (language, sha256_hex(text))
        parsed = self._kept.pop(key, None)
        if parsed is None:
            parsed = super().parse(language, text)
        self._kept[key] = parsed
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return parsed
