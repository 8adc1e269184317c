"""From the captures of a query to definitions: the same rules for every language.

A match that captures `@name` and a kind (`@function`, `@class` …) is a definition. Several matches of one
name are one definition: the first pattern in the query file says its kind, the widest node its lines, so
that an `export` or a decorator around it belongs to it. What stands right above it, attributes and comments
without a blank line between, belongs to it too.
"""

from __future__ import annotations

import re
<<<<<<< HEAD
from bisect import bisect_left
=======
>>>>>>> 60e036f (syntax: rules for captures in linear time, and what is read in part)
from collections.abc import Iterable, Iterator, Sequence

from attrs import define
from tree_sitter import Node

from context_pack.kernel.sentences import one_line
from context_pack.kernel.syntax import Definition, DefinitionKind
from context_pack_adapters.syntax.above import Above, last_row
from context_pack_adapters.syntax.comment_text import comment_text
from context_pack_adapters.syntax.import_captures import Match

MOST_DEFINITIONS = 5_000
LONGEST_SIGNATURE = 400
LONGEST_NAME = 200
LONGEST_PREFIX = 500
"""Definitions nest without end: a prefix that is longer does not grow any more."""
MOST_DOC_CHARS = 2_000
_SIGNATURE_END = re.compile(r"(?:[\s:{=;]|[-=]>)++\Z")
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
        if other.pattern < self.pattern:
            self.pattern, self.kind = other.pattern, other.kind
        if _length(other.node) > _length(self.node):
            self.node = other.node
        self.body = self.body or other.body
        self.owner = self.owner or other.owner
        self.docstring = self.docstring or other.docstring


<<<<<<< HEAD
@define
class Above:
    """The lines that belong to what follows them: comments and attributes without code beside them.

    Comments are added in the order of the text.
    """

    data: bytes
    _comment_spans: list[tuple[int, int]] = field(factory=list)
    _comments: dict[int, Node] = field(factory=dict)
    _attributes: dict[int, Node] = field(factory=dict)
    _ends: dict[int, int] = field(factory=dict)

    def add(self, node: Node, *, comment: bool) -> None:
        """One comment or attribute."""
        self._ends[node.start_byte] = node.end_byte
        if comment:
            self._comment_spans.append(node.byte_range)
        line = self.data.rfind(b"\n", 0, node.start_byte) + 1
        if not self.data[line : node.start_byte].strip():
            (self._comments if comment else self._attributes)[last_row(node)] = node

    def first_row(self, row: int) -> tuple[int, list[Node]]:
        """The first row of what stands right above a row, and the comments in it from top to bottom."""
        first, comments = row, []
        while row - first < MOST_ABOVE:
            comment = self._comments.get(first - 1)
            node = comment or self._attributes.get(first - 1)
            if node is None or node.start_point.row >= first or not self._ends_line(node):
                break
            if comment is not None:
                comments.append(comment)
            first = node.start_point.row
        return first, comments[::-1]

    def _ends_line(self, node: Node) -> bool:
        """Whether no code follows a node on its line."""
        end = self.data.find(b"\n", node.end_byte - 1)
        return self.past_attributes(node.end_byte, end if end >= 0 else len(self.data)) >= end

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
            begin = start + len(self.data[start:end]) - len(self.data[start:end].lstrip())
            after = self._ends.get(begin)
            if after is None:
                return begin
            start = after
        return start


=======
>>>>>>> 60e036f (syntax: rules for captures in linear time, and what is read in part)
def definitions(matches: Iterable[Match], above: Above) -> Iterator[Definition]:
    """The definitions that the matches say, in the order of their beginnings."""
    candidates = _candidates(matches)
    open_scopes: list[tuple[int, str, bool, int]] = []  # end, prefix inside, is a container, depth inside
    for each in sorted(candidates, key=lambda found: (found.node.start_byte, -found.node.end_byte)):
        while open_scopes and open_scopes[-1][0] <= each.node.start_byte:
            open_scopes.pop()
        _, prefix, in_container, depth = open_scopes[-1] if open_scopes else (0, "", False, 0)
        name = _text(each.name)[:LONGEST_NAME]
        owner = _text(each.owner)[:LONGEST_NAME] if each.owner is not None else ""
        qualified = f"{owner}.{name}" if owner else prefix + name
        inner = f"{qualified}." if len(qualified) < LONGEST_PREFIX else prefix
        if each.kind is None:
            open_scopes.append((each.node.end_byte, inner, True, depth))
            continue
        kind = each.kind
        if kind is DefinitionKind.FUNCTION and (in_container or owner):
            kind = DefinitionKind.METHOD
        open_scopes.append((each.node.end_byte, inner, kind.holds_members, depth + 1))
        yield _definition(each, kind, name, qualified, depth, above)


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
<<<<<<< HEAD
    head = above.code(begin, min(end, begin + 4 * LONGEST_SIGNATURE))
    said = [each.docstring] if each.docstring is not None else comments
    doc = "\n".join(comment_text(_text(node)) for node in said)
=======
    head = above.data[begin : min(end, begin + 4 * LONGEST_SIGNATURE)].decode("utf-8", "replace")
>>>>>>> 60e036f (syntax: rules for captures in linear time, and what is read in part)
    return Definition(
        kind,
        name,
        qualified,
        first + 1,
        last_row(each.node) + 1,
        each.name.start_point.row + 1,
        _SIGNATURE_END.sub("", one_line(head, LONGEST_SIGNATURE)),
        _doc([each.docstring] if each.docstring is not None else comments, above.data),
        depth,
    )


<<<<<<< HEAD
def imports(matches: Sequence[Match], hows: Sequence[str], above: Above) -> list[Import]:
    """The imports that the matches say, in order; the names taken from one specifier stand together.

    Where several patterns match one import, the first in the query file says `how`.
    """
    found: dict[tuple[int, int], tuple[int, Node, Node, dict[str, None]]] = {}
    for pattern, captures in matches:
        whole, specifier = captures.get("import"), captures.get("specifier")
        if whole is None or specifier is None or len(found) >= MOST_IMPORTS:
            continue
        key = (whole[0].start_byte, specifier[0].start_byte)
        known = found.get(key, (pattern, whole[0], specifier[0], {}))
        known[3].update(dict.fromkeys(_text(node) for node in captures.get("imported", ())))
        found[key] = (min(pattern, known[0]), *known[1:])
    modules = sorted(_modules(matches))
    return [
        Import(
            above.code(node.start_byte, node.end_byte),
            tuple(names),
            whole.start_point.row + 1,
            hows[pattern],
            tuple(name for start, end, name in modules if start < whole.start_byte < end),
        )
        for _, (pattern, whole, node, names) in sorted(found.items(), key=lambda item: item[0])
    ]


def _modules(matches: Iterable[Match]) -> Iterator[tuple[int, int, str]]:
    """Where the modules are that are written inside the text."""
    for _, captures in matches:
        if "module" in captures and "name" in captures:
            node = captures["module"][0]
            yield node.start_byte, node.end_byte, _text(captures["name"][0])


def last_row(node: Node) -> int:
    """The last row that holds something of a node; a final line feed may belong to it."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row
=======
def _doc(nodes: Iterable[Node], data: bytes) -> str:
    """What comments or a docstring say together; no more of them is read than is kept."""
    said: list[str] = []
    left = MOST_DOC_CHARS
    for node in nodes:
        written = data[node.start_byte : min(node.end_byte, node.start_byte + 4 * left)]
        said.append(comment_text(written.decode("utf-8", "replace")))
        left -= len(said[-1]) + 1
        if left <= 0:
            break
    return "\n".join(said)[:MOST_DOC_CHARS].strip()
>>>>>>> 60e036f (syntax: rules for captures in linear time, and what is read in part)


def _only(nodes: Sequence[Node] | None) -> Node | None:
    return nodes[0] if nodes else None


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
