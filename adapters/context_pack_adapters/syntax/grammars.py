"""Which grammar and which query file read a language, each loaded with the first text of its language.

A grammar is a wheel of its own; its query file in `queries/` says in captures what counts as a definition, an
import, a comment or a string (`queries/README.md` lists them). A grammar that cannot be loaded costs its
language only.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module, resources
from typing import NamedTuple, cast

from attrs import frozen
from tree_sitter import Language, Parser, Query, QueryCursor

SLICE_MICROS = 250_000
"""How long a parser works before it lets others go on; it is asked again, and goes on where it was."""
QUERY_MICROS = 5_000_000
MOST_MATCHES = 65_536
"""How many matches may be under way at once before a query gives up on the oldest."""


class _Source(NamedTuple):
    """Where a grammar comes from: module, function, query file."""

    module: str
    function: str
    queries: str


_SOURCES = {
    "python": _Source("tree_sitter_python", "language", "python"),
    "javascript": _Source("tree_sitter_javascript", "language", "javascript"),
    "typescript": _Source("tree_sitter_typescript", "language_typescript", "typescript"),
    "tsx": _Source("tree_sitter_typescript", "language_tsx", "typescript"),
    "go": _Source("tree_sitter_go", "language", "go"),
    "rust": _Source("tree_sitter_rust", "language", "rust"),
    "java": _Source("tree_sitter_java", "language", "java"),
    "kotlin": _Source("tree_sitter_kotlin", "language", "kotlin"),
    "c": _Source("tree_sitter_c", "language", "c"),
    "cpp": _Source("tree_sitter_cpp", "language", "cpp"),
    "objectivec": _Source("tree_sitter_objc", "language", "objectivec"),
    "csharp": _Source("tree_sitter_c_sharp", "language", "csharp"),
    "ruby": _Source("tree_sitter_ruby", "language", "ruby"),
    "php": _Source("tree_sitter_php", "language_php", "php"),
    "swift": _Source("tree_sitter_swift", "language", "swift"),
    "bash": _Source("tree_sitter_bash", "language", "bash"),
    "scala": _Source("tree_sitter_scala", "language", "scala"),
    "lua": _Source("tree_sitter_lua", "language", "lua"),
}
_ALIASES = {"jsx": "javascript", "zsh": "bash"}


@frozen
class Grammar:
    """A language ready to parse: its parser, and its query with and without strings."""

    parser: Parser
    outline: QueryCursor
    spans: QueryCursor
    hows: tuple[str, ...]
    """What `(#set! how …)` says, by the number of the pattern."""


class GrammarFailed(Exception):
    """A grammar or its query file could not be loaded."""


def grammar_name(language: str) -> str | None:
    """The grammar that reads a language of `kernel.languages`, or None."""
    name = _ALIASES.get(language, language)
    return name if name in _SOURCES else None


@cache
def load_grammar(name: str) -> Grammar:
    """The grammar of that name.

    Raises:
        GrammarFailed: it is not installed, or does not fit the installed tree-sitter or our queries.
    """
    source = _SOURCES[name]
    try:
        language = Language(getattr(import_module(source.module), source.function)())
        text = _query_text(source.queries)
        outline, spans = Query(language, text), Query(language, text)
        _disable_strings(outline, text.encode())
        # The time limit is deprecated in favour of a callback that crashes the interpreter (0.25 and 0.26).
        warnings.filterwarnings("ignore", category=DeprecationWarning, module=__name__.replace(".", r"\."))
        parser = Parser(language, timeout_micros=SLICE_MICROS)
        cursors = [
            QueryCursor(each, match_limit=MOST_MATCHES, timeout_micros=QUERY_MICROS)
            for each in (outline, spans)
        ]
    except Exception as error:
        raise GrammarFailed(name) from error
    hows = tuple(str(outline.pattern_settings(number).get("how") or "") for number in range(_count(outline)))
    return Grammar(parser, cursors[0], cursors[1], hows)


def _disable_strings(query: Query, text: bytes) -> None:
    """Leave out the patterns for strings: few callers ask where those are, and they are many."""
    for number in range(_count(query)):
        pattern = text[query.start_byte_for_pattern(number) : query.end_byte_for_pattern(number)]
        if b"@string" in pattern:
            query.disable_pattern(number)


def _count(query: Query) -> int:
    """How many patterns a query has; a property, though its published type says otherwise."""
    return cast(int, query.pattern_count)


def _query_text(name: str) -> str:
    return (resources.files(__package__) / "queries" / f"{name}.scm").read_text("utf-8")


def grammar_faults() -> dict[str, str]:
    """Every grammar's distribution, with what keeps it from loading, or nothing."""
    faults: dict[str, str] = {}
    for name, source in _SOURCES.items():
        package = source.module.replace("_", "-")
        try:
            load_grammar(name)
        except GrammarFailed as failed:
            faults[package] = str(failed.__cause__)
        else:
            faults.setdefault(package, "")
    return faults
