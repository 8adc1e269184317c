"""The lines of a file that fit an answer: whole where there is room, else a page and where to go on."""

from __future__ import annotations

from typing import NamedTuple

from attrs import frozen

from context_pack.toolkit.budget import ELLIPSIS, cut_text, json_size

JSON_GROWTH = 6
"""Spelled as JSON a character takes at most so many bytes."""


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
    if len(content) <= room and (used := json_size(content)) <= room:
        return FilePage(content, span, room - used)
    first, last = (1, lines) if span is None else (span.start, span.end)
    room -= json_size("")
    shown: list[str] = []
    for line in content.split("\n"):
        room -= json_size(line)  # two quotes, as a line break has two characters
        if room < 0:
            break
        shown.append(line)
    end = first + max(len(shown), 1) - 1
    rest = end + 1 if end < last else None
    if shown:
        return FilePage("".join(f"{line}\n" for line in shown), Span(first, end), 0, rest)
    line = content.partition("\n")[0]
    start = cut_text(line, max(room + json_size(line), 0), json_size)
    return FilePage(start, Span(first, end), 0, rest, len(line) - len(start.removesuffix(ELLIPSIS)))
