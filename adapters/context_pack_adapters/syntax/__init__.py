"""Source code by tree-sitter: grammars, query files, and the `Syntax` port over them, loaded on first use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from context_pack.kernel.syntax import NotParsed, Parsed, Spans, Syntax


@cache
def _shared() -> Syntax:
    """The one of this process: everybody has the same process parse, and knows what it parsed lately."""
    from context_pack_adapters.syntax.guarded_syntax import GuardedSyntax
    from context_pack_adapters.syntax.kept_syntax import KeptSyntax

    return KeptSyntax(GuardedSyntax())


class LazySyntax:
    """A `Syntax` that starts to parse with the first text: most processes that could parse never do."""

    @property
    def _loaded(self) -> Syntax:
        return _shared()

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return self._loaded.knows(language)

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text."""
        return self._loaded.parse(language, text)

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """The definitions and imports of each text, given with its language."""
        return self._loaded.parse_all(texts)

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are."""
        return self._loaded.spans(language, text)

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands that is `name`."""
        return self._loaded.occurrences(language, text, name)
