"""From the captures of a query to definitions: the same rules for every language.

A match that captures `@name` and a kind (`@function`, `@class` …) is a definition. Several matches of one
name are one definition: the first pattern in the query file says its kind, the widest node its lines, so
that an `export` or a decorator around it belongs to it. What stands right above it, attributes and comments
without a blank line between, belongs to it too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attrs import define, field
from tree_sitter import Node

from context_pack.kernel.syntax import Definition, DefinitionKind, Import
from context_pack.kernel.text import one_line
from context_pack_adapters.syntax.comments import CommentsAbove, comments_text, last_row, text_of

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
    written = {
        each.qualified
        for candidate, each in found
        if not candidate.prototype and each.kind is not DefinitionKind.CONSTANT  # `#define free own_free`
    }
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


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


MOST_IMPORTS = 20_000
MOST_MODULES, MOST_INSIDE = 500, 64
"""Inline modules, and how deep they are told; they nest without end."""
_QUOTES = frozenset("\"'`")

Match = tuple[int, dict[str, list[Node]]]


@define
class _WrittenImport:
    """The merged matches of one import specifier."""

    pattern: int
    whole: Node
    specifier: Node
    names: dict[str, None] = field(factory=dict)


def imports(matches: Sequence[Match], hows: Sequence[str], above: CommentsAbove) -> list[Import]:
    """The imports that the matches say, in order; the names taken from one specifier stand together.

    `hows` says the kind of import by the number of its pattern; of several for one import the first counts.
    """
    found: dict[tuple[int, int], _WrittenImport] = {}
    for pattern, captures in matches:
        whole, specifier = captures.get("import"), captures.get("specifier")
        if whole is None or specifier is None or len(found) >= MOST_IMPORTS:
            continue
        key = (whole[0].start_byte, specifier[0].start_byte)
        written = found.setdefault(key, _WrittenImport(pattern, whole[0], specifier[0]))
        written.pattern = min(pattern, written.pattern)
        written.names.update(dict.fromkeys(text_of(node) for node in captures.get("imported", ())))
    modules = sorted(_modules(matches))[:MOST_MODULES] if found else []
    return [
        Import(
            _specifier(each.specifier, above),
            tuple(each.names),
            each.whole.start_point.row + 1,
            hows[each.pattern],
            tuple(name for first, end, name in modules if first < start < end)[:MOST_INSIDE],
        )
        for (start, _), each in sorted(found.items(), key=lambda item: item[0])
    ]


def _modules(matches: Iterable[Match]) -> Iterator[tuple[int, int, str]]:
    """Where the modules are that are written inside the text."""
    for _, captures in matches:
        if "module" in captures and "name" in captures:
            node = captures["module"][0]
            yield node.start_byte, node.end_byte, text_of(captures["name"][0])


def _specifier(node: Node, above: CommentsAbove) -> str:
    """The text of a specifier without its quotes and comments."""
    said = above.code(node.start_byte, node.end_byte)
    quoted = len(said) > 1 and said[0] == said[-1] and said[0] in _QUOTES
    return said[1:-1] if quoted else said


def without_dead_code(matches: Sequence[Match]) -> Sequence[Match]:
    """The matches outside of each `@dead` node; the `@live` node in one is no part of it."""
    dead = sorted(_dead(matches))
    if not dead:
        return matches
    starts: list[int] = []
    ends: list[int] = []
    for start, end in dead:
        starts.append(start)
        ends.append(max(end, ends[-1] if ends else 0))
    return [match for match in matches if not _is_inside(_place(match), starts, ends)]


def _dead(matches: Sequence[Match]) -> Iterator[tuple[int, int]]:
    for _, captures in matches:
        for node in captures.get("dead", ()):
            end: int = node.end_byte
            for live in captures.get("live", ()):
                yield live.end_byte, end
                end = live.start_byte
            yield node.start_byte, end


def _place(match: Match) -> int:
    """Where a definition or import stands; -1 for other matches, which count everywhere."""
    nodes = match[1].get("name") or match[1].get("specifier")
    return nodes[0].start_byte if nodes else -1


def _is_inside(place: int, starts: Sequence[int], ends: Sequence[int]) -> bool:
    before = bisect_right(starts, place)
    return before > 0 and place < ends[before - 1]
