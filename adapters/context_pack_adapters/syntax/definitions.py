"""From the captures of a query to definitions: the same rules for every language.

A match that captures `@name` and a kind (`@function`, `@class` …) is a definition. Several matches of one
name are one definition: the first pattern in the query file says its kind, the widest node its lines, so
that an `export` or a decorator around it belongs to it. What stands right above it, attributes and comments
without a blank line between, belongs to it too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from inspect import cleandoc
from operator import itemgetter
from typing import NamedTuple

from attrs import define, field
from tree_sitter import Node

from context_pack.kernel.syntax import Definition, DefinitionKind
from context_pack.kernel.text import one_line

Match = tuple[int, dict[str, list[Node]]]

MOST_DEFINITIONS = 5_000
LONGEST_SIGNATURE = 400
LONGEST_NAME = 200
LONGEST_PREFIX = 500
"""Definitions nest without end: a prefix that is longer does not grow any more."""
MOST_DOC_CHARS = 2_000
_SIGNATURE_END = re.compile(r"(?:[-=]>|[\s:{=;\\])++\Z")
"""What leads from a signature to its body."""

_OPERATOR = re.compile(r"\Aoperator\s+(?=[^\w\s\"])")

_KINDS = {kind.value: kind for kind in DefinitionKind}
_SCOPE = "scope"
"""Qualifies the names inside it without being a definition, as `impl` does."""


@define
class _Candidate:
    """The merged matches of one name; the first pattern comes first."""

    kind: DefinitionKind | None
    node: Node
    name: Node
    body: Node | None
    owner: Node | None
    docstring: Node | None
    prototype: bool

    def merge(self, other: _Candidate) -> None:
        """Take what another match of the same name adds."""
        self.node = max(self.node, other.node, key=byte_length)
        self.body = self.body or other.body
        self.owner = self.owner or other.owner
        self.docstring = self.docstring or other.docstring
        self.prototype = self.prototype and other.prototype


class _Scope(NamedTuple):
    """A definition as the scope of those inside it."""

    node: Node
    prefix: str
    has_methods: bool
    depth: int

    def is_around(self, node: Node) -> bool:
        """Whether a node that begins later is part of it; the names of one statement are not."""
        return node.start_byte < self.node.end_byte and node.byte_range != self.node.byte_range


def definitions(matches: Sequence[Match], above: CommentsAbove) -> list[Definition]:
    """The definitions that the matches say, in the order of their beginnings.

    A prototype counts outside of functions, where nothing else in the text has its qualified name.
    """
    pairs = list(_qualified(_candidates(matches), above))
    written = {
        each.qualified
        for candidate, each in pairs
        if not candidate.prototype and each.kind is not DefinitionKind.CONSTANT  # `#define free own_free`
    }
    return [each for candidate, each in pairs if not candidate.prototype or each.qualified not in written]


def _qualified(
    candidates: Iterable[_Candidate], above: CommentsAbove
) -> Iterator[tuple[_Candidate, Definition]]:
    """The candidates in the order of their beginnings, as definitions with qualified names."""
    around: list[_Scope] = []
    for each in sorted(candidates, key=lambda one: (one.node.start_byte, -one.node.end_byte)):
        while around and not around[-1].is_around(each.node):
            around.pop()
        prefix, in_container, depth = around[-1][1:] if around else ("", False, 0)
        if each.prototype and depth and not in_container:
            continue
        name = _name(each.name)
        owner = text_of(each.owner)[:LONGEST_NAME].replace("::", ".")
        qualified = f"{owner}.{name}" if owner else prefix + name
        inner = f"{qualified}." if len(qualified) < LONGEST_PREFIX else prefix
        if each.kind is None:
            around.append(_Scope(each.node, inner, True, depth))
            continue
        kind = each.kind
        if kind is DefinitionKind.FUNCTION and (in_container or owner):
            kind = DefinitionKind.METHOD
        if kind is not DefinitionKind.TYPE:
            has_methods = kind.holds_members and kind is not DefinitionKind.MODULE
            around.append(_Scope(each.node, inner, has_methods, depth + 1))
        yield each, _definition(each, kind, name, qualified, depth, above)


def _candidates(matches: Sequence[Match]) -> Iterable[_Candidate]:
    wholes = {each["part"][0].id: each["whole"][0] for _, each in matches if "whole" in each}
    by_place: dict[int, _Candidate] = {}
    for _, captures in sorted(matches, key=itemgetter(0)):
        name = captures.get("name")
        if name is None or name[0].is_missing or len(by_place) >= MOST_DEFINITIONS:
            continue
        kind = next((each for each in captures if each in _KINDS or each == _SCOPE), None)
        if kind is None:
            continue
        node = captures[kind][0]
        while node.id in wholes:
            node = wholes[node.id]
        candidate = _Candidate(
            _KINDS.get(kind),
            node,
            name[0],
            _only(captures.get("body")),
            _only(captures.get("owner")),
            _only(captures.get("docstring")),
            "prototype" in captures,
        )
        merged = by_place.setdefault(name[0].start_byte, candidate)
        if merged is not candidate:
            merged.merge(candidate)
    return by_place.values()


def _definition(
    each: _Candidate, kind: DefinitionKind, name: str, qualified: str, depth: int, above: CommentsAbove
) -> Definition:
    first, comments = above.of(each.node)
    return Definition(
        kind,
        name,
        qualified,
        first + 1,
        last_row(each.node) + 1,
        each.name.start_point.row + 1,
        _signature(each, above),
        comments_text(
            [each.docstring] if each.docstring is not None else comments, above.data, MOST_DOC_CHARS
        ),
        depth,
    )


def _name(node: Node) -> str:
    """What a node names: an operator without blanks before its sign, a conversion with its type."""
    name = _OPERATOR.sub("operator", text_of(node))
    if name == "operator" and node.parent is not None:
        name = f"{name} {text_of(node.parent.child_by_field_name('type'))}".strip()
    return name[:LONGEST_NAME]


def _signature(each: _Candidate, above: CommentsAbove) -> str:
    """The head of a definition in one line; what follows a body that stands before the name belongs to it."""
    begin = above.past_attributes(each.node.start_byte, each.name.start_byte)
    end, most = each.node.end_byte, 4 * LONGEST_SIGNATURE
    if each.body is None:
        return _headline(above.code(begin, min(end, begin + most)))
    head = above.code(begin, min(each.body.start_byte, begin + most))
    if (after := each.body.end_byte) <= each.name.start_byte:
        head += above.code(after, min(end, after + most))
    return _headline(head)


def _headline(head: str) -> str:
    return _SIGNATURE_END.sub("", one_line(head, LONGEST_SIGNATURE))


def _only(nodes: Sequence[Node] | None) -> Node | None:
    return nodes[0] if nodes else None


def byte_length(node: Node) -> int:
    """How many bytes a node spans."""
    return node.end_byte - node.start_byte


MOST_ABOVE = 200
"""How many lines above a definition may belong to it."""
MOST_INDENT = 400
"""What stands further to the right is not looked at: many things on one long line cost no search each."""
_BLANKS = re.compile(rb"\s*+")
_BLANKS_IN_LINE = re.compile(rb"[^\S\n]*+")
_DOCSTRING = re.compile(r"[rRuUbB]{0,2}(\"\"\"|'''|\"|')(?P<text>.*?)(?:\1)?\Z", re.DOTALL)
_BLOCK = re.compile(r"/\*[*!]*+|<!--|--\[=*+\[|=begin\b")
# Begins where a row of stars does: from each of very many it would be looked for to their end.
_BLOCK_END = re.compile(r"(?:(?<!\*)\*++/|\A/|-->|\]=*+\]|^=end)\Z", re.MULTILINE)
_LINE_SIGN = re.compile(r"^[ \t]*(?://[/!]*|#+!?|--+|;+|\*+(?!\*))[ \t]?", re.MULTILINE)


@define
class CommentsAbove:
    """The comments and attributes of a text, added in its order."""

    data: bytes
    _comment_spans: list[tuple[int, int]] = field(factory=list)
    _comments: dict[int, Node] = field(factory=dict)
    _attributes: dict[int, Node] = field(factory=dict)
    _ends: dict[int, int] = field(factory=dict)
    _lines_from: dict[int, int] = field(factory=dict)
    """Where a row begins behind the comments and attributes at its beginning."""

    def add(self, node: Node, *, comment: bool) -> None:
        """One comment or attribute; what was added before is not added again."""
        if node.start_byte in self._ends:
            return
        self._ends[node.start_byte] = node.end_byte
        if comment:
            self._comment_spans.append(node.byte_range)
        if self._begins_line(node):
            row = last_row(node)
            self._lines_from[row] = node.end_byte
            (self._comments if comment else self._attributes).setdefault(row, node)

    def of(self, node: Node) -> tuple[int, list[Node]]:
        """The first row of a node and what belongs to it above, and the comments there from top to bottom."""
        row: int = node.start_point.row
        if not self._begins_line(node):
            return row, []
        first, comments = row, []
        beside = self._comments.get(row)
        if beside is not None and beside.end_byte <= node.start_byte:
            first, comments = beside.start_point.row, [beside]
        while row - first < MOST_ABOVE:
            comment = self._comments.get(first - 1)
            node_above = comment or self._attributes.get(first - 1)
            if node_above is None or node_above.start_point.row >= first or not self._ends_line(node_above):
                break
            if comment is not None:
                comments.append(comment)
            first = node_above.start_point.row
        return first, comments[::-1]

    def _begins_line(self, node: Node) -> bool:
        """Whether nothing but blanks, comments and attributes is before a node on its line."""
        row, column = node.start_point
        start = node.start_byte
        begin = self._lines_from.get(row, 0)
        begin = max(start - column, begin if begin <= start else 0)
        return start - begin <= MOST_INDENT and not self.data[begin:start].strip()

    def _ends_line(self, node: Node) -> bool:
        """Whether no code follows a node on its line."""
        end = node.end_byte
        if self.data[end - 1 : end] == b"\n":
            return True
        at: int | None = end
        while at is not None:
            end = _end(_BLANKS_IN_LINE, self.data, at)
            at = self._ends.get(end)
        return self.data[end : end + 1] in (b"", b"\n")

    def code(self, begin: int, end: int) -> str:
        """The text between two places without its comments."""
        pieces, at = [], begin
        for number in range(bisect_left(self._comment_spans, (begin, begin)), len(self._comment_spans)):
            start, after = self._comment_spans[number]
            if start >= end:
                break
            pieces.append(self.data[at:start])
            at = max(at, after)
        return b"".join((*pieces, self.data[at:end])).decode("utf-8", "replace")

    def past_attributes(self, start: int, end: int) -> int:
        """Where the code of a definition begins behind the attributes and comments that it begins with."""
        while start < end:
            begin = _end(_BLANKS, self.data, start)
            after = self._ends.get(begin)
            if after is None:
                return begin
            start = after
        return start


def comments_text(nodes: Iterable[Node], data: bytes, most: int) -> str:
    """The text of comments or a docstring, read only up to the length that is kept."""
    said: list[str] = []
    left = most
    for node in nodes:
        written = data[node.start_byte : min(node.end_byte, node.start_byte + 4 * left)]
        said.append(comment_text(written.decode("utf-8", "replace")))
        left -= len(said[-1]) + 1
        if left <= 0:
            break
    return "\n".join(said)[:most].strip()


def comment_text(written: str) -> str:
    """The words of a comment, a run of comment lines or a docstring, without their signs."""
    written = written.strip()
    if (docstring := _DOCSTRING.match(written)) is not None:
        return cleandoc(docstring["text"])
    if (block := _BLOCK.match(written)) is not None:
        written = _BLOCK_END.sub("", written[block.end() :])
    return "\n".join(line.rstrip() for line in _LINE_SIGN.sub("", written).strip("\n").split("\n")).strip()


def last_row(node: Node) -> int:
    """The last row that holds something of a node; a final line feed may belong to it."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


def text_of(node: Node | None) -> str:
    """What a node spells; nothing for none."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def _end(pattern: re.Pattern[bytes], data: bytes, start: int) -> int:
    match = pattern.match(data, start)
    return start if match is None else match.end()
