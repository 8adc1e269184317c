"""Colours a rendered pack, line by line.

Colour follows the structure that the renderer guarantees: headings, `- key: value` lines, fences whose
backticks outnumber those inside, and the remarks that say a ref is stale or changed. Only the look changes,
never a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from context_pack.kernel.text import split_lines
from context_pack_adapters.cli.terminal import Part, Terminal

_FENCE = re.compile(r"(`{3,})")
_HEADING = re.compile(r"#{1,4} ")
_PROPERTY = re.compile(r"(- [a-z_]+: )(.*)", re.DOTALL)
_NUMBERED = re.compile(r"( *\d+: )(.*)", re.DOTALL)
_REMARKS = {"> stale ref": "red", "> changed since": "yellow", "> truncated": "yellow"}


def show_pack(document: str, terminal: Terminal) -> None:
    """Print a rendered pack, in colours if there are any."""
    if not terminal.colours:
        terminal.line(document)
        return
    for parts in paint(document):
        terminal.styled_line(*parts)


def paint(markdown: str) -> Iterator[Sequence[Part]]:
    """Each line as parts, plain or (style, text)."""
    fence = ""
    for line in split_lines(markdown):
        match = _FENCE.match(line)
        if fence:
            if line == fence:
                fence = ""
                yield [("dim", line)]
            else:
                yield _code(line)
        elif match is not None:
            fence = match[1]
            yield [("dim", line)]
        else:
            yield _prose(line)


def _code(line: str) -> Sequence[Part]:
    match = _NUMBERED.fullmatch(line)
    return [line] if match is None else [("dim", match[1]), match[2]]


def _prose(line: str) -> Sequence[Part]:
    if line in {"[LEGEND]", "[CONTENT]"}:
        return [("dim", line)]
    if _HEADING.match(line):
        return [("bold" if line.startswith(("# ", "## ")) else "cyan", line)]
    match = _PROPERTY.fullmatch(line)
    if match is not None:
        return [("blue", match[1]), match[2]]
    remark = next((style for start, style in _REMARKS.items() if line.startswith(start)), None)
    return [line] if remark is None else [(remark, line)]
