"""Parsed texts, kept by content: the same text of the same language is not parsed twice in a row.

What it saves: `benches/side_by_side/read_file.py` (with imports). Bounded by the number of texts; the longest
unused goes first. Threads share it without a lock, because each step is one that the interpreter does not
interrupt; at worst a text is parsed once more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from context_pack.kernel.classes import define, field
from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax
from context_pack.kernel.text import sha256_hex

MOST_KEPT = 256


@define
class KeptSyntax:
    """A `Syntax` that remembers what another one parsed lately."""

    inner: Syntax
    most: int = MOST_KEPT
    _kept: OrderedDict[tuple[str, str], Parsed | NotParsed] = field(factory=OrderedDict, init=False)

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return self.inner.knows(language)

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text."""
        key = (language, sha256_hex(text))
        parsed = self._kept.pop(key, None)
        if parsed is None:
            parsed = self.inner.parse(language, text)
        self._kept[key] = parsed
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
        return parsed

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """The definitions and imports of each text; not cached, because callers store the result."""
        return self.inner.parse_all(texts)

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are; asked rarely, so not kept."""
        return self.inner.spans(language, text)

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands; not kept."""
        return self.inner.occurrences(language, text, name)

    def __len__(self) -> int:
        return len(self._kept)
