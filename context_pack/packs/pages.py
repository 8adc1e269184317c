"""A page of a pack: how much is shown, where it begins, and how its texts are fitted into bytes.

A cursor carries the pack's revision: pages of two packs, or of two revisions of one, never mix. A page is
never larger than its budget, whatever a field holds: only the free text of a line is ever cut (never its
marker or its key), the longest first, and a cut ends in `…`. Bodies break between lines; a single line that
is larger than a page is cut. Each part is Markdown of its own: code and diagrams get a fence each, and so
does a block of a description (a paragraph, a list, a fence) that is larger than a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, StrEnum
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from attrs import frozen

from context_pack.kernel.errors import invalid
from context_pack.kernel.markdown import block_parser
from context_pack.kernel.paging import decode_cursor, encode_cursor
from context_pack.kernel.text import fence_for
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


class Style(Enum):
    """How a body is shown."""

    PROSE = "prose"
    FENCE = "fence"


@frozen(slots=False)
class Body:
    """The long part of an item, line by line: code with the number of its first line, or prose made safe."""

    style: Style
    lines: Sequence[str]
    language: str = ""
    first: int | None = None

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """The first line of each block of prose and the line after it; code is one block."""
        starts = {0}
        if self.style is Style.PROSE:
            text = "\n".join(self.lines).replace("\r", " ")  # which the parser takes for the end of a line
            tokens = block_parser().parse(text)
            starts |= {token.map[0] for token in tokens if token.level == 0 and token.map is not None}
        return list(pairwise([*sorted(starts), len(self.lines)]))

    @cached_property
    def fence(self) -> str:
        """A fence that nothing in the body closes."""
        return fence_for("\n".join(self.lines))

    def numbered(self, index: int) -> str:
        """A line with its number, if the body is code."""
        if self.first is None:
            return self.lines[index]
        width = max(LEAST_WIDTH, len(str(self.first + len(self.lines) - 1)))
        return f"{self.first + index:>{width}}: {self.lines[index]}"

    def fenced(self, lines: Iterable[str]) -> str:
        """Lines in a fence."""
        language = "markdown" if self.style is Style.PROSE else self.language
        return "\n".join([f"{self.fence}{language}", *lines, self.fence])


@frozen
class BodyPart:
    """A part of a body as Markdown; `next` is the line to go on with, `note` says which part it is."""

    text: str
    next: int | None = None
    note: str | None = None


def part(body: Body, start: int, room: int | None) -> BodyPart:
    """As much as fits from a line on: blocks of prose whole, code and what is left of a block in a fence.

    At least the beginning of a line is shown; without `room`, everything is.
    """
    shown: list[str] = []
    left, at = inf if room is None else room, start
    for low, high in body.blocks:
        if high <= at or at >= len(body.lines):
            continue
        whole = body.style is Style.PROSE and low == at
        lines = list(body.lines[at:high]) if whole else [body.numbered(index) for index in range(at, high)]
        text = "\n".join(lines) if whole else body.fenced(lines)
        if size(text) <= left:
            shown.append(text)
            left, at = left - size(text) - 1, high
            continue
        if not shown:
            lines = _fitting(
                [body.numbered(index) for index in range(at, high)], left - size(body.fenced([])) - 1
            )
            shown.append(body.fenced(lines))
            at += len(lines)
        break
    note = None
    if body.style is Style.FENCE and at - start < len(body.lines):
        first = 1 if body.first is None else body.first
        span = f"{first}-{first + len(body.lines) - 1}"
        note = f"> showing lines {first + start}-{first + at - 1} of {span}"
    if at == len(body.lines):
        return BodyPart("\n".join(shown), None, note)
    return BodyPart("\n".join(shown).rstrip("\n"), at, note)


def _fitting(lines: Sequence[str], room: float) -> list[str]:
    """The first lines that fit, at least the beginning of one."""
    fitting: list[str] = []
    for line in lines:
        room -= size(line) + 1
        if room < 0:
            break
        fitting.append(line)
    return fitting or [cut_text(lines[0], max(1, int(room) + size(lines[0])))]
