"""Putting foreign text into a Markdown document without letting it forge the document's structure.

markdown-it finds what a CommonMark reader takes for structure; those lines are escaped with a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any

from context_pack.kernel.text import fenced

MOST_PASSES = 12
"""What was escaped may uncover more; a text that still forges something after these is shown as code."""
_MAY_FORGE = re.compile(r"[#<=-]|```|~~~|\[(?:LEGEND|CONTENT)\]", re.IGNORECASE)
_MARKERS = re.compile(r"(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*[ \t]*")
_LANDMARK = re.compile(_MARKERS.pattern + r"\[(?:LEGEND|CONTENT)\](?::|\s*$)", re.IGNORECASE)
_HARMLESS = re.compile(
    r"[\s>*+-]*</?(?:a|b|br|code|details|em|i|img|kbd|p|span|strong|sub|summary|sup|u)\b", re.IGNORECASE
)
"""Tags whose block ends with the next empty line and makes no heading."""
_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)


@cache
def commonmark(more: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Any:
    """A reader of CommonMark with and without some rules; loaded with the first text that needs one."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(list(more)).disable(list(without))


def block_parser() -> Any:
    """A reader of CommonMark's blocks."""
    return commonmark(without=("inline",))


def escape_structure(description: str) -> str:
    """A description that reads as it was written and makes no heading, landmark, HTML block or open fence."""
    text = description.replace("\r\n", "\n").replace("\r", "\n")
    if not _MAY_FORGE.search(text):
        return text
    for _ in range(MOST_PASSES):
        lines = text.split("\n")
        forged = set(_forged(lines))
        if not forged:
            return text
        for number in forged:
            if number == len(lines):
                lines.append(_open_fence(lines))
            else:
                at = _MARKERS.match(lines[number]).end()  # type: ignore[union-attr]
                lines[number] = f"{lines[number][:at]}\\{lines[number][at:]}"
        text = "\n".join(lines)
    return fenced(text)


def _forged(lines: list[str]) -> Iterator[int]:
    """The lines that make structure; one more than there are for a fence that is not closed."""
    text = "\n".join(lines)
    depths = list(accumulate(-1 if mark[1] else 1 for mark in _DETAILS.finditer(text)))
    hides = bool(depths) and (min(depths) < 0 or depths[-1] != 0)  # an open <details> folds up what follows
    for token in block_parser().parse(text):
        if token.map is None:
            continue
        line = lines[token.map[0]]
        if token.type == "heading_open" and int(token.tag[1]) <= 4:
            yield token.map[0] if token.markup.startswith("#") else token.map[1] - 1
        elif token.type == "html_block" and (not _HARMLESS.match(line) or (hides and _DETAILS.search(line))):
            yield token.map[0]
    if _open_fence(lines):
        yield len(lines)
    yield from (number for number, line in enumerate(lines) if _LANDMARK.match(line))


def _open_fence(lines: list[str]) -> str:
    """What closes the fence that the text ends in."""
    last = next((t for t in reversed(block_parser().parse("\n".join(lines))) if t.map), None)
    if last is None or last.type != "fence" or last.map is None:
        return ""
    first, end = last.map
    body = lines[end - 1].strip(" \t>")
    if end - 1 > first and len(body) >= len(last.markup) and not body.strip(last.markup[0]):
        return ""
    indent = len(lines[first]) - len(lines[first].lstrip(" "))
    return f"{' ' * indent}{last.markup}"
