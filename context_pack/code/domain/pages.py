"""The lines of a file that fit an answer: whole where there is room, else a page and where to go on."""

from __future__ import annotations

from typing import NamedTuple

from attrs import frozen

from context_pack.toolkit.rows import beginning, weight

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
    used = most if most <= room else weight(content)  # what is sure to fit is not weighed
    if used <= room:
        return FilePage(content, span, room - used)
    first, last = (1, lines) if span is None else (span.start, span.end)
    pieces = content.removesuffix("\n").split("\n")
    shown = 0
    left = room
    for piece in pieces:
        left -= weight(piece)  # its quotes are as long as its line break
        if left < 0:
            break
        shown += 1
    end = first + max(shown, 1) - 1
    rest = end + 1 if end < last else None
    if shown:
        return FilePage("".join(f"{piece}\n" for piece in pieces[:shown]), Span(first, end), 0, rest)
    start = beginning(pieces[0], max(room - len(CUT_MARK.encode()), 0))
    return FilePage(start + CUT_MARK, Span(first, end), 0, rest, len(pieces[0]) - len(start))
