"""Fitting text into a number of bytes: lines that may be shortened, and how the shortening is shared.

A page must never be larger than its budget, whatever a field holds. Only the free text of a line is ever cut
(never its marker or its key), the longest first, and a cut ends in `…` so that nobody takes it for the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from context_pack.toolkit.budget import ELLIPSIS, cut_text, size

GAP = "\n\n"


class Line(NamedTuple):
    """One line of a page: a fixed beginning, free text that may be cut, a fixed end."""

    lead: str
    text: str = ""
    tail: str = ""

    def __str__(self) -> str:
        return f"{self.lead}{self.text}{self.tail}"


def joined(lines: Iterable[Line]) -> str:
    """The lines as text."""
    return "\n".join([f"{lead}{text}{tail}" for lead, text, tail in lines])


def shrunk(lines: Sequence[Line], most: int) -> list[Line]:
    """The lines in at most `most` bytes together: free texts are cut to one common length."""
    if size(joined(lines)) <= most:
        return list(lines)
    texts = sorted(size(line.text) for line in lines)
    room = most - (size(joined(lines)) - sum(texts))
    level = 0
    for index, text in enumerate(texts):
        level = max(0, room // (len(texts) - index))
        if text > level:
            break
        room -= text
    most = max(level, size(ELLIPSIS))
    return [line._replace(text=cut_text(line.text, most)) if line.text else line for line in lines]
