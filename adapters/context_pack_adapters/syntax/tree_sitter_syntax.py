"""The `Syntax` port on tree-sitter: bounded in size and time, one text at a time for each grammar.

A parser holds the interpreter while it works, so that threads would not make it faster; the lock only keeps
two of them from one parser. Components (Vue, Svelte) are parsed as their scripts, with the rest blanked.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any

from tree_sitter import Node, Tree

from context_pack.kernel.syntax import NotParsed, Parsed, Spans
from context_pack_adapters.child_limits import limit_memory, limit_time
from context_pack_adapters.syntax.captures import Match, definitions, imports, without_dead_code
from context_pack_adapters.syntax.comments import CommentsAbove, comments_text, last_row, text_of
from context_pack_adapters.syntax.languages import KNOWN
from context_pack_adapters.syntax.recovery import misread_lines, unread_lines, with_recovered
from context_pack_adapters.syntax.trees import (
    NOT_UNDERSTOOD,
    TOOK_LONG,
    Read,
    error_line,
    in_time,
    matches_of,
    read,
    understood,
)

MOST_HEADS = 8
MOST_HEAD_CHARS = 4_000
MOST_OCCURRENCES = 10_000
_NO_CODE = re.compile("string|comment|text|content|regex|heredoc|char")
"""Kinds of leaves that can spell a name without being one."""
_SPELLED = frozenset({"variable_name", "operator_name", "destructor_name", "setter"})
"""Names of several parts: `$user` of PHP, `operator==` and `~A` of C++, `name=` of Ruby."""
_OPERATOR = re.compile(rb"operator(?=[^\w\s])")
_UNREAD_CODE = re.compile(rb"(?![ \t]*[*#])(?:[^\"'`/]|/(?![/*])|\"[^\"]*\"|'[^']*'|`)*")
"""The beginning of a line, up to a name, where a grammar could read nothing: no comment, no open string."""
_NO_BEGINNINGS = bytes(range(0x80, 0xC0))
"""Bytes that continue a character; a node may end inside one that is no valid UTF-8."""


class TreeSitterSyntax:
    """Parses the languages of `grammars`; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()

    def knows(self, language: str) -> bool:
        """Whether there is a grammar for a language."""
        return language in KNOWN

    def parse(self, language: str, text: str) -> Parsed | NotParsed:
        """The definitions and imports of a text."""
        with self._lock:
            found = read(language, text)
            if isinstance(found, NotParsed):
                return found
            if found.errors_without_end:
                return NotParsed(NOT_UNDERSTOOD)
            matches = matches_of(found)
            if matches is None:
                return NotParsed(TOOK_LONG)
            parsed = _parsed(without_dead_code(matches), found)
            return NotParsed(NOT_UNDERSTOOD, parsed) if found.mostly_errors else parsed

    def parse_all(self, texts: Iterable[tuple[str, str]]) -> Iterator[Parsed | NotParsed]:
        """The definitions and imports of each text, given with its language."""
        return (self.parse(language, text) for language, text in texts)

    def spans(self, language: str, text: str) -> Spans | NotParsed:
        """Where the comments and strings of a text are."""
        with self._lock:
            found = understood(language, text)
            if isinstance(found, NotParsed):
                return found
            grammar, tree, data = found
            captures = in_time(lambda: grammar.spans.captures(tree.root_node))
            if captures is None:
                return NotParsed(TOOK_LONG)
            comments, strings = (
                _characters(data, _outermost(captures.get(name, ()))) for name in ("comment", "string")
            )
            return Spans(comments, strings)

    def occurrences(self, language: str, text: str, name: str) -> Sequence[int] | NotParsed:
        """Where an identifier stands that is `name`."""
        with self._lock:
            found = understood(language, text)
            if isinstance(found, NotParsed):
                return found
            _, tree, data = found
            places = [(at, at) for at in _identifiers(tree, data, name.encode())]
            return [start for start, _ in _characters(data, places)]


def _parsed(matches: Sequence[Match], found: Read) -> Parsed:
    grammar, tree, data = found
    above = CommentsAbove(data)
    heads: list[Node] = []
    package = ""
    newer: set[int] = set()
    exports: dict[str, None] = {}
    first = len(data)
    for _, captures in matches:
        for node in captures.get("comment", ()):
            above.add(node, comment=True)
            heads.append(node)
        for node in captures.get("attribute", ()):
            above.add(node, comment=False)
        heads.extend(captures.get("head", ()))
        newer.update(node.id for node in captures.get("newer", ()))
        exports.update(dict.fromkeys(map(text_of, captures.get("exported", ()))))
        if not package and (named := captures.get("package")):
            package = text_of(named[0])
        if "name" in captures or "import" in captures:
            first = min(first, *(node.start_byte for nodes in captures.values() for node in nodes))
    found_definitions = definitions(matches, above)
    unread = unread_lines(tree.root_node, newer)
    lines = [*unread, *(misread_lines(tree.root_node) if grammar.name == "kotlin" else ())]
    if lines:
        found_definitions = with_recovered(grammar.name, data, lines, found_definitions)
    return Parsed(
        tuple(found_definitions),
        tuple(imports(matches, grammar.hows, above)),
        package,
        tuple(_heads(heads, first, data)),
        tuple(exports),
        error_line(tree.root_node, newer),
        tuple(unread),
    )


def _heads(nodes: Sequence[Node], first: int, data: bytes) -> Iterator[str]:
    """The comments before the first code, runs of line comments as one, and the docstring among them.

    A first line that names an interpreter is none of them.
    """
    runs: list[list[Node]] = []
    for node in sorted(nodes, key=lambda each: each.start_byte):
        if node.start_byte >= first or len(runs) > MOST_HEADS:
            break
        if not node.start_byte and data.startswith(b"#!"):
            continue
        if runs and _continues(runs[-1][-1], node):
            runs[-1].append(node)
        else:
            runs.append([node])
    for run in runs[:MOST_HEADS]:
        yield comments_text(run, data, MOST_HEAD_CHARS)


def _continues(one: Node, other: Node) -> bool:
    """Whether two comments are lines of one text."""
    apart = other.start_point.row - last_row(one)
    return (
        apart <= 1
        and one.type == other.type
        and not any(text_of(each).startswith(("/*", "<!--")) for each in (one, other))
    )


def _identifiers(tree: Tree, data: bytes, name: bytes) -> Iterator[int]:
    spelled = re.escape(name)
    if sign := _OPERATOR.match(name):  # `operator ==` is `operator==`
        spelled = rb"operator\s*" + re.escape(name[sign.end() :])
    word = re.compile(rb"(?<![\w$])" + spelled + (rb"(?![\w$])" if name[-1:].isalnum() else b""))
    found = 0
    for match in word.finditer(data):
        node = tree.root_node.descendant_for_byte_range(match.start(), match.end())
        if node is None:
            continue
        whole = node.byte_range == match.span() and _is_identifier(node)
        unread = node.is_error and _UNREAD_CODE.fullmatch(data[: match.start()].rpartition(b"\n")[2])
        if whole or unread or (node.type == "operator_cast" and node.start_byte == match.start()):
            yield match.start()
            found += 1
            if found >= MOST_OCCURRENCES:
                return


def _is_identifier(node: Node) -> bool:
    is_one = not node.child_count or node.type in _SPELLED
    return node.is_named and is_one and _NO_CODE.search(node.type) is None


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
        begin = counted + len(data[at:start].translate(None, _NO_BEGINNINGS))
        counted = begin + len(data[start:end].translate(None, _NO_BEGINNINGS))
        at = end
        found.append((begin, counted))
    return tuple(found)


IDLE_SECONDS = 60.0
SECONDS_EACH = 10.0


def serve(descriptor: int) -> None:
    """Worker loop: each question is the name of a method and its arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for those who started us
    limit_memory()
    syntax, questions = TreeSitterSyntax(), Connection(descriptor)
    while questions.poll(IDLE_SECONDS):
        try:
            method, *arguments = questions.recv()
        except EOFError:
            return
        limit_time(SECONDS_EACH)
        answer = _answer(syntax, method, arguments)
        limit_time(0)
        questions.send(answer)


def _answer(syntax: TreeSitterSyntax, method: str, arguments: list[str]) -> Any:
    try:
        return getattr(syntax, method)(*arguments)
    except Exception as error:
        return NotParsed(f"parsing it failed inside ({type(error).__name__})")
