"""Putting foreign text into a Markdown document without letting it forge the document's structure.

Two readers must agree on every line of what comes out: a CommonMark parser, which knows lists, quotes and
HTML blocks, and a plain line reader, which knows only headings and fences, and perhaps more line breaks.
Whatever only one of them would take for structure is escaped, and nothing else is changed. A fence that both
see is kept: at the margin by the exact rules; indented (and so perhaps inside a list item) with every line in
it indented as far as the fence, which neither can leave.
"""

from __future__ import annotations

import re
from enum import Enum

from context_pack.kernel.classes import define, field, frozen
from context_pack.kernel.patterns import lazy_pattern
from context_pack.kernel.text import FENCE

DEEPEST_FENCE = 100
"""A fence further in is text: each line of its code would be moved as far, however short it is."""

_BREAK = lazy_pattern("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")

# Block quote and list markers, in any nesting, and the white space around them.
_CONTAINERS = lazy_pattern(r"(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))*[ \t]*")
_QUOTES = lazy_pattern(r"(?:[ \t]*>)*[ \t]*")
_UNDERLINE = lazy_pattern(r"(?:=+|-+)[ \t]*$")
_FENCE = lazy_pattern(r"(?P<run>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
# A list marker at the margin with a line of text beside it; and nothing but a marker with room behind it.
_ITEM = lazy_pattern(
    r" {0,3}(?P<marker>[-+*]|\d{1,9}[.)])(?: {1,4}|\t)(?![ \t<\[>#]|$|(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$))"
)
_MARKER = lazy_pattern(r"(?P<lead>[ \t]*)(?P<marker>[-+*]|\d{1,9}[.)])(?: {1,4}|\t)")
_INTERRUPTING = ("-", "+", "*", "1.", "1)")
# The document's own landmarks, and link definitions (whose labels ignore case) that would make links of them.
_LANDMARK = lazy_pattern(r"\[(?:LEGEND|CONTENT)\]|(?i:\[(?:LEGEND|CONTENT)\]:)")
# ATX headings of level 1-4, and everything that may open an HTML block (`<div`, `<!--`, `<?`).
_STRUCTURE = lazy_pattern(r"#{1,4}(?:\s|$)|<[!?]|</?(?P<tag>[A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)")
_TAG = lazy_pattern(r"<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)")
# Tags that end with the next empty line and make no heading; those that hold something must be closed.
_VOID = frozenset({"br", "img", "wbr"})
_PAIRED = frozenset({
    "a", "abbr", "b", "code", "del", "details", "em", "i", "ins", "kbd", "mark", "p", "q", "s", "samp",
    "small", "span", "strong", "sub", "summary", "sup", "u", "var",
})  # fmt: skip


class _LineAbove(Enum):
    """What the line above is: nothing that could be underlined, a text, or one of a list item."""

    NOTHING = "nothing"
    TEXT = "text"
    ITEM = "item"


def pieces_of(line: str) -> list[str]:
    """A line split at every line break that some Markdown reader knows."""
    return _BREAK.split(line)


def contained(description: str) -> str:
    """A description that reads as it was written and forges nothing, below a heading or an empty line.

    Headings of level 1-4 (underlined ones too), `[LEGEND]` and `[CONTENT]` lines, and what could open an HTML
    block that does not end by itself are escaped with a backslash; an unclosed fence is closed. Other line
    breaks than newlines stay wherever they hide nothing. Applying it twice changes nothing more.
    """
    lines = description.replace("\r\n", "\n").split("\n")
    scan = _Scan(_closed_tags(description))
    for line, before_fence in zip(lines, _before_fences(lines), strict=True):
        scan.take(line, before_fence)
    scan.finish()
    return "\n".join(scan.lines)


def _closed_tags(text: str) -> frozenset[str]:
    """The harmless tags of which each that opens is closed later."""
    depths: dict[str, int] = {}
    for found in _TAG.finditer(text):
        tag = found["tag"].lower()
        if depths.get(tag, 0) >= 0:  # one that was closed before it opened stays wrong
            depths[tag] = depths.get(tag, 0) + (-1 if found["end"] else 1)
    return _VOID | {tag for tag in _PAIRED if not depths.get(tag, 0)}


def _before_fences(lines: list[str]) -> list[bool]:
    """Of each line, whether something like a fence is on it or below it before the next empty line."""
    found: list[bool] = []
    for line in reversed(lines):
        near = bool(line.strip(" \t")) and (FENCE in line or "~~~" in line or (bool(found) and found[-1]))
        found.append(near)
    return found[::-1]


@frozen
class _Fence:
    """An open fence: its character, its length, and the column it started at."""

    char: str
    length: int
    indent: int

    def closed_by(self, line: str) -> bool:
        """Whether the line ends this fence; an indented fence is ended from any column."""
        body = line.strip(" \t")
        if not body or body.strip(self.char) or len(body) < self.length:
            return False
        return self.indent > 0 or _columns(line) < 4


@define
class _Scan:
    """One pass over a description, line by line.

    `deepest` is how far right the text of a list item may begin: lines less than four columns further in may
    belong to it and are not taken for indented code. `muted` is a fence that began beside a list marker and
    was escaped, whose end has to be escaped as well. `tags` may stand at the beginning of a line.
    """

    tags: frozenset[str]
    lines: list[str] = field(factory=list)
    fence: _Fence | None = None
    muted: _Fence | None = None
    deepest: int = 0
    above: _LineAbove = _LineAbove.NOTHING
    before_fence: bool = False

    def take(self, line: str, before_fence: bool) -> None:
        """Add one line of the description; if nothing in it has to change, as it is, whatever breaks it."""
        self.before_fence = before_fence
        first, *others = pieces = pieces_of(line)
        count, fence = len(self.lines), self.fence
        self._piece(first)
        state, steady = (self.fence, self.muted, self.deepest), self.fence is fence
        mixed = _BREAK.search(line.replace("\r", "")) is not None
        for piece in others:
            if mixed and self.above is _LineAbove.NOTHING:
                self.above = _LineAbove.TEXT  # what one reader takes for an empty line is text to the other
            self._piece(piece)
            # A fence that opens and closes inside a line does so for one of the readers only.
            steady = steady and state == (self.fence, self.muted, self.deepest)
        if not others or line.endswith("\r") or self.lines[count:] != pieces:
            return
        if steady:
            self.lines[count:] = [line]
            self.above = _LineAbove.TEXT

    def _piece(self, line: str) -> None:
        shown = self._outside(line) if self.fence is None else self._inside(line, self.fence)
        self.lines.append(shown)

    def finish(self) -> None:
        """Close what is still open."""
        if self.fence is not None:
            self.lines.append(" " * self.fence.indent + self.fence.char * self.fence.length)

    def _inside(self, line: str, fence: _Fence) -> str:
        """A line of a fence: code, kept as it is but for its place.

        CommonMark drops as much indentation from the code as the opening fence has, so adding what is missing
        does not show; without it, a line further left would end a list item and the fence in it.
        """
        body = line.lstrip(" \t")
        if fence.closed_by(line):
            self.fence = None
            self.above = _LineAbove.TEXT if fence.indent else _LineAbove.NOTHING
            return " " * fence.indent + body if fence.indent else line
        if _LANDMARK.match(body):
            line = line[: len(line) - len(body)] + "\\" + body
            body = "\\" + body
        if body and _columns(line) < fence.indent:
            line = " " * fence.indent + body
        # Some parsers take even a deeply indented `>` below a quote for more of the quote.
        return self._text(line) if fence.indent > 3 and body.startswith(">") else line

    def _outside(self, line: str) -> str:
        """A line of prose, of a list or of a quote."""
        body = line.lstrip(" \t")
        if self.muted is not None and self.muted.closed_by(line):
            self.muted = None
            self.above = _LineAbove.TEXT
            return _escaped(line, len(line) - len(body))
        if line and not _span(_CONTAINERS, line) and self.lines and not self.lines[-1].strip(" \t"):
            self.deepest = 0  # a text at the margin below an empty line ends every list
        opening = _FENCE.fullmatch(body)
        shown = self._text(line) if opening is None else self._opening(line, opening)
        if self.fence is None:
            self._remember(shown)
        return shown

    def _opening(self, line: str, opening: re.Match[str]) -> str:
        """A line that starts with a fence: opened if it is one, escaped if it only looks like one."""
        run, indent = opening["run"], _columns(line)
        if (
            (run[0] == "`" and "`" in opening["info"])
            or (indent > 3 and not self.deepest)
            or indent > DEEPEST_FENCE
        ):
            return _escaped(line, len(line) - len(opening.string))
        self.fence = _Fence(run[0], len(run), indent)
        if not indent:
            self.deepest = 0
        return line

    def _text(self, line: str) -> str:
        """A line without a fence of its own."""
        if self._underlines(line):
            return _escaped(line, _span(_QUOTES, line))
        return self._prose(line)

    def _underlines(self, line: str) -> bool:
        """Whether the line would make a heading of the one above it; at the margin, not of a list item."""
        start = _span(_QUOTES, line)
        if _UNDERLINE.match(line, start) is None or not self._shallow(line, start):
            return False
        return self.above is _LineAbove.TEXT or (self.above is _LineAbove.ITEM and start > 0)

    def _prose(self, line: str) -> str:
        """A line with its markers kept and what follows them escaped where it is structure."""
        start = _span(_CONTAINERS, line)
        markers = line[:start].strip(" \t")
        listed = bool(markers.strip("> \t"))
        beside = _FENCE.match(line, start) if listed else None
        if beside is not None:
            return self._beside(line, start, beside)
        if listed:
            self.deepest = max(self.deepest, _width(line[:start]) + (start == len(line)))
        if _LANDMARK.match(line, start):
            return _escaped(line, start)
        structure = _STRUCTURE.match(line, start)
        if structure is None or not self._shallow(line, start) or self._is_harmless(structure["tag"]):
            return line
        return _escaped(line, start)

    def _beside(self, line: str, start: int, opening: re.Match[str]) -> str:
        """A fence beside a list marker: put below it, where every reader sees it, or else escaped."""
        run, width = opening["run"], _width(line[:start])
        marker = _MARKER.fullmatch(line[:start])
        apart = self.above is _LineAbove.NOTHING or (self.above is _LineAbove.ITEM and not _columns(line))
        if (
            marker is None
            or self.muted is not None
            or (run[0] == "`" and "`" in opening["info"])
            or _columns(line) > self.deepest + 3
            or width > DEEPEST_FENCE
            or not (apart or marker["marker"] in _INTERRUPTING)
        ):
            self.deepest = max(self.deepest, width)
            self.muted = _Fence(run[0], len(run), 1)
            return _escaped(line, start)
        self.lines += [*([] if apart else [""]), line[:start].rstrip(" \t")]
        self.deepest = max(self.deepest, width)
        self.fence, self.above = _Fence(run[0], len(run), width), _LineAbove.TEXT
        return " " * width + line[start:]

    def _remember(self, shown: str) -> None:
        """Remember the kind of this line for the next one; when unsure, a text."""
        begins = shown[: _span(_CONTAINERS, shown)].strip(" \t") or shown.lstrip(" \t").startswith("#")
        if not shown.strip(" \t") or (_is_rule(shown) and _columns(shown) < 4):
            self.above = _LineAbove.NOTHING
        elif begins or self.above is _LineAbove.NOTHING:
            item = _ITEM.match(shown)
            if item is None or _is_rule(shown[item.end() :]):
                self.above = _LineAbove.TEXT
            elif self.above is not _LineAbove.TEXT or item["marker"] in _INTERRUPTING:
                self.above = _LineAbove.ITEM

    def _is_harmless(self, tag: str | None) -> bool:
        """Whether a tag at the beginning of a line takes nothing with it that is not its own."""
        closed = tag is not None and tag.lower() in self.tags
        return closed and not self.before_fence and self.fence is None

    def _shallow(self, line: str, start: int) -> bool:
        """Whether what stands at `start` may be structure, and not indented code."""
        return bool(line[:start].strip(" \t")) or _columns(line) < 4 + self.deepest


def _is_rule(text: str) -> bool:
    """Whether the text is drawn as a line across the page: three of one sign, or more."""
    body = text.replace(" ", "").replace("\t", "")
    return len(body) > 2 and body[0] in "-*_" and not body.strip(body[0])


def _escaped(line: str, at: int) -> str:
    return f"{line[:at]}\\{line[at:]}"


def _span(pattern: re.Pattern[str], line: str) -> int:
    """How far the pattern, which always matches, reaches into the line."""
    found = pattern.match(line)
    return found.end() if found else 0


def _columns(line: str) -> int:
    """The indentation in columns, with tab stops every four."""
    return _width(line[: len(line) - len(line.lstrip(" \t"))])


def _width(text: str) -> int:
    """How many columns a text takes, with tab stops every four."""
    return len(text.expandtabs(4))
