"""The section titles of reStructuredText: a line over a line of punctuation, or between two of them.

A title stands where a paragraph could begin and is never indented, so that literal blocks and directives,
which are, hold none. The first style of underline that appears is level 1, the next new one level 2, and so
on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+\Z")
# Bullets, fields, directives, doctests and line blocks are never the text of a title.
_BODY = re.compile(r"[-*+•] |:[^:\s][^:]*: |\.\. |>>> |\| |__ ")
_SHORTEST = 4

# Roles, links and literals before emphasis: their marks enclose text that may hold the others.
_INLINE = (
    (re.compile(r"``(.+?)``"), r"\1"),
    (re.compile(r":[\w.+:-]+:`~?([^`<]+?)(?:\s*<[^`>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<[^`>]*>`__?"), r"\1"),
    (re.compile(r"`([^`]+)`_{0,2}"), r"\1"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w|])\|([^|\s][^|]*)\|_{0,2}(?![\w|])"), r"\1"),
    (re.compile(r"\\(.)"), r"\1"),
)
_MARKS = re.compile(r"[*`|\\]")
_LONGEST = 600


def sections(lines: list[str]) -> Iterator[tuple[int, str, int]]:
    """The level, the text and the first line (from 1) of each section title."""
    styles: list[str] = []
    at, fresh = 0, True
    while at < len(lines):
        style, title, taken = _title(lines, at) if fresh else ("", "", 0)
        if taken:
            if style not in styles:
                styles.append(style)
            yield styles.index(style) + 1, _plain(title), at + 1
            at += taken
            continue
        fresh = not lines[at].strip()
        at += 1


def _title(lines: list[str], at: int) -> tuple[str, str, int]:
    """The style, the text and the number of lines of the title at a place; no lines when there is none."""
    none = ("", "", 0)
    line = lines[at].rstrip()
    over = _ADORNMENT.match(line)
    if over is not None and at + 2 < len(lines):
        title, under = lines[at + 1].rstrip(), lines[at + 2].rstrip()
        if title and under == line and (len(line) >= _SHORTEST or len(line) >= _width(title)):
            return over[1] * 2, title.strip(), 3
    if not line or line[0].isspace() or at + 1 >= len(lines) or _BODY.match(line):
        return none
    under = lines[at + 1].rstrip()
    mark = _ADORNMENT.match(under)
    if mark is None or (over is not None and len(line) >= _SHORTEST):
        return none
    if len(under) < _SHORTEST and len(under) < _width(line):
        return none
    return mark[1], line.strip(), 2


def _width(line: str) -> int:
    """The columns a line takes: letters of East Asian scripts take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def _plain(title: str) -> str:
    """A title without its inline markup."""
    if len(title) <= _LONGEST and _MARKS.search(title):
        for pattern, shown in _INLINE:
            title = pattern.sub(shown, title)
    return title.strip()
