"""The tree of a text, by the grammar that reads it best, and what a query finds in it.

A grammar is a wheel of its own, loaded with the first text of its language; its query file in `queries/` says
in captures what counts as a definition, an import, a comment or a string (`queries/README.md` lists them). A
grammar that cannot be loaded costs its language only. The process that all this runs in is limited in time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from importlib import import_module
from itertools import islice
from pkgutil import get_data
from typing import NamedTuple, cast

from attrs import frozen
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Range, Tree

from context_pack.kernel.syntax import NotParsed, no_grammar
from context_pack_adapters.syntax.definitions import Match, byte_length, last_row
from context_pack_adapters.syntax.languages import COMPONENTS, GRAMMARS, SOURCES, scripts_of

Lines = tuple[int, int]
"""A first and a last line, from 1."""

MOST_BYTES = 1024 * 1024
MOST_MATCHES = 65_536
"""How many matches may be under way at once before a query gives up on the oldest."""
MOST_PARTS = 20_000
MOST_ERROR_STEPS = 10_000
MOST_AGAIN = 1_000
"""How many places of a text may be read again."""
_CPP_WORDS = rb"\n[ \t]*(?:class|namespace|template|public|private|using)\b"
INSTEAD = {
    "c": {
        "objectivec": [re.compile(rb"\n[ \t]*@(?:interface|protocol|class|import)\b")],
        "cpp": [re.compile(rb"::(?<=\w::)\w"), re.compile(_CPP_WORDS)],
    },
    "javascript": {"tsx": [re.compile(b"")]},
}
"""What to look for, and which grammar to try then, where one reads a text with errors: headers may be C++ or
Objective-C, JavaScript may have types. Each pattern begins with what is quickly found, as do those below; a
line break is put before the text."""
STUMBLES = (
    re.compile(rb"\n[ \t]*(?P<macro>[A-Z_][A-Z0-9_]{3,})(?=[ \t]*\r?$)", re.MULTILINE),
    re.compile(rb"\((?P<macro><[\w./+-]{1,200}>)(?=\))"),
)
"""A macro alone on its line, as around namespaces and interfaces, which a grammar takes for the type of what
follows, and `<x>` as in `HAS_INCLUDE(<x>)`: a text with errors is read without them."""
_C_FAMILY = ("c", "cpp", "objectivec")
ATTRIBUTE = re.compile(
    rb"\b(?:class|struct|union)[ \t]+(?P<macro>[A-Z_][A-Z0-9_]{2,})"
    rb"(?=[ \t]+\w+(?:[ \t]+final)?\s*(?:\{|:[^:]))"
)
"""A macro as in `class MY_API Name {`: with it, a grammar takes the class for a function."""
TOO_LONG = "it is larger than 1 MiB"
NOT_UNDERSTOOD = "its grammar cannot read it"


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


@cache
def load_grammar(name: str) -> Grammar:
    """The grammar of that name; it fails somehow if it is not installed, or does not fit our queries."""
    source = SOURCES[name]
    language = Language(getattr(import_module(source.module), source.function)())
    files = (f"queries/{each}.scm" for each in (source.queries, source.shared) if each)
    text = "\n".join((get_data(__package__, file) or b"").decode() for file in files)
    outline = Query(language, text)
    patterns = range(cast(int, outline.pattern_count))  # a property, though its published type says otherwise
    spans = _separate_spans(outline, text.encode(), patterns)
    hows = tuple(str(outline.pattern_settings(number).get("how") or "") for number in patterns)
    return Grammar(name, language, Parser(language), _cursor(outline), hows, spans)


def _cursor(query: Query) -> QueryCursor:
    return QueryCursor(query, match_limit=MOST_MATCHES)


def _separate_spans(outline: Query, text: bytes, numbers: Iterable[int]) -> str:
    """The patterns for comments and strings; those for strings leave the outline: they are many, few ask."""
    patterns = []
    for number in numbers:
        pattern = text[outline.start_byte_for_pattern(number) : outline.end_byte_for_pattern(number)].decode()
        if "@comment" in pattern or "@string" in pattern:
            patterns.append(pattern)
        if "@string" in pattern:
            outline.disable_pattern(number)
    return "\n".join(patterns)


class Reading(NamedTuple):
    """A text as its grammar reads it."""

    grammar: Grammar
    tree: Tree
    data: bytes

    @property
    def mostly_errors(self) -> bool:
        """Whether the larger part of the text is syntax errors."""
        return 2 * _error_bytes(self.tree) > len(self.data) > 0

    @property
    def errors_without_end(self) -> bool:
        """Whether an error node has so many parts that a query over it would be quadratic."""
        return any(each.child_count > MOST_PARTS for each in _errors(self.tree))


@lru_cache(maxsize=1)
def read(language: str, text: str) -> Reading | NotParsed:
    """A text by the best grammar for it, or why there is no tree; kept for the next question about it."""
    if language in COMPONENTS:
        language, text = scripts_of(text)
    name = GRAMMARS.get(language)
    if name is None:
        return no_grammar(language)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MOST_BYTES:
        return NotParsed(TOO_LONG, failed=False)
    known = ATTRIBUTE.sub(_without_macro, data) if name in _C_FAMILY else data
    best = _by_grammar(name, known)
    if isinstance(best, NotParsed):
        return best
    best = best._replace(data=data)
    if not best.tree.root_node.has_error or best.errors_without_end:
        return best
    lines = b"\n" + known
    others = [
        other for other, signs in INSTEAD.get(name, {}).items() if any(sign.search(lines) for sign in signs)
    ]
    for stumble in STUMBLES if name in _C_FAMILY else ():
        lines = stumble.sub(_without_macro, lines)
    plain = lines[1:]
    for each in (name, *others) if plain != known else others:
        tried = _by_grammar(each, plain)
        if isinstance(tried, Reading) and _error_count(tried) <= _error_count(best):
            best = tried._replace(data=data)
    return best


def _without_macro(match: re.Match[bytes]) -> bytes:
    """The match with blanks in place of its macro."""
    return match[0].replace(match["macro"], b" " * len(match["macro"]), 1)


def understood(language: str, text: str) -> Reading | NotParsed:
    """A text as its best grammar reads it; NotParsed if it is mostly errors."""
    reading = read(language, text)
    if isinstance(reading, NotParsed):
        return reading
    return NotParsed(NOT_UNDERSTOOD) if reading.errors_without_end or reading.mostly_errors else reading


def _by_grammar(name: str, data: bytes) -> Reading | NotParsed:
    try:
        grammar = load_grammar(name)
    except Exception:  # whatever: it costs its language only
        return NotParsed(f"the grammar for {name} could not be loaded")
    return Reading(grammar, grammar.parser.parse(data), data)


def matches_of(reading: Reading) -> list[Match]:
    """The matches of a grammar's query in a text.

    Places that are captured as `@again` (bodies of macros) are parsed as texts of their own and asked too;
    all nodes stand where they stand in the whole text.
    """
    grammar, tree, data = reading
    matches = grammar.outline.matches(tree.root_node)
    todo = list(_again(grammar, data, matches))
    for _ in range(MOST_AGAIN):
        if not todo:
            break
        more = grammar.outline.matches(todo.pop().root_node)
        matches += more
        todo += _again(grammar, data, more)
    return matches


def _again(grammar: Grammar, data: bytes, matches: Sequence[Match]) -> Iterator[Tree]:
    """The places that are to be read again, the brackets around them left off."""
    nodes = (node for _, captures in matches for node in captures.get("again", ()))
    for node in islice(nodes, MOST_AGAIN):
        first, last = node.children[0], node.children[-1]
        inner = Range(first.end_point, last.start_point, first.end_byte, last.start_byte)
        yield Parser(grammar.language, included_ranges=[inner]).parse(data)


def _errors(tree: Tree) -> list[Node]:
    """The errors at the top of a tree."""
    root = tree.root_node
    if not root.has_error:
        return []
    return [root] if root.is_error else [each for each in root.children if each.is_error]


def _error_bytes(tree: Tree) -> int:
    """How much of a text is in errors at the top of its tree, and in no node that the grammar could read."""
    errors = _errors(tree)
    read = (each for error in errors for each in error.children if each.is_named and each.child_count)
    return sum(map(byte_length, errors)) - sum(byte_length(each) for each in read if not each.is_error)


def _error_count(reading: Reading) -> int:
    """How many lines of a text its grammar cannot read; too many to count are more than any."""
    if reading.errors_without_end:
        return sys.maxsize
    lines = joined_lines(each for each in broken_nodes(reading.tree.root_node) if each.is_error)
    return sum(last - first + 1 for first, last in lines)


def broken_nodes(root: Node, known: Collection[int] = ()) -> Iterator[Node]:
    """What the grammar could not read or misses, in order; but for errors that its query file knows."""
    todo = [root]
    for _ in range(MOST_ERROR_STEPS):
        if not todo:
            break
        node = todo.pop()
        if node.is_missing or (node.is_error and node.id not in known):
            yield node
        elif not node.is_error and node.has_error:
            todo.extend(each for each in reversed(node.children) if each.has_error or each.is_missing)


def error_line(broken: Iterable[Node]) -> int | None:
    """The first line that the grammar cannot read: of an error, that of its first stray token."""
    for node in broken:
        stray = (each for each in node.children if each.is_error or not each.is_named)
        return lines_of(next(stray, node))[0]
    return None


def joined_lines(nodes: Iterable[Node]) -> list[Lines]:
    """The first and last lines of nodes, in order; what follows one another is one."""
    joined: list[Lines] = []
    for start, end in sorted(map(lines_of, nodes)):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def lines_of(node: Node) -> Lines:
    """The first and last lines of a node."""
    return node.start_point.row + 1, last_row(node) + 1
