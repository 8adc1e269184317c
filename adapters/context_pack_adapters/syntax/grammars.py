"""Grammars with their query files, each loaded with the first text of its language.

A grammar is a wheel of its own; its query file in `queries/` says in captures what counts as a definition, an
import, a comment or a string (`queries/README.md` lists them). A grammar that cannot be loaded costs its
language only.
"""

from __future__ import annotations

import warnings
from functools import cache, cached_property
from importlib import import_module
from pkgutil import get_data
from typing import cast

from attrs import frozen
from tree_sitter import Language, Parser, Query, QueryCursor, Range

from context_pack_adapters.syntax.languages import SOURCES, GrammarSource

SLICE_MICROS = 250_000
"""How long a parser works before it lets others go on; it is asked again, and goes on where it was."""
QUERY_MICROS = 5_000_000
MOST_MATCHES = 65_536
"""How many matches may be under way at once before a query gives up on the oldest."""


@frozen(eq=False)
class Grammar:
    """A language ready to parse: its parser and its query; other queries are made when first asked."""

    name: str
    language: Language
    parser: Parser
    outline: QueryCursor
    hows: tuple[str, ...]
    """What `(#set! how …)` says, by the number of the pattern."""
    spans_text: str

    @cached_property
    def spans(self) -> QueryCursor:
        """Finds comments and strings."""
        return _cursor(Query(self.language, self.spans_text))

    def parser_for(self, place: Range) -> Parser:
        """A parser that reads but one place of a text, as if it were all."""
        _allow_time_limits()
        return Parser(self.language, included_ranges=[place], timeout_micros=SLICE_MICROS)


class GrammarFailed(Exception):
    """A grammar or its query file could not be loaded."""


@cache
def load_grammar(name: str) -> Grammar:
    """The grammar of that name.

    Raises:
        GrammarFailed: it is not installed, or does not fit the installed tree-sitter or our queries.
    """
    source = SOURCES[name]
    try:
        language = Language(getattr(import_module(source.module), source.function)())
        text = _query_text(source)
        outline = Query(language, text)
        spans = _separate_spans(outline, text.encode())
        _allow_time_limits()
        parser = Parser(language, timeout_micros=SLICE_MICROS)
        cursor = _cursor(outline)
    except Exception as error:
        raise GrammarFailed(name) from error
    hows = tuple(str(outline.pattern_settings(number).get("how") or "") for number in range(_count(outline)))
    return Grammar(name, language, parser, cursor, hows, spans)


def _cursor(query: Query) -> QueryCursor:
    _allow_time_limits()
    return QueryCursor(query, match_limit=MOST_MATCHES, timeout_micros=QUERY_MICROS)


def _allow_time_limits() -> None:
    """They are deprecated in favour of a callback that crashes the interpreter (0.25 and 0.26)."""
    warnings.filterwarnings("ignore", category=DeprecationWarning, module=__name__.replace(".", r"\."))


def _separate_spans(outline: Query, text: bytes) -> str:
    """The patterns for comments and strings; those for strings leave the outline: they are many, few ask."""
    patterns = []
    for number in range(_count(outline)):
        pattern = text[outline.start_byte_for_pattern(number) : outline.end_byte_for_pattern(number)].decode()
        if "@comment" in pattern or "@string" in pattern:
            patterns.append(pattern)
        if "@string" in pattern:
            outline.disable_pattern(number)
    return "\n".join(patterns)


def _count(query: Query) -> int:
    """How many patterns a query has; a property, though its published type says otherwise."""
    return cast(int, query.pattern_count)


def _query_text(source: GrammarSource) -> str:
    """The patterns of a grammar, its own first."""
    names = (name for name in (source.queries, source.shared) if name)
    return "\n".join((get_data(__package__, f"queries/{name}.scm") or b"").decode() for name in names)
