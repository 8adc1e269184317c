"""The tree of a text, by the grammar that reads it best; bounded in size and time.

Time is what the thread itself used: a busy machine makes no text unreadable.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple, TypeVar

from tree_sitter import Node, Parser, Range, Tree

from context_pack.kernel.syntax import NotParsed, no_grammar
from context_pack_adapters.syntax.captures import Match
from context_pack_adapters.syntax.grammars import QUERY_MICROS, Grammar, GrammarFailed, load_grammar
from context_pack_adapters.syntax.languages import COMPONENTS, grammar_name, scripts_of

T = TypeVar("T")

MOST_BYTES = 1024 * 1024
MOST_SECONDS = 2.0
"""How long a text may be parsed, and asked by a query."""
MOST_TRIES = 2
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
    re.compile(rb"\n[ \t]*[A-Z_][A-Z0-9_]{3,}(?=[ \t]*\r?$)", re.MULTILINE),
    re.compile(rb"\(<[\w./+-]{1,200}>(?=\))"),
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
TOOK_LONG = "parsing it took too long"
NOT_UNDERSTOOD = "its grammar cannot read it"


class Read(NamedTuple):
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
def read(language: str, text: str) -> Read | NotParsed:
    """A text by the best grammar for it, or why there is no tree; kept for the next question about it."""
    if language in COMPONENTS:
        language, text = scripts_of(text)
    name = grammar_name(language)
    if name is None:
        return no_grammar(language)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MOST_BYTES:
        return NotParsed(TOO_LONG, failed=False)
    known = ATTRIBUTE.sub(_without_macro, data) if name in _C_FAMILY else data
    found = _by_grammar(name, known)
    if isinstance(found, NotParsed):
        return found
    found = found._replace(data=data)
    if not found.tree.root_node.has_error or found.errors_without_end:
        return found
    lines = b"\n" + known
    others = [
        other for other, signs in INSTEAD.get(name, {}).items() if any(sign.search(lines) for sign in signs)
    ]
    for stumble in STUMBLES if name in _C_FAMILY else ():
        lines = stumble.sub(_blanks, lines)
    plain = lines[1:]
    for each in (name, *others) if plain != known else others:
        tried = _by_grammar(each, plain)
        if isinstance(tried, Read) and _error_count(tried) <= _error_count(found):
            found = tried._replace(data=data)
    return found


def _without_macro(found: re.Match[bytes]) -> bytes:
    """The match with blanks in place of its macro."""
    return found[0].replace(found["macro"], b" " * len(found["macro"]), 1)


def _blanks(found: re.Match[bytes]) -> bytes:
    """The first character, and blanks for the others."""
    return found[0][:1].ljust(len(found[0]))


def understood(language: str, text: str) -> Read | NotParsed:
    """A text as its best grammar reads it; NotParsed if it is mostly errors."""
    found = read(language, text)
    if isinstance(found, NotParsed):
        return found
    return NotParsed(NOT_UNDERSTOOD) if found.errors_without_end or found.mostly_errors else found


def _by_grammar(name: str, data: bytes) -> Read | NotParsed:
    try:
        grammar = load_grammar(name)
    except GrammarFailed:
        return NotParsed(f"the grammar for {name} could not be loaded")
    tree = _parse(grammar.parser, data)
    return NotParsed(TOOK_LONG) if tree is None else Read(grammar, tree, data)


def _parse(parser: Parser, data: bytes) -> Tree | None:
    """The tree of a text, or None if it takes too long."""
    used = time.thread_time()
    while time.thread_time() - used < MOST_SECONDS:
        try:
            return parser.parse(data)
        except ValueError:  # the end of a slice of time
            continue
    parser.reset()
    return None


def in_time(query: Callable[[], T]) -> T | None:
    """The matches of a query, or None if it takes too long."""
    for _ in range(MOST_TRIES):
        begun, used = time.monotonic(), time.thread_time()
        found = query()
        if time.monotonic() - begun < QUERY_MICROS / 1e6:
            return found
        if time.thread_time() - used > MOST_SECONDS:
            break
    return None


def matches_of(found: Read) -> list[Match] | None:
    """The matches of a grammar's query in a text, or None if that takes too long.

    Places that are captured as `@again` (bodies of macros) are parsed as texts of their own and asked too;
    all nodes stand where they stand in the whole text.
    """
    grammar, tree, data = found
    used = time.thread_time()
    matches = in_time(partial(grammar.outline.matches, tree.root_node))
    todo = list(_again(grammar, data, matches or ()))
    for _ in range(MOST_AGAIN):
        if matches is None or not todo or time.thread_time() - used > MOST_SECONDS:
            break
        more = in_time(partial(grammar.outline.matches, todo.pop().root_node)) or []
        matches += more
        todo += _again(grammar, data, more)
    return matches


def _again(grammar: Grammar, data: bytes, matches: Sequence[Match]) -> Iterator[Tree]:
    """The places that are to be read again, the brackets around them left off."""
    nodes = (node for _, captures in matches for node in captures.get("again", ()))
    for node in islice(nodes, MOST_AGAIN):
        first, last = node.children[0], node.children[-1]
        inner = Range(first.end_point, last.start_point, first.end_byte, last.start_byte)
        tree = _parse(grammar.parser_for(inner), data)
        if tree is not None:
            yield tree


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
    return sum(map(_length, errors)) - sum(_length(each) for each in read if not each.is_error)


def _error_count(found: Read) -> int:
    """How many places of a text its grammar cannot read; too many to count are more than any."""
    if found.errors_without_end:
        return sys.maxsize
    captures = in_time(partial(found.grammar.errors.captures, found.tree.root_node))
    return sys.maxsize if captures is None else len(captures.get("error", ()))


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


def error_line(root: Node, newer: Collection[int]) -> int | None:
    """The first line that the grammar cannot read, but for errors that its query file knows."""
    todo = [root] if root.has_error else []
    for _ in range(MOST_ERROR_STEPS):
        if not todo:
            break
        node = todo.pop()
        if node.is_missing:
            return _row(node)
        if not node.is_error:
            todo.extend(each for each in reversed(node.children) if each.has_error or each.is_missing)
        elif node.id not in newer:
            return _row(next((each for each in node.children if _is_stray(each)), node))
    return None


def _is_stray(node: Node) -> bool:
    """Whether a part of an error is a stray token that means nothing by itself."""
    return node.is_error or not node.is_named


def _row(node: Node) -> int:
    row: int = node.start_point.row
    return row + 1
