"""A part of a description as Markdown: a code fence that the cut goes through is closed and reopened.

A description is made safe as a whole (`kernel.markdown`), and only then cut. What is cut off knows
nothing of the fence it stands in, so each part opens that fence again, info string and all, and closes it at
its end: code stays code, prose stays prose, and every line comes as it was. Two things need care: half a line
may look like a fence or close one, and an indented fence wants a list item that may be on another page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from attrs import define, evolve, field, frozen

from context_pack.kernel.markdown import escape_structure
from context_pack.kernel.text import MIN_FENCE
from context_pack.toolkit.tokens import size

MOST_RUN = 40
"""A longer fence is opened again no longer than it has to be."""
_OPENING = re.compile(r"(?P<lead>[ \t]*(?:>[ \t]*)*)(?P<run>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
_MARKED = re.compile(r"[ \t>]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")


@frozen(eq=False)
class Fence:
    """A fence: what stands before it (white space, quote marks), its character, length and info string."""

    lead: str
    char: str
    length: int
    info: str

    @property
    def opening(self) -> str:
        """The line that opens it."""
        return f"{self.lead}{self.char * self.length}{self.info}"

    @property
    def closing(self) -> str:
        """The line that closes it."""
        return f"{self.lead}{self.char * self.length}"

    def left_by(self, line: str) -> bool:
        """Whether the line is no longer in the quote that the fence is in."""
        return self._inside(line) is None

    def closed_by(self, line: str) -> bool:
        """Whether the line ends the fence; an indented one is ended from any column."""
        inside = self._inside(line)
        if inside is None or self.run(inside) < self.length:
            return False
        return _columns(inside) < 4 or self.lead.isspace()

    def run(self, line: str) -> int:
        """The length of the line, if it is nothing but this fence's character; else 0."""
        body = line.strip(" \t")
        return 0 if body.strip(self.char) else len(body)

    def _inside(self, line: str) -> str | None:
        """The line without its quote marks; None when it has not enough of them."""
        depth = self.lead.count(">")
        if not depth:
            return line
        marks = re.match(rf"(?:[ \t]*>){{{depth}}} ?", line)
        return None if marks is None else line[marks.end() :]


def fences_of(lines: Sequence[str]) -> list[Fence | None]:
    """The fence that each line of a safe text is in, its closing line included; one more for the end."""
    found: list[Fence | None] = []
    now: Fence | None = None
    for line in lines:
        now = None if now is not None and now.left_by(line) else now
        found.append(now)
        if now is None:
            now = _opened(line)
        elif now.closed_by(line):
            now = None
    return [*found, now]


def _opened(line: str) -> Fence | None:
    """The fence that the line opens; in a safe text what only looks like one is escaped, but for quotes."""
    opening = _OPENING.fullmatch(line)
    if opening is None or (opening["run"][0] == "`" and "`" in opening["info"]):
        return None
    before, mark, after = opening["lead"].rpartition(">")
    if mark and (_columns(before) > 3 or _columns(after.removeprefix(" ")) > 3):
        return None
    return Fence(opening["lead"], opening["run"][0], len(opening["run"]), opening["info"])


def part_of(
    texts: Sequence[str], fences: Sequence[Fence | None], halves: Collection[int], info_bytes: int
) -> str:
    """These texts as Markdown of their own.

    `fences` are those of the lines they are from, and one more; `halves` says which of them are no whole
    lines; an info string that is longer than `info_bytes` is not repeated.
    """
    part = _TextPass(texts, fences, halves, info_bytes)
    for index in range(len(texts)):
        part.take(index)
    return escape_structure("\n".join(part.lines))


@define
class _TextPass:
    """One pass over the texts; `shown` is the fence that is open in what was written so far."""

    texts: Sequence[str]
    fences: Sequence[Fence | None]
    halves: Collection[int]
    info_bytes: int
    lines: list[str] = field(factory=list)
    shown: Fence | None = None
    listed: bool = False

    def take(self, index: int) -> None:
        """Add one text."""
        fence, text, half = self.fences[index], self.texts[index], index in self.halves
        if fence is None:
            self._leave()
            opens = None if half else self.fences[index + 1]
            self.lines.append(self._prose(text, half) if opens is None else self._opening(text, opens, index))
        elif half or self.fences[index + 1] is fence:
            self._again(fence, index)
            self.lines.append(text)
        elif self.shown is not None:
            self.lines.append(text if self.shown.closing == fence.closing else self.shown.closing)
            self.shown = None

    def _again(self, fence: Fence, index: int) -> None:
        """Open the fence of a part that begins inside it."""
        if self.shown is None:
            kept = fence.info if size(fence.info) <= self.info_bytes else ""
            self.shown = self._remade(evolve(fence, info=kept), fence, index)
            self.lines.append(self.shown.opening)

    def _leave(self) -> None:
        """Close what is open before a line outside of it: the closing line itself was cut in halves."""
        if self.shown is not None and ">" not in self.shown.lead:
            self.lines.append(self.shown.closing)
        self.shown = None

    def _prose(self, text: str, half: bool) -> str:
        """A line outside of fences; half a line that looks like a fence is none."""
        self.listed = self.listed or _MARKED.match(text) is not None
        alike = _OPENING.match(text) if half else None
        return text if alike is None else f"{alike['lead']}\\{text[alike.end('lead') :]}"

    def _opening(self, text: str, fence: Fence, index: int) -> str:
        """A line that opens a fence; as it is, wherever that means the same."""
        self.shown = self._remade(fence, fence, index + 1)
        return text if self.shown.opening == fence.opening else self.shown.opening

    def _remade(self, new: Fence, fence: Fence, index: int) -> Fence:
        """A fence for the code from `index` on: nothing in it closes it, and it needs no list item."""
        runs = [0]
        while index < len(self.texts) and self.fences[index] is fence:
            if index in self.halves or self.fences[index + 1] is fence:
                runs += [fence.run(self.texts[index])]
            index += 1
        least = max(MIN_FENCE, max(runs) + 1)
        length = fence.length if least <= fence.length <= MOST_RUN else least
        deep = _columns(fence.lead) > 3 and not self.listed
        return evolve(new, length=length, lead="   " if deep else fence.lead)


def _columns(text: str) -> int:
    """The indentation in columns, with tab stops every four."""
    return len(text[: len(text) - len(text.lstrip(" \t"))].expandtabs(4))
