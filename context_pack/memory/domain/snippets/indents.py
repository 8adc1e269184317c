"""Functions and classes of languages that close a block with a word, or only by indentation.

A declaration ends at the line with the closing word and the same indentation; without one, before the next
line that is indented no deeper. Comments right above a declaration belong to it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from attrs import frozen

from context_pack.memory.domain.snippets.model import Part, Snippet, prefix_inside

MOST_ABOVE = 40


@frozen
class Language:
    """How a language declares (groups `c` for classes, `f` for functions), closes and comments."""

    declared: re.Pattern[str]
    closing: re.Pattern[str] | None
    comment: str


_END = re.compile(r"end\b")
_RUBY = Language(
    re.compile(
        r"(?:private\s+|protected\s+|public\s+)?(?:class\s+(?P<c>[A-Z][\w:]*)|module\s+(?P<m>[A-Z][\w:]*)"
        r"|def\s+(?:self\.)?(?P<f>[\w?!=]+))"
    ),
    _END,
    "#",
)
_ELIXIR = Language(
    re.compile(r"(?:defmodule\s+(?P<c>[\w.]+)|(?:defp?|defmacrop?)\s+(?P<f>[\w?!]+))"), _END, "#"
)
_LUA = Language(re.compile(r"(?:local\s+)?function\s+(?P<f>[\w.:]+)(?P<c>(?!))?"), _END, "--")
_JULIA = Language(
    re.compile(r"(?:(?:mutable\s+)?struct\s+(?P<c>\w+)|(?:function|macro)\s+(?P<f>[\w.!]+))"), _END, "#"
)
_PYTHON = Language(re.compile(r"(?:class\s+(?P<c>\w+)|(?:async\s+)?def\s+(?P<f>\w+))"), None, "#")
_NIM = Language(
    re.compile(r"(?:proc|func|method|iterator|template|macro)\s+(?P<f>\w+)(?P<c>(?!))?"), None, "#"
)

LANGUAGES: Mapping[str, Language] = {
    "ruby": _RUBY,
    "elixir": _ELIXIR,
    "lua": _LUA,
    "julia": _JULIA,
    "python": _PYTHON,
    "nim": _NIM,
}


def declared(lines: Sequence[str], language: str) -> list[Snippet]:
    """Every function, method and class head, in order."""
    rules = LANGUAGES[language]
    found: list[Snippet] = []
    classes: list[tuple[int, str, int]] = []  # indentation, prefix of what is inside, place in `found`
    ends = _Ends(lines, rules.closing)
    number = 0
    while number < len(lines):
        line = lines[number]
        match = rules.declared.match(line.lstrip())
        if match is None:
            number += 1
            continue
        depth = len(line) - len(line.lstrip())
        while classes and classes[-1][0] >= depth:
            classes.pop()
        prefix = classes[-1][1] if classes else ""
        first = _above(lines, number, rules.comment)
        if classes and found[classes[-1][2]].end >= first + 1:
            outer = found[classes[-1][2]]
            found[classes[-1][2]] = Snippet(outer.part, outer.name, outer.start, max(outer.start, first))
        end = ends.of(number, depth)
        if match["f"]:
            found.append(Snippet(Part.FUNCTION, prefix + match["f"], first + 1, end + 1))
            number = max(end, number) + 1
            continue
        name = match["c"] or match.groupdict().get("m") or ""
        classes.append((depth, prefix_inside(prefix, name), len(found)))
        found.append(Snippet(Part.CLASS, prefix + name, first + 1, end + 1))
        number += 1
    return found


def _above(lines: Sequence[str], number: int, comment: str) -> int:
    """The first line of the comments and decorators right above."""
    first = number
    while first and number - first < MOST_ABOVE and lines[first - 1].lstrip().startswith((comment, "@")):
        first -= 1
    return first


class _Ends:
    """Where declarations end.

    Only lines that may end one are looked at, each by no more classes than it has blanks before it: lines
    with nothing on them, of which there may be many, would be passed again by every class around them.
    """

    def __init__(self, lines: Sequence[str], closing: re.Pattern[str] | None) -> None:
        self._filled = [place for place, line in enumerate(lines) if line.strip()]
        bare = {place: lines[place].lstrip() for place in self._filled}
        self._stops = [place for place in self._filled if not bare[place].startswith((")", "]", "}"))]
        self._depths = [len(lines[place]) - len(bare[place]) for place in self._stops]
        self._closes = [closing is not None and bool(closing.match(bare[place])) for place in self._stops]

    def of(self, number: int, depth: int) -> int:
        """The last line of the declaration at a line, indented so deep."""
        for at in range(bisect_right(self._stops, number), len(self._stops)):
            if self._depths[at] <= depth:
                place = self._stops[at]
                return place if self._closes[at] else self._filled[bisect_left(self._filled, place) - 1]
        return self._filled[-1]
