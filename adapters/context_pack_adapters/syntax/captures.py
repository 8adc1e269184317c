"""From the captures of a query to definitions: the same rules for every language.

A match that captures `@name` and a kind (`@function`, `@class` …) is a definition. Several matches of one
name are one definition: the first pattern in the query file says its kind, the widest node its lines, so
that an `export` or a decorator around it belongs to it. What stands right above it, attributes and comments
without a blank line between, belongs to it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attrs import define
from tree_sitter import Node

from context_pack.kernel.sentences import one_line
from context_pack.kernel.syntax import Definition, DefinitionKind
from context_pack_adapters.syntax.above import CommentsAbove, comments_text, last_row, text_of
from context_pack_adapters.syntax.import_captures import Match

MOST_DEFINITIONS = 5_000
LONGEST_SIGNATURE = 400
LONGEST_NAME = 200
LONGEST_PREFIX = 500
"""Definitions nest without end: a prefix that is longer does not grow any more."""
MOST_DOC_CHARS = 2_000
_SIGNATURE_END = re.compile(r"(?:[-=]>|[\s:{=;\\])++\Z")
"""What leads from a signature to its body."""

_KINDS = {kind.value: kind for kind in DefinitionKind}
_SCOPE = "scope"
"""Qualifies the names inside it without being a definition, as `impl` does."""


@define
class _Candidate:
    """The merged matches of one name."""

    pattern: int
    kind: DefinitionKind | None
    node: Node
    name: Node
    body: Node | None
    owner: Node | None
    docstring: Node | None
    prototype: bool

    def merge(self, other: _Candidate) -> None:
        """Take what another match of the same name adds."""
        if _length(other.node) > _length(self.node):
            self.node = other.node
        if other.pattern < self.pattern:
            self.pattern, self.kind = other.pattern, other.kind
            self.body = other.body or self.body
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
    found = list(_qualified(_candidates(matches), above))
    written = {definition.qualified for candidate, definition in found if not candidate.prototype}
    return [each for candidate, each in found if not candidate.prototype or each.qualified not in written]


def _qualified(
    candidates: Iterable[_Candidate], above: CommentsAbove
) -> Iterator[tuple[_Candidate, Definition]]:
    """The candidates in the order of their beginnings, as definitions with qualified names."""
    around: list[_Scope] = []
    for each in sorted(candidates, key=lambda found: (found.node.start_byte, -found.node.end_byte)):
        while around and not around[-1].is_around(each.node):
            around.pop()
        prefix, in_container, depth = around[-1][1:] if around else ("", False, 0)
        if each.prototype and depth and not in_container:
            continue
        name = text_of(each.name)[:LONGEST_NAME]
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
    found: dict[int, _Candidate] = {}
    for pattern, captures in matches:
        name = captures.get("name")
        if name is None or len(found) >= MOST_DEFINITIONS:
            continue
        kind = next((each for each in captures if each in _KINDS or each == _SCOPE), None)
        if kind is None:
            continue
        node = captures[kind][0]
        while node.id in wholes:
            node = wholes[node.id]
        candidate = _Candidate(
            pattern,
            _KINDS.get(kind),
            node,
            name[0],
            _only(captures.get("body")),
            _only(captures.get("owner")),
            _only(captures.get("docstring")),
            "prototype" in captures,
        )
        known = found.setdefault(name[0].start_byte, candidate)
        if known is not candidate:
            known.merge(candidate)
    return found.values()


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


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte
