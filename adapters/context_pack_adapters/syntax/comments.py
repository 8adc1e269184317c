"""Comments and attributes right above a definition that belong to it, and the words of comments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from inspect import cleandoc

from attrs import define, field
from tree_sitter import Node

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
            found = comment or self._attributes.get(first - 1)
            if found is None or found.start_point.row >= first or not self._ends_line(found):
                break
            if comment is not None:
                comments.append(comment)
            first = found.start_point.row
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
    if (found := _DOCSTRING.match(written)) is not None:
        return cleandoc(found["text"])
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
    found = pattern.match(data, start)
    return start if found is None else found.end()
