"""The lines of a file that fit an answer: whole where there is room, else a page and where to go on."""

from __future__ import annotations

from typing import NamedTuple

from attrs import frozen

from context_pack.toolkit.rows import as_json, beginning

JSON_GROWTH = 6
"""Spelled as JSON a character takes at most so many bytes."""

CUT_MARK = "…"
"""Stands where a line has lost its end."""


@frozen
class Span:
    """Lines `start` to `end` of a file, both included; an empty file has the span 1 to 0."""

    start: int
    end: int


class FilePage(NamedTuple):
    """Lines of a file, which they are (None for all), and what is left of the room.

    `rest` is the line to go on with, None at the end; `cut` counts the characters its only line lost.
    """

    content: str
    span: Span | None
    room: int
    rest: int | None = None
    cut: int = 0


def paged(content: str, span: Span | None, lines: int, room: int) -> FilePage:
    """As many of the lines as there is room for, at least the beginning of the first."""
    most = JSON_GROWTH * len(content)
    if most <= room:  # what is sure to fit is not weighed
        return FilePage(content, span, room - most)
    data = as_json(content[: max(room, 0) + 1])  # no character takes less than a byte
    if len(data) <= room:
        return FilePage(content, span, room - len(data))
    first, last = (1, lines) if span is None else (span.start, span.end)
    # Spelled as JSON a line ends with a backslash and an n; the backslash of a text is two, and no such end.
    shown = data.replace(b"\\\\", b"  ").count(b"\\n", 0, max(room, 0) + 1)
    end = first + max(shown, 1) - 1
    rest = end + 1 if end < last else None
    if shown:
        unseen = len(content.split("\n", shown)[-1])
        return FilePage(content[: len(content) - unseen], Span(first, end), 0, rest)
    line = content.partition("\n")[0]
    start = beginning(line, max(room - len(CUT_MARK.encode()), 0))
    return FilePage(start + CUT_MARK, Span(first, end), 0, rest, len(line) - len(start))
