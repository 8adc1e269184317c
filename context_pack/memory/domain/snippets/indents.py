"""Functions and classes of languages that close a block with a word, or only by indentation.

A declaration ends at the line with the closing word and the same indentation; without one, before the next
line that is indented no deeper. Comments right above a declaration belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from context_pack.memory.domain.snippets.model import Part, Snippet

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
    classes: list[tuple[int, str, int]] = []  # indentation, qualified name, place in `found`
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
        prefix = f"{classes[-1][1]}." if classes else ""
        first = _above(lines, number, rules.comment)
        if classes and found[classes[-1][2]].end >= first + 1:
            outer = found[classes[-1][2]]
            found[classes[-1][2]] = Snippet(outer.part, outer.name, outer.start, max(outer.start, first))
        end = _end(lines, number, depth, rules.closing)
        if match["f"]:
            found.append(Snippet(Part.FUNCTION, prefix + match["f"], first + 1, end + 1))
            number = max(end, number) + 1
            continue
        name = prefix + (match["c"] or match.groupdict().get("m") or "")
        classes.append((depth, name, len(found)))
        found.append(Snippet(Part.CLASS, name, first + 1, end + 1))
        number += 1
    return found


def _above(lines: Sequence[str], number: int, comment: str) -> int:
    """The first line of the comments and decorators right above."""
    first = number
    while first and number - first < MOST_ABOVE and lines[first - 1].lstrip().startswith((comment, "@")):
        first -= 1
    return first


def _end(lines: Sequence[str], number: int, depth: int, closing: re.Pattern[str] | None) -> int:
    """The last line of a declaration."""
    last = number
    for place in range(number + 1, len(lines)):
        line = lines[place]
        bare = line.lstrip()
        if not bare:
            continue
        if len(line) - len(bare) <= depth:
            if closing is not None and closing.match(bare):
                return place
            if not bare.startswith((")", "]", "}")):
                return last
        last = place
    return last
