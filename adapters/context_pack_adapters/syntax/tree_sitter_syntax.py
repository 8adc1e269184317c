"""The `Syntax` port on tree-sitter: bounded in size and time, one text at a time for each grammar.

A parser holds the interpreter while it works, so that threads would not make it faster; the lock only keeps
two of them from one parser. Time is what the thread itself used: a busy machine makes no text unreadable.
Components (Vue, Svelte) are parsed as their scripts, with the rest blanked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from threading import Lock
from typing import TypeVar

from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from context_pack.kernel.syntax import NotParsed, Parsed, Spans, no_grammar
from context_pack_adapters.syntax.above import Above, comments_text
from context_pack_adapters.syntax.captures import definitions
from context_pack_adapters.syntax.components import COMPONENTS, scripts_of
from context_pack_adapters.syntax.grammars import (
    QUERY_MICROS,
    Grammar,
    GrammarFailed,
    load_grammar,
)
from context_pack_adapters.syntax.import_captures import Match, imports
from context_pack_adapters.syntax.left_out import without_dead_code
from context_pack_adapters.syntax.sources import grammar_name, knows

T = TypeVar("T")

MOST_BYTES = 1024 * 1024
MOST_SECONDS = 2.0
"""How long a text may be parsed, and asked by a query."""
MOST_TRIES = 2
MOST_PARTS = 20_000
MOST_HEADS = 8
MOST_HEAD_CHARS = 4_000
INSTEAD = {
    "c": {
        "objectivec": re.compile(rb"^[ \t]*@(?:interface|protocol|class)\b", re.MULTILINE),
        "cpp": re.compile(
            rb"\w::\w|^[ \t]*(?:class|namespace|template|public|private|using)\b", re.MULTILINE
        ),
    },
    "javascript": {"tsx": re.compile(b"")},
}
"""What to look for, and which grammar to try then, where one reads a text with errors: headers may be C++ or
Objective-C, JavaScript may have types."""
TOO_LONG = "it is larger than 1 MiB"
TOOK_LONG = "parsing it took too long"
NOT_UNDERSTOOD = "its grammar cannot read it"

MOST_ERROR_STEPS = 10_000
MOST_OCCURRENCES = 10_000
_NO_CODE = re.compile("string|comment|text|content|regex|heredoc|char")
"""Kinds of leaves that can spell a name without being one."""


class TreeSitterSyntax:
    """Parses the languages of `grammars`; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return knows(language)

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text."""
        with self._lock:
            found = _tree(language, text)
            if isinstance(found, NotParsed):
                return found
            grammar, tree, data = found
            if _errors_without_end(tree):
                return NotParsed(NOT_UNDERSTOOD)
            matches = _in_time(lambda: grammar.outline.matches(tree.root_node))
            if matches is None:
                return NotParsed(TOOK_LONG)
            parsed = _parsed(without_dead_code(matches), grammar, tree, data)
            return NotParsed(NOT_UNDERSTOOD, parsed) if _mostly_errors(tree, data) else parsed

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are."""
        with self._lock:
            found = _understood(language, text)
            if isinstance(found, NotParsed):
                return found
            grammar, tree, data = found
            captures = _in_time(lambda: grammar.spans.captures(tree.root_node))
            if captures is None:
                return NotParsed(TOOK_LONG)
            comments, strings = (
                _characters(data, _outermost(captures.get(name, ()))) for name in ("comment", "string")
            )
            return Spans(comments, strings)

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands that is `name`."""
        with self._lock:
            found = _understood(language, text)
            if isinstance(found, NotParsed):
                return found
            _, tree, data = found
            places = [(at, at) for at in _identifiers(tree, data, name.encode())]
            return [start for start, _ in _characters(data, places)]


def _in_time(query: Callable[[], T]) -> T | None:
    """What a query finds, or None if it takes too long; it does not say that its limit stopped it."""
    for _ in range(MOST_TRIES):
        begun, used = time.monotonic(), time.thread_time()
        found = query()
        if time.monotonic() - begun < QUERY_MICROS / 1e6:
            return found
        if time.thread_time() - used > MOST_SECONDS:
            break
    return None


def _tree(language: str, text: str) -> tuple[Grammar, Tree, bytes] | NotParsed:
    """The tree of a text and the grammar that made it, or why there is none."""
    if language in COMPONENTS:
        language, text = scripts_of(text)
    name = grammar_name(language)
    if name is None:
        return no_grammar(language)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MOST_BYTES:
        return NotParsed(TOO_LONG)
    found = _by_grammar(name, data)
    if isinstance(found, NotParsed) or not found[1].root_node.has_error:
        return found
    for other, sign in INSTEAD.get(name, {}).items():
        if sign.search(data) is not None:
            tried = _by_grammar(other, data)
            if not isinstance(tried, NotParsed) and _error_count(other, tried[1]) <= _error_count(
                name, found[1]
            ):
                return tried
    return found


def _by_grammar(name: str, data: bytes) -> tuple[Grammar, Tree, bytes] | NotParsed:
    try:
        grammar = load_grammar(name)
    except GrammarFailed:
        return NotParsed(f"the grammar for {name} could not be loaded")
    tree = _parse(grammar.parser, data)
    return NotParsed(TOOK_LONG) if tree is None else (grammar, tree, data)


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


def _understood(language: str, text: str) -> tuple[Grammar, Tree, bytes] | NotParsed:
    """The tree of a text that is mostly what its grammar knows."""
    found = _tree(language, text)
    if isinstance(found, NotParsed):
        return found
    _, tree, data = found
    return NotParsed(NOT_UNDERSTOOD) if _errors_without_end(tree) or _mostly_errors(tree, data) else found


def _mostly_errors(tree: Tree, data: bytes) -> bool:
    return 2 * _error_bytes(tree) > len(data) > 0


def _errors(tree: Tree) -> list[Node]:
    """The errors at the top of a tree."""
    root = tree.root_node
    if not root.has_error:
        return []
    return [root] if root.is_error else [each for each in root.children if each.is_error]


def _errors_without_end(tree: Tree) -> bool:
    """Whether an error has so many parts that a query, which looks along them from each, would not end."""
    return any(each.child_count > MOST_PARTS for each in _errors(tree))


def _error_bytes(tree: Tree) -> int:
    """How much of a text is in errors at the top of its tree, and in no node that the grammar could read."""
    errors = _errors(tree)
    read = (each for error in errors for each in error.children if each.is_named and each.child_count)
    return sum(map(_length, errors)) - sum(_length(each) for each in read if not each.is_error)


def _error_count(grammar: str, tree: Tree) -> int:
    """How many places of a text its grammar cannot read."""
    return len(_error_cursor(grammar).captures(tree.root_node).get("error", ()))


@cache
def _error_cursor(grammar: str) -> QueryCursor:
    return QueryCursor(Query(load_grammar(grammar).language, "(ERROR) @error"))


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


def _parsed(matches: Sequence[Match], grammar: Grammar, tree: Tree, data: bytes) -> Parsed:
    above = Above(data)
    heads: list[Node] = []
    package = ""
    newer: set[int] = set()
    first = len(data)
    for _, captures in matches:
        for node in captures.get("comment", ()):
            above.add(node, comment=True)
            heads.append(node)
        for node in captures.get("attribute", ()):
            above.add(node, comment=False)
        heads.extend(captures.get("head", ()))
        newer.update(node.id for node in captures.get("newer", ()))
        if not package and (named := captures.get("package")):
            package = (named[0].text or b"").decode("utf-8", "replace")
        if "name" in captures or "import" in captures:
            first = min(first, *(node.start_byte for nodes in captures.values() for node in nodes))
    return Parsed(
        tuple(definitions(matches, above)),
        tuple(imports(matches, grammar.hows, above)),
        package,
        tuple(_heads(heads, first, data)),
        _error_line(tree.root_node, newer),
    )


def _heads(nodes: Sequence[Node], first: int, data: bytes) -> Iterator[str]:
    """The comments before the first code, runs of lines as one, and the docstring among them.

    A first line that names an interpreter is none of them.
    """
    runs: list[list[Node]] = []
    for node in sorted(nodes, key=lambda each: each.start_byte):
        if node.start_byte >= first or len(runs) > MOST_HEADS:
            break
        if not node.start_byte and data.startswith(b"#!"):
            continue
        if runs and node.start_point.row <= runs[-1][-1].end_point.row + 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    for run in runs[:MOST_HEADS]:
        yield comments_text(run, data, MOST_HEAD_CHARS)


def _error_line(root: Node, newer: Collection[int]) -> int | None:
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
    """Whether a part of what cannot be read is one that stands for nothing by itself."""
    return node.is_error or not node.is_named


def _row(node: Node) -> int:
    row: int = node.start_point.row
    return row + 1


def _identifiers(tree: Tree, data: bytes, name: bytes) -> Iterator[int]:
    word = re.compile(rb"(?<![\w$])" + re.escape(name) + rb"(?![\w$])")
    found = 0
    for match in word.finditer(data):
        node = tree.root_node.descendant_for_byte_range(match.start(), match.end())
        if node is not None and node.byte_range == match.span() and _is_identifier(node):
            yield match.start()
            found += 1
            if found >= MOST_OCCURRENCES:
                return


def _is_identifier(node: Node) -> bool:
    return node.is_named and not node.child_count and _NO_CODE.search(node.type) is None


def _outermost(nodes: Sequence[Node]) -> list[tuple[int, int]]:
    """The ranges of nodes, without those that lie in another."""
    ranges: list[tuple[int, int]] = []
    for start, end in sorted((node.byte_range for node in nodes), key=lambda each: (each[0], -each[1])):
        if not ranges or start >= ranges[-1][1]:
            ranges.append((start, end))
    return ranges


def _characters(data: bytes, ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges of bytes, in order and apart, as ranges of characters."""
    if data.isascii():
        return tuple(ranges)
    found = []
    at = counted = 0
    for start, end in ranges:
        begin = counted + len(data[at:start].decode("utf-8", "surrogatepass"))
        counted = begin + len(data[start:end].decode("utf-8", "surrogatepass"))
        at = end
        found.append((begin, counted))
    return tuple(found)
