"""From the captures of a query to definitions: the same rules for every language.

A match that captures `@name` and a kind (`@function`, `@class` …) is a definition. Several matches of one
name are one definition: the first pattern in the query file says its kind, the widest node its lines, so
that an `export` or a decorator around it belongs to it. What stands right above it, attributes and comments
without a blank line between, belongs to it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attrs import define
from tree_sitter import Node

from context_pack.kernel.sentences import one_line
from context_pack.kernel.syntax import Definition, DefinitionKind
from context_pack_adapters.syntax.above import Above, comments_text, last_row
from context_pack_adapters.syntax.import_captures import Match

MOST_DEFINITIONS = 5_000
LONGEST_SIGNATURE = 400
LONGEST_NAME = 200
LONGEST_PREFIX = 500
"""Definitions nest without end: a prefix that is longer does not grow any more."""
MOST_DOC_CHARS = 2_000
_SIGNATURE_END = re.compile(r"(?:[-=]>|[\s:{=;])++\Z")
"""What leads from a signature to its body."""

_KINDS = {kind.value: kind for kind in DefinitionKind}
_SCOPE = "scope"
"""Qualifies the names inside it without being a definition, as `impl` does."""


@define
class _Candidate:
    """What the matches of one name say together."""

    pattern: int
    kind: DefinitionKind | None
    node: Node
    name: Node
    body: Node | None
    owner: Node | None
    docstring: Node | None

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


def definitions(matches: Iterable[Match], above: Above) -> Iterator[Definition]:
    """The definitions that the matches say, in the order of their beginnings."""
    candidates = _candidates(matches)
    open_scopes: list[tuple[Node, str, bool, int]] = []  # prefix inside, is a container, depth inside
    for each in sorted(candidates, key=lambda found: (found.node.start_byte, -found.node.end_byte)):
        while open_scopes and not _is_inside(each.node, open_scopes[-1][0]):
            open_scopes.pop()
        prefix, in_container, depth = open_scopes[-1][1:] if open_scopes else ("", False, 0)
        name = _text(each.name)[:LONGEST_NAME]
        owner = _text(each.owner)[:LONGEST_NAME] if each.owner is not None else ""
        qualified = f"{owner}.{name}" if owner else prefix + name
        inner = f"{qualified}." if len(qualified) < LONGEST_PREFIX else prefix
        if each.kind is None:
            open_scopes.append((each.node, inner, True, depth))
            continue
        kind = each.kind
        if kind is DefinitionKind.FUNCTION and (in_container or owner):
            kind = DefinitionKind.METHOD
        has_methods = kind.holds_members and kind is not DefinitionKind.MODULE
        open_scopes.append((each.node, inner, has_methods, depth + 1))
        yield _definition(each, kind, name, qualified, depth, above)


def _is_inside(node: Node, other: Node) -> bool:
    """Whether a node that begins later is part of another; the names of one statement are not."""
    return node.start_byte < other.end_byte and node.byte_range != other.byte_range


def _candidates(matches: Iterable[Match]) -> Iterable[_Candidate]:
    found: dict[int, _Candidate] = {}
    for pattern, captures in matches:
        name = captures.get("name")
        if name is None or len(found) >= MOST_DEFINITIONS:
            continue
        kind = next((each for each in captures if each in _KINDS or each == _SCOPE), None)
        if kind is None:
            continue
        candidate = _Candidate(
            pattern,
            _KINDS.get(kind),
            captures[kind][0],
            name[0],
            _only(captures.get("body")),
            _only(captures.get("owner")),
            _only(captures.get("docstring")),
        )
        known = found.setdefault(name[0].start_byte, candidate)
        if known is not candidate:
            known.merge(candidate)
    return found.values()


def _definition(
    each: _Candidate, kind: DefinitionKind, name: str, qualified: str, depth: int, above: Above
) -> Definition:
    first, comments = above.of(each.node)
    begin = above.past_attributes(each.node.start_byte, each.name.start_byte)
    end = each.body.start_byte if each.body is not None else each.node.end_byte
    head = above.code(begin, min(end, begin + 4 * LONGEST_SIGNATURE))
    return Definition(
        kind,
        name,
        qualified,
        first + 1,
        last_row(each.node) + 1,
        each.name.start_point.row + 1,
        _SIGNATURE_END.sub("", one_line(head, LONGEST_SIGNATURE)),
        comments_text(
            [each.docstring] if each.docstring is not None else comments, above.data, MOST_DOC_CHARS
        ),
        depth,
    )


def _only(nodes: Sequence[Node] | None) -> Node | None:
    return nodes[0] if nodes else None


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
