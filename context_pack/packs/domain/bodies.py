"""Showing a body whole, or as much of it as there is room for: which lines, and where to go on.

A place in a body is a line and a column, so that even one endless line comes through in pieces. Pieces of
code and diagrams get a fence each; pieces of prose are contained each for itself, so that a cut inside
somebody's fence can neither leave it open nor make its code look like headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum

from attrs import frozen

from context_pack.kernel.markdown import MIN_FENCE, contained, fence_for
from context_pack.packs.domain.budget import size

LEAST_WIDTH = 4
_BACKTICKS = re.compile("`+")


class Style(Enum):
    """How a body is shown."""

    PROSE = "prose"
    FENCE = "fence"


@frozen
class Body:
    """The long part of an item, line by line; code carries the number of its first line."""

    style: Style
    lines: Sequence[str]
    language: str = ""
    first: int | None = None

    def lead(self, index: int) -> str:
        """What stands before a line: its number, for code."""
        if self.first is None:
            return ""
        width = max(LEAST_WIDTH, len(str(self.first + len(self.lines) - 1)))
        return f"{self.first + index:>{width}}: "


@frozen(order=True)
class Spot:
    """A place in a body: a line and a column in it, both from 0."""

    line: int = 0
    column: int = 0


START = Spot()


@frozen
class Piece:
    """A part of a body as Markdown; `next` is None at its end, `note` says which part it is."""

    text: str
    next: Spot | None = None
    note: str | None = None


def whole(body: Body, spot: Spot = START) -> Piece:
    """Everything from a spot on."""
    lines = _from(body, spot)
    return Piece(_shown(body, spot, lines), None, _note(body, spot, len(lines), None))


def piece(body: Body, spot: Spot, room: int) -> Piece:
    """As many whole lines as fit into `room` bytes; of a line that is longer than that, its beginning.

    At least one character is shown, so that reading on always gets somewhere.
    """
    lines = _from(body, spot)
    count = _most(lambda number: _fits(body, spot, lines[:number], room), _quick(lines, room))
    if count == len(lines):
        return whole(body, spot)
    if count > 0:
        text = _shown(body, spot, lines[:count])
        return Piece(text, Spot(spot.line + count), _note(body, spot, count, None))
    line = lines[0]
    width = max(1, _most(lambda number: _fits(body, spot, [line[:number]], room), len(line)))
    text = _shown(body, spot, [line[:width]])
    # A line cut exactly at its end goes on with the next one.
    following = Spot(spot.line, spot.column + width) if width < len(line) else Spot(spot.line + 1)
    return Piece(text, following, _note(body, spot, 1, width))


def _from(body: Body, spot: Spot) -> list[str]:
    lines = list(body.lines[spot.line :])
    if lines:
        lines[0] = lines[0][spot.column :]
    return lines


def _quick(lines: list[str], room: int) -> int:
    """How many lines would fit if nothing stood around them: a bound that costs no building of text."""
    used = 0
    for index, line in enumerate(lines):
        used += size(line) + 1
        if used > room + 1:
            return index
    return len(lines)


def _most(fits: Callable[[int], bool], bound: int) -> int:
    """The largest number up to `bound` that fits, by halving; 0 when none does."""
    low, high = 0, bound
    if high and fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _fits(body: Body, spot: Spot, lines: list[str], room: int) -> bool:
    """Whether these lines fit, fences included."""
    if body.style is Style.PROSE:
        return size(contained("\n".join(lines))) <= room
    runs = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    used = 2 * max(MIN_FENCE, runs + 1) + size(body.language) + 1
    used += sum(size(body.lead(spot.line + index)) + size(line) + 1 for index, line in enumerate(lines))
    return used <= room


def _shown(body: Body, spot: Spot, lines: list[str]) -> str:
    if body.style is Style.PROSE:
        return contained("\n".join(lines))
    code = "\n".join(body.lead(spot.line + index) + line for index, line in enumerate(lines))
    fence = fence_for(code)
    return f"{fence}{body.language}\n{code}\n{fence}"


def _note(body: Body, spot: Spot, count: int, width: int | None) -> str | None:
    """Which lines are shown, when they are not all; prose needs no numbers."""
    if body.style is Style.PROSE or (spot == START and count == len(body.lines) and width is None):
        return None
    first = body.first if body.first is not None else 1
    start, end, last = first + spot.line, first + spot.line + count - 1, first + len(body.lines) - 1
    columns = ""
    if width is not None:
        columns = f", columns {spot.column + 1}-{spot.column + width} of line {start}"
    elif spot.column:
        columns = f", line {start} from column {spot.column + 1}"
    return f"> showing lines {start}-{end} of {first}-{last}{columns}"
