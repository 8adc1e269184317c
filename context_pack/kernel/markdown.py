"""Putting foreign text into a Markdown document without letting it forge the document's structure.

Two readers must agree on every line of what comes out: a CommonMark parser, which knows lists, quotes and
HTML blocks, and a plain line reader, which knows only headings and fences. Whatever only one of them would
take for structure is escaped. A fence that both see is kept: at the margin by the exact rules; indented (and
so perhaps inside a list item) with every line in it indented as far as the fence, which neither can leave.
"""

from __future__ import annotations

import re

from attrs import define, field, frozen

MIN_FENCE = 3
FENCE = "`" * MIN_FENCE
DEEPEST_FENCE = 100
"""A fence further in is text: each line of its code would be moved as far, however short it is."""

_BACKTICKS = re.compile(r"`+")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")

# Block quote and list markers, in any nesting, and the white space around them.
_CONTAINERS = re.compile(r"(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)))*[ \t]*")
_QUOTES = re.compile(r"(?:[ \t]*>)*[ \t]*")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_FENCE = re.compile(r"(?P<run>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
# The document's own landmarks, and link definitions (whose labels ignore case) that would make links of them.
_LANDMARK = re.compile(r"\[(?:LEGEND|CONTENT)\]|(?i:\[(?:LEGEND|CONTENT)\]:)")
# ATX headings of level 1-4, and everything that may open an HTML block (`<div`, `<!--`, `<?`).
_STRUCTURE = re.compile(r"#{1,4}(?:\s|$)|<[!?]|</?[A-Za-z][A-Za-z0-9-]*(?=[\s/>]|$)")


def fence_for(text: str) -> str:
    """A fence nothing in the text can close: one backtick longer than its longest run, at least three."""
    if FENCE not in text:
        return FENCE
    return "`" * (max(map(len, _BACKTICKS.findall(text))) + 1)


def fenced(text: str, language: str = "") -> str:
    """The text in a fence that holds it, without a final newline."""
    fence = fence_for(text)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def is_single_line(text: str) -> bool:
    """Whether the text has no line break of any kind, no control character and no lone surrogate."""
    return _UNSAFE.search(text) is None


def single_line(text: str) -> str:
    """The text on one line, trimmed: each run of breaks and control characters becomes a space."""
    return _UNSAFE.sub(" ", text).strip()


def contained(description: str) -> str:
    """A description that reads as it was written and forges nothing.

    Headings of level 1-4 (underlined ones too), `[LEGEND]` and `[CONTENT]` lines, and what could open an HTML
    block are escaped with a backslash; an unclosed fence is closed. Applying it twice changes nothing more.
    """
    scan = _Scan()
    for line in _BREAK.sub("\n", description).split("\n"):
        scan.take(line)
    scan.finish()
    return "\n".join(scan.lines)


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

    `listed` remembers that a list item was seen: from then on deeply indented lines may belong to it and are
    not taken for indented code. `muted` is a fence that began beside a list marker and was escaped, whose end
    has to be escaped as well.
    """

    lines: list[str] = field(factory=list)
    fence: _Fence | None = None
    muted: _Fence | None = None
    listed: bool = False

    def take(self, line: str) -> None:
        """Add one line of the description."""
        self.lines.append(self._outside(line) if self.fence is None else self._inside(line, self.fence))

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
            return _escaped(line, len(line) - len(body))
        opening = _FENCE.fullmatch(body)
        if opening is not None:
            return self._opening(line, opening)
        return self._text(line)

    def _opening(self, line: str, opening: re.Match[str]) -> str:
        """A line that starts with a fence: opened if it is one, escaped if it only looks like one."""
        run, indent = opening["run"], _columns(line)
        if (
            (run[0] == "`" and "`" in opening["info"])
            or (indent > 3 and not self.listed)
            or indent > DEEPEST_FENCE
        ):
            return _escaped(line, len(line) - len(opening.string))
        self.fence = _Fence(run[0], len(run), indent)
        return line

    def _text(self, line: str) -> str:
        """A line without a fence of its own."""
        if self._underlines(line):
            return _escaped(line, _span(_QUOTES, line))
        return self._prose(line)

    def _underlines(self, line: str) -> bool:
        """Whether the line would make a heading of the one above it."""
        start = _span(_QUOTES, line)
        if _UNDERLINE.match(line, start) is None or not self._shallow(line, start):
            return False
        # What stands above a description is not known here, so its first line counts as following text.
        return not self.lines or bool(self.lines[-1].strip(" \t"))

    def _prose(self, line: str) -> str:
        """A line with its markers kept and what follows them escaped where it is structure."""
        start = _span(_CONTAINERS, line)
        markers = line[:start].strip(" \t")
        self.listed = self.listed or bool(markers.strip("> \t"))
        beside = _FENCE.match(line, start)
        if beside is not None and markers.strip("> \t"):
            self.muted = _Fence(beside["run"][0], len(beside["run"]), 1)
            return _escaped(line, start)
        if _LANDMARK.match(line, start) or (_STRUCTURE.match(line, start) and self._shallow(line, start)):
            return _escaped(line, start)
        return line

    def _shallow(self, line: str, start: int) -> bool:
        """Whether what stands at `start` may be structure, and not indented code."""
        return self.listed or bool(line[:start].strip(" \t")) or _columns(line) < 4


def _escaped(line: str, at: int) -> str:
    return f"{line[:at]}\\{line[at:]}"


def _span(pattern: re.Pattern[str], line: str) -> int:
    """How far the pattern, which always matches, reaches into the line."""
    found = pattern.match(line)
    return found.end() if found else 0


def _columns(line: str) -> int:
    """The indentation in columns, with tab stops every four."""
    expanded = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4)
    return len(expanded)
