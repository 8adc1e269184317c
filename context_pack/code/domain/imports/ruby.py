"""Imports of Ruby: `require_relative` from the file's folder, `require`, `load` and `autoload` under `lib/`.

Only literal names count. `lib/`, `spec/` and `test/` of the folders above the file are where gems and their
tests find their own code. Ruby's strings are many: heredocs, `%`-literals, interpolation and regular
expressions are recognised by how people write them, and whatever is unclear stays code for one line at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from context_pack.code.domain.imports.tree import (
    Found,
    Imports,
    TreeView,
    ancestors,
    first_file,
    folder_of,
    join,
    within,
)
from context_pack.kernel.lexing import (
    closed_string,
    code,
    comment,
    interpolated,
    lexer,
    literal,
    opaque,
    string,
)

LOAD_FOLDERS = ("lib", "spec", "test")
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_LABEL = re.compile(r"\w+")


def _heredoc_end(text: str, opening: re.Match[str]) -> int:
    """The end of a here-document; without its last line it is none."""
    labels = _LABEL.findall(opening[0])
    last = re.compile(rf"^[ \t]*+{labels[-1]}[ \t]*+\r?$", re.MULTILINE)
    line = text.find("\n", opening.end())
    found = None if line < 0 else last.search(text, line + 1)
    return -1 if found is None else found.end()


def _percent_end(text: str, opening: re.Match[str]) -> int:
    """The end of a `%`-literal, whose brackets may nest."""
    first = opening[0][-1]
    last = _PAIRS.get(first, first)
    marks = re.compile(rf"\\(?s:.)|{re.escape(first)}|{re.escape(last)}")
    depth, at = 1, opening.end()
    while depth and (mark := marks.search(text, at)) is not None:
        at = mark.end()
        if mark[0] == last:
            depth -= 1
        elif mark[0] == first:
            depth += 1
    return -1 if depth else at


_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,999}+\]){1,999}+/[a-z]*+")


def _regex_end(text: str, opening: re.Match[str]) -> int:
    found = _REGEX.match(text, opening.start())
    return -1 if found is None else found.end()


_RUBY = lexer(
    comment(r"^=begin\b(?s:.*?)(?:^=end\b[^\n]*+|\Z)"),
    comment(r"^__END__\r?$(?s:.*+)"),
    code(r"\$[\"'`/]"),
    opaque(r"(?<=[\s(,=\[])\?[\"'#`/](?=[\s),\]])"),
    comment(r"#[^\n]*+"),
    opaque(r"<<[~-][\"'`]?[A-Za-z_]\w*+[\"'`]?|(?<![\w)\]}\"'])<<[\"']?[A-Z_]\w*+[\"']?", _heredoc_end),
    opaque(r"(?<![\w)\]}\"'])%[qQwWiIrsx]?[(\[{<|!/^]", _percent_end),
    opaque(r"(?<=[\s(,=~!|&{\[;])/(?![\s=/])", _regex_end),
    closed_string("'", r"[^'\\]|\\(?s:.)"),
    string(r'"(?:[^"\\#]|\\(?s:.)|#(?!\{))*+"'),
    opaque(r'"', interpolated('"', "#{")),
    opaque(r"`", interpolated("`", "#{")),
)
_REQUIRE = re.compile(
    r"(?<![\w.:$@])(?P<how>require_relative|require|load|autoload)\b[ \t]*+\(?+[ \t]*+(?::\w++[ \t]*+,\s*+)?+"
    r"(?:\"(?P<double>\0++)\"|'(?P<single>\0++)')(?![ \t]*+[+%*.])"
)


@frozen
class Require:
    """One required name, and whether it starts at the file's folder."""

    name: str
    relative: bool


def parse(text: str) -> tuple[Require, ...]:
    """The literal names that are required, in order."""
    found: dict[Require, None] = {}
    for match in _REQUIRE.finditer(_RUBY.mask(text)):
        group = "double" if match["double"] is not None else "single"
        found[Require(literal(text, *match.span(group)), match["how"] == "require_relative")] = None
    return tuple(found)


def resolve(requires: Sequence[Require], path: str, view: TreeView) -> Imports:
    """The files that the names lead to."""
    found = Found()
    for require in requires:
        found.add(require.name, first_file(view, _places(require, folder_of(path))))
    return found.imports()


def _places(require: Require, here: str) -> Iterator[str]:
    if require.name.startswith("/"):
        return
    if require.relative:
        starts = [here]
    elif require.name.startswith("."):
        starts = [""]  # `require "./x"` starts where the process was started
    else:
        starts = [within(folder, inner) for folder in ancestors(here) for inner in LOAD_FOLDERS]
    for start in starts:
        place = join(start, require.name)
        if place:
            yield f"{place}.rb"
            yield place
