"""Renders a body whole, or the part that fits: its lines, and where the next part begins.

A place in a body is a line and a column, so that even one endless line comes through in pieces. Each piece is
Markdown of its own: pieces of code and diagrams get a fence each, what prose needs for that is in `prose`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cached_property

from attrs import frozen

from context_pack.kernel.text import MIN_FENCE, fence_for
from context_pack.packs.domain.prose import Fence, fences_of, part_of
from context_pack.toolkit.tokens import size

LEAST_WIDTH = 4
MOST_INFO, INFO_SHARE = 200, 0.25
AMPLE = 10**9
_BACKTICKS = re.compile("`+")


class Style(Enum):
    """How a body is shown."""

    PROSE = "prose"
    FENCE = "fence"


@frozen(slots=False)
class Body:
    """The long part of an item, line by line: code with the number of its first line, prose made safe."""

    style: Style
    lines: Sequence[str]
    language: str = ""
    first: int | None = None

    @cached_property
    def width(self) -> int:
        """How wide the numbers of the lines are."""
        return max(LEAST_WIDTH, len(str((self.first or 0) + len(self.lines) - 1)))

    @cached_property
    def fences(self) -> list[Fence | None]:
        """The fence that each line of prose is in."""
        return fences_of(self.lines)

    @cached_property
    def entire(self) -> str:
        """The whole body as Markdown."""
        return _shown(self, START, list(self.lines), AMPLE)

    def opens(self, index: int) -> bool:
        """Whether that line opens a fence of prose: it should not be the last of a piece."""
        return self.style is Style.PROSE and self.fences[index] is None and self.fences[index + 1] is not None

    def numbered(self, lines: list[str], index: int) -> list[str]:
        """These lines, the first of which has that index, each behind its number, for code."""
        if self.first is None:
            return lines
        width = self.width
        return [
            f"{str(number).rjust(width)}: {line}" for number, line in enumerate(lines, self.first + index)
        ]

    def lead(self, index: int) -> str:
        """What stands before a line: its number, for code."""
        return "" if self.first is None else f"{self.first + index:>{self.width}}: "


@frozen(order=True)
class BodyPosition:
    """A place in a body: a line and a column in it, both from 0."""

    line: int = 0
    column: int = 0


START = BodyPosition()


@frozen
class BodyPart:
    """A part of a body as Markdown; `next` is None at its end, `note` says which part it is."""

    text: str
    next: BodyPosition | None = None
    note: str | None = None


def whole(body: Body, spot: BodyPosition = START) -> BodyPart:
    """Everything from a spot on."""
    if spot is START or spot == START:
        return BodyPart(body.entire)
    lines = _from(body, spot)
    return BodyPart(_shown(body, spot, lines, AMPLE), None, _note(body, spot, len(lines), None))


def piece(body: Body, spot: BodyPosition, room: int) -> BodyPart:
    """As many whole lines as fit into `room` bytes; of a line that is longer than that, its beginning.

    At least one character is shown, so that reading on always gets somewhere.
    """
    lines = _from(body, spot)
    count = _most(lambda number: _fits(body, spot, lines[:number], room), _quick(lines, room))
    if count > 0:
        count -= count < len(lines) and count > 1 and body.opens(spot.line + count - 1)
        text, note = _shown(body, spot, lines[:count], room), _note(body, spot, count, None)
        return BodyPart(text, BodyPosition(spot.line + count) if count < len(lines) else None, note)
    line = lines[0]
    width = max(1, _most(lambda number: _fits(body, spot, [line[:number]], room, cut=True), len(line)))
    text = _shown(body, spot, [line[:width]], room, cut=True)
    following: BodyPosition | None = BodyPosition(spot.line, spot.column + width)
    if width >= len(line):
        # A line cut exactly at its end goes on with the next one, if there is one.
        following = BodyPosition(spot.line + 1) if len(lines) > 1 else None
    return BodyPart(text, following, _note(body, spot, 1, width))


def _from(body: Body, spot: BodyPosition) -> list[str]:
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


def _fits(body: Body, spot: BodyPosition, lines: list[str], room: int, *, cut: bool = False) -> bool:
    """Whether these lines fit, fences included."""
    if body.style is Style.PROSE:
        return size(_shown(body, spot, lines, room, cut=cut)) <= room
    runs = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    used = 2 * max(MIN_FENCE, runs + 1) + size(body.language) + 1
    used += sum(size(body.lead(spot.line + index)) + size(line) + 1 for index, line in enumerate(lines))
    return used <= room


def _shown(body: Body, spot: BodyPosition, lines: list[str], room: int, *, cut: bool = False) -> str:
    """These lines from a spot on as Markdown of their own; `cut` when the last is only a beginning."""
    if body.style is Style.PROSE:
        halves = {0} if spot.column else set()
        halves |= {len(lines) - 1} if cut else set()
        fences = body.fences[spot.line : spot.line + len(lines) + 1]
        return part_of(lines, fences, halves, min(MOST_INFO, int(room * INFO_SHARE)))
    code = "\n".join(body.numbered(lines, spot.line))
    fence = fence_for(code)
    return f"{fence}{body.language}\n{code}\n{fence}"


def _note(body: Body, spot: BodyPosition, count: int, width: int | None) -> str | None:
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
