"""A page of a pack: how much is shown, where it begins, and how its texts are fitted into bytes.

A cursor carries the pack's revision: pages of two packs, or of two revisions of one, never mix. A page is
never larger than its budget, whatever a field holds: only the free text of a line is ever cut (never its
marker or its key), the longest first, and a cut ends in `…`. Bodies break between lines; a single line that
is larger than a page is cut. Each part is Markdown of its own: code and diagrams get a fence each, and a
fence of a description that a page break goes through is closed at the end of the one page and opened again
on the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum, StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from attrs import frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.markdown import block_parser, escape_structure
from context_pack.kernel.paging import decode_cursor, encode_cursor
from context_pack.kernel.text import MIN_FENCE, fence_for
from context_pack.packs.model import Pack
from context_pack.toolkit.budget import ELLIPSIS, cut_text, size


class Mode(StrEnum):
    """How much of a pack is shown."""

    FULL = "full"
    COMPACT = "compact"
    DIFF = "diff"


@frozen
class Rendered:
    """One page; `cursor` leads to the next, None on the last."""

    text: str
    cursor: str | None = None


CURSOR_KIND = "pack"


@frozen
class Position:
    """Where the next page begins: an item, and the line of its body to go on with."""

    item: int = 0
    line: int = 0


@frozen
class Bookmark:
    """What a cursor carries: the pack, its revision, the mode and the position."""

    pack_id: str
    revision: int
    mode: Mode
    position: Position

    def encode(self) -> str:
        """The cursor."""
        at = [self.position.item, self.position.line]
        payload = {"id": self.pack_id, "revision": self.revision, "mode": self.mode.value, "at": at}
        return encode_cursor(CURSOR_KIND, payload)

    @classmethod
    def decode(cls, cursor: str) -> Bookmark:
        """The bookmark of a cursor.

        Raises:
            Failure: `invalid_data`, field `cursor`.
        """
        payload = decode_cursor(CURSOR_KIND, cursor)
        try:
            position = Position(*map(_natural, payload["at"]))
            return cls(str(payload["id"]), _natural(payload["revision"]), Mode(payload["mode"]), position)
        except (KeyError, TypeError, ValueError):
            raise invalid("'cursor' does not lead anywhere; render the pack without it", "cursor") from None

    def check(self, pack: Pack) -> None:
        """Return only if the cursor belongs to this pack as it now is.

        Raises:
            Failure: `invalid_data` for another pack, `revision_conflict` for a changed one.
        """
        if self.pack_id != pack.id:
            raise invalid("'cursor' belongs to another pack; render this one without it", "cursor")
        pack.check_revision(self.revision)


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("not a natural number")
    return value


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


LEAST_WIDTH = 4
MOST_INFO = 200
"""A longer info string of a fence is not repeated on the next page."""
_BACKTICKS = re.compile("`+")
_QUOTE = re.compile(r"[ >]*>[ >]*")


class Style(Enum):
    """How a body is shown."""

    PROSE = "prose"
    FENCE = "fence"


class Fence(NamedTuple):
    """A fence of a description: its first line, the line after it, and what opens and closes it again.

    `closes` says whether its last line is its end. A quoted one is opened again in its quote, any other one
    at the left: the list item that it may have stood in is on another page.
    """

    start: int
    end: int
    closes: bool
    opening: str
    closing: str


@frozen(slots=False)
class Body:
    """The long part of an item, line by line: code with the number of its first line, prose made safe."""

    style: Style
    lines: Sequence[str]
    language: str = ""
    first: int | None = None

    @cached_property
    def entire(self) -> str:
        """The whole body as Markdown."""
        return self.shown(0, list(self.lines))

    @cached_property
    def fences(self) -> list[Fence]:
        """The fences of a description."""
        text = "\n".join(self.lines).replace("\r", " ")  # which the parser takes for the end of a line
        tokens = block_parser().parse(text) if self.style is Style.PROSE else []
        return [
            self._fence(token.map[0], token.map[1], token.markup, token.info)
            for token in tokens
            if token.type == "fence" and token.map is not None
        ]

    def _fence(self, start: int, end: int, markup: str, info: str) -> Fence:
        last = self.lines[end - 1].strip(" \t>")
        closes = end - 1 > start and len(last) >= len(markup) and not last.strip(markup[0])
        lead = self.lines[start].partition(markup)[0]
        lead = lead if _QUOTE.fullmatch(lead) else ""
        return Fence(
            start, end, closes, f"{lead}{markup}{info if size(info) <= MOST_INFO else ''}", lead + markup
        )

    def lead(self, index: int) -> str:
        """What stands before a line: its number, for code."""
        if self.first is None:
            return ""
        width = max(LEAST_WIDTH, len(str(self.first + len(self.lines) - 1)))
        return f"{self.first + index:>{width}}: "

    def shown(self, start: int, lines: list[str]) -> str:
        """These lines, the first of which has that index, as Markdown of their own."""
        if self.style is Style.FENCE:
            code = "\n".join(f"{self.lead(index)}{line}" for index, line in enumerate(lines, start))
            fence = fence_for(code)
            return f"{fence}{self.language}\n{code}\n{fence}"
        return escape_structure("\n".join(self._reopened(start, list(lines))))

    def _reopened(self, start: int, lines: list[str]) -> list[str]:
        """Lines of a description with the fences closed and opened again that the page breaks go through."""
        stop, before, skipped = start + len(lines), [], 0
        for fence in self.fences:
            if not start <= fence.start < stop and not fence.start < start < fence.end:
                continue
            # Without its list item a fence that stands deep in one would be an indented block.
            moved = fence.start < start or (start > 0 and self.lines[fence.start].startswith("    "))
            if moved and fence.start >= start:
                lines[fence.start - start] = fence.opening
            if moved and fence.closes and fence.end <= stop:
                lines[fence.end - 1 - start] = fence.closing
            if fence.start < stop < fence.end:
                lines.append(fence.closing if moved else self._indent(fence) + fence.closing)
            if fence.start < start:
                if fence.closes and start == fence.end - 1:
                    skipped = 1  # its end alone would be an empty fence
                else:
                    before = [fence.opening]
        return before + lines[skipped:]

    def _indent(self, fence: Fence) -> str:
        """What stands before the end of a fence where it stood."""
        line = self.lines[fence.start]
        return "" if fence.closing.startswith(">") else " " * (len(line) - len(line.lstrip()))


@frozen
class BodyPart:
    """A part of a body as Markdown; `next` is the line to go on with, `note` says which part it is."""

    text: str
    next: int | None = None
    note: str | None = None


def part(body: Body, start: int = 0, room: int | None = None) -> BodyPart:
    """As many lines from `start` on as fit into `room` bytes, at least the beginning of one."""
    lines = list(body.lines[start:])
    count = len(lines) if room is None else _fitting(body, start, lines, room)
    opens = any(fence.start == start for fence in body.fences) and len(lines) > 1
    if room is not None and count <= opens:  # not even one line fits, below that which opens its fence
        around = size(body.shown(start, [*lines[:opens], ""]))
        lines[opens], count = cut_text(lines[opens], max(1, room - around)), 1 + opens
    shown = body.entire if count == len(body.lines) and not start and room is None else None
    text = shown or body.shown(start, lines[:count])
    return BodyPart(text, start + count if count < len(lines) else None, _note(body, start, count))


def _fitting(body: Body, start: int, lines: list[str], room: int) -> int:
    """How many of the lines fit with what stands around them."""
    left = room
    if body.style is Style.FENCE:
        longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
        left -= 2 * max(MIN_FENCE, longest + 1) + size(body.language) + 2
    count = 0
    for index, line in enumerate(lines, start):
        left -= size(body.lead(index)) + size(line) + 1
        if left < -1:
            break
        count += 1
    if body.style is Style.PROSE:
        # What opens, closes and escapes takes some bytes more; and no page ends with a line that opens.
        opening = {fence.start for fence in body.fences}
        while count and (
            size(body.shown(start, lines[:count])) > room
            or (1 < count < len(lines) and start + count - 1 in opening)
        ):
            count -= 1
    return count


def _note(body: Body, start: int, count: int) -> str | None:
    """Which lines are shown, when they are not all; prose needs no numbers."""
    if body.style is Style.PROSE or count == len(body.lines):
        return None
    first = body.first if body.first is not None else 1
    last = first + len(body.lines) - 1
    return f"> showing lines {first + start}-{first + start + count - 1} of {first}-{last}"
