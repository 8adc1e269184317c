"""CommonMark's block structure of a document: what is a heading, what is code, where blocks begin.

One pass in the manner of the specification: each line first continues the open containers (quotes and list
items), then opens new ones, then belongs to a leaf: a paragraph, a fence, indented code, HTML or a heading.
Only lines and leaves are kept, no tree: headings count at the document's level alone, and a passage is cut
between leaves. Containers deeper than `_DEEPEST` are text, and every pattern is matched without going back,
so that hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from context_pack.kernel.lines import split_lines
from context_pack.retrieval.definitions import take_definitions
from context_pack.retrieval.html_blocks import opens_html

_DEEPEST = 32
_TAB = 4

_SPACES = re.compile(" *+")
_ATX = re.compile(r"(#{1,6})(?:[ \t]|\Z)")
_SETEXT = re.compile(r"(?:=++|-++)[ \t]*+\Z")
_FENCE = re.compile(r"(`{3,}+)[^`]*+\Z|(~{3,}+)")
_RULE = re.compile(r"(?:(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:-[ \t]*+){3,}+)\Z")
_MARKER = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|\Z)")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

Kind = Literal["heading", "paragraph", "fence", "code", "html", "rule"]


class Block(NamedTuple):
    """A leaf: lines `start` to `end` (from 0, both included), `depth` containers around it."""

    kind: Kind
    start: int
    end: int
    depth: int
    item: bool = False
    """Whether a list item begins with it."""
    level: int = 0
    text: str = ""
    """The source of a heading's text."""


class Structure(NamedTuple):
    """The leaves of a document in order, and the labels its links may refer to."""

    lines: list[str]
    blocks: list[Block]
    labels: frozenset[str]


def structure(text: str, first: int = 0) -> Structure:
    """The blocks of a Markdown text; lines before `first` (front matter) belong to none."""
    lines = split_lines(text)
    scan = _Scan(lines)
    for number in range(first, len(lines)):
        scan.take(number, lines[number])
    scan.close(0)
    return Structure(lines, scan.blocks, frozenset(scan.labels))


class _Item:
    """An open container: the indentation of a list item's content (0 for a quote), and whether it has any."""

    __slots__ = ("empty", "indent")

    def __init__(self, indent: int) -> None:
        self.indent = indent
        self.empty = indent > 0


class _Scan:
    """The state between two lines: the open containers and the open leaf."""

    __slots__ = (
        "begun",
        "blocks",
        "end",
        "fence",
        "head",
        "item",
        "kind",
        "labels",
        "lines",
        "open",
        "start",
        "until",
    )

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.labels: set[str] = set()
        self.open: list[_Item] = []
        self.kind: Kind | None = None
        self.start = self.end = 0
        self.item = self.begun = False
        self.fence = self.head = ""
        self.until: re.Pattern[str] | None = None

    def take(self, number: int, raw: str) -> None:
        """Add one line."""
        if not self.open and raw[:1] in _PLAIN and self.kind in (None, "paragraph"):
            self._text(number, raw)
            return
        if not raw.strip(" \t"):
            self._nothing(number)
            return
        line = raw.replace("\r", " ").expandtabs(_TAB) if "\t" in raw else raw
        at, matched = self._continued(line)
        whole = matched == len(self.open)
        if whole and self.kind in ("fence", "html") and self._more(number, line, at):
            return
        self._opened(number, line, at, matched)

    def _nothing(self, number: int) -> None:
        """A blank line: it goes on with list items, and with code and HTML that have an end of their own."""
        full = (at for at, container in enumerate(self.open) if container.empty or not container.indent)
        matched = next(full, len(self.open))
        if matched == len(self.open) and (self.kind == "fence" or (self.kind == "html" and self.until)):
            self.end = number
        else:
            self._blank(matched)

    def close(self, depth: int) -> None:
        """End the open leaf, and the containers beyond the depth."""
        if self.kind == "paragraph":
            self._paragraph(self.end)
        elif self.kind is not None:
            self._add(self.kind, self.start, self.end)
        self.kind = None
        del self.open[depth:]

    def _continued(self, line: str) -> tuple[int, int]:
        """How many open containers the line goes on with, and the column behind their marks."""
        at = 0
        for matched, container in enumerate(self.open):
            here = _content(line, at)
            if container.indent:
                if here == len(line):
                    if container.empty:
                        return at, matched
                    at = here
                elif here - at >= container.indent:
                    at += container.indent
                else:
                    return at, matched
            elif here - at < _TAB and line.startswith(">", here):
                at = here + (2 if line.startswith(" ", here + 1) else 1)
            else:
                return at, matched
        return at, len(self.open)

    def _more(self, number: int, line: str, at: int) -> bool:
        """Go on with a fence or with HTML; False when the line does not belong to it any more."""
        here = _content(line, at)
        if self.kind == "fence":
            self.end = number
            run = line[here:].rstrip(" ")
            if here - at < _TAB and run.startswith(self.fence) and not run.strip(self.fence[0]):
                self.close(len(self.open))
            return True
        if self.until is None:
            if here < len(line):
                self.end = number
                return True
            self.close(len(self.open))
            return False
        self.end = number
        if self.until.search(line, at):
            self.close(len(self.open))
        return True

    def _opened(self, number: int, line: str, at: int, matched: int) -> None:
        """What begins on the rest of the line: containers, then a leaf."""
        self.begun = False
        while True:
            here = _content(line, at)
            # An open paragraph takes any line that begins nothing, even one that leaves its containers.
            lazy = self.kind == "paragraph"
            if here == len(line):
                self._blank(matched)
                return
            if here - at >= _TAB:
                if not lazy:
                    self._code(number, matched)
                    return
                break
            if line[here] in _PLAIN:
                break
            inside = lazy and matched == len(self.open)
            if line[here] == ">" and matched < _DEEPEST:
                self._enter(matched, _Item(0))
                at = here + (2 if line.startswith(" ", here + 1) else 1)
            elif self._leaf(number, line, here, matched, inside):
                return
            else:
                item = self._marker(line, at, here, inside) if matched < _DEEPEST else None
                if item is None:
                    break
                self._enter(matched, _Item(item[0]))
                self.begun = True
                at = item[1]
            matched += 1
        if not lazy:
            self.close(matched)
        self._text(number, line[here:])

    def _enter(self, matched: int, container: _Item) -> None:
        """Open a container inside those that match."""
        self.close(matched)
        if self.open:
            self.open[-1].empty = False
        self.open.append(container)

    def _blank(self, matched: int) -> None:
        """A line without anything ends a paragraph and quotes, not list items."""
        if self.kind == "code" and matched == len(self.open):
            return
        self.close(matched)

    def _code(self, number: int, matched: int) -> None:
        """A line of indented code."""
        if self.kind != "code" or matched < len(self.open):
            self._begin("code", number, matched)
        self.end = number

    def _text(self, number: int, content: str) -> None:
        """A line of a paragraph."""
        if self.kind != "paragraph":
            self._begin("paragraph", number, len(self.open))
            self.head = content
        self.end = number

    def _begin(self, kind: Kind, number: int, matched: int) -> None:
        """Open a leaf inside the containers that match."""
        self.close(matched)
        if self.open:
            self.open[-1].empty = False
        self.kind, self.start, self.end = kind, number, number
        self.item, self.begun = self.begun, False

    def _leaf(self, number: int, line: str, here: int, matched: int, inside: bool) -> bool:
        """Begin the leaf that the rest of the line is, if it is one that needs no paragraph."""
        char = line[here]
        if char == "#" and (atx := _ATX.match(line, here)):
            self._begin("heading", number, matched)
            self._heading(len(atx[1]), _atx_text(self.lines[number]), number)
        elif char in "`~" and (fence := _FENCE.match(line, here)):
            self._begin("fence", number, matched)
            self.fence = fence[1] or fence[2]
        elif char == "<":
            return self._html(number, line, here, matched)
        elif inside and char in "=-" and _SETEXT.match(line, here) and self._underline(number, char):
            return True
        elif char in "*_-" and _RULE.match(line, here):
            self._begin("rule", number, matched)
            self.close(matched)
        else:
            return False
        return True

    def _html(self, number: int, line: str, here: int, matched: int) -> bool:
        """Begin an HTML block, if the line opens one."""
        opened, until = opens_html(line, here, in_paragraph=self.kind == "paragraph")
        if opened:
            self._begin("html", number, matched)
            self.until = until
            if until is not None and until.search(line, here):
                self.close(matched)
        return opened

    def _marker(self, line: str, at: int, here: int, inside: bool) -> tuple[int, int] | None:
        """The indentation of a list item's content and where it begins; None when there is no item."""
        marker = _MARKER.match(line, here)
        if marker is None:
            return None
        after = _content(line, marker.end())
        blank = after == len(line)
        if inside and (blank or marker[1] not in (None, "1")):
            return None
        space = after - marker.end()
        if blank or space > _TAB:
            space = 1
        return marker.end() - at + space, min(marker.end() + space, len(line))

    def _underline(self, number: int, char: str) -> bool:
        """Make a heading of the open paragraph, unless nothing but definitions of links stands in it."""
        start = self._defined(self.start, self.end)
        if start > self.end:
            return False
        text = "\n".join(line.strip(" \t") for line in self.lines[start : self.end + 1])
        if start > self.start:
            self._add("paragraph", self.start, start - 1)
        self.start, self.end = start, number
        self._heading(1 if char == "=" else 2, text, number)
        return True

    def _heading(self, level: int, text: str, end: int) -> None:
        self.kind = None
        self.blocks.append(Block("heading", self.start, end, len(self.open), self.item, level, text))

    def _paragraph(self, end: int) -> None:
        """End a paragraph, noting the links it defines."""
        self._defined(self.start, end)
        self._add("paragraph", self.start, end)

    def _defined(self, start: int, end: int) -> int:
        """Note the labels that a paragraph defines at its beginning; the line behind the last definition."""
        if not self.head.startswith("["):
            return start
        marks = " \t>" if self.open else " \t"
        body = [self.head, *(line.lstrip(marks).rstrip(" \t") for line in self.lines[start + 1 : end + 1])]
        labels, used = take_definitions("\n".join(body))
        self.labels.update(labels)
        return start + used

    def _add(self, kind: Kind, start: int, end: int) -> None:
        self.blocks.append(Block(kind, start, end, len(self.open), self.item))


def _content(line: str, at: int) -> int:
    """The column of the first character that is no space."""
    spaces = _SPACES.match(line, at)
    return spaces.end() if spaces else at


def _atx_text(line: str) -> str:
    """What stands between the hashes of a heading."""
    body = line.strip(" \t").lstrip("#").strip(" \t")
    bare = body.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else body
