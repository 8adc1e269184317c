"""A source file as packs look at it: numbered lines that are cut out without splitting the whole file.

Lines end at `\\n` only, one trailing `\\r` of a line is dropped, and a final newline adds no line, as in
`kernel.lines.split_lines`, but once for the whole text: every line of the kept text ends with a newline, so
that line k stands between the newline before it and the k-th one. Where that is, is guessed from the width
of the lines so far, counted, and mended; newlines are counted no further than is asked for, and never listed.
So cutting a few refs out of a file costs less than reading it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from context_pack.packs.domain.prints import Prints, length_of
from context_pack.packs.domain.rolling import beginnings

FEW_LINES = 24
"""Up to here newlines are looked for one by one, which costs less than counting them."""
USUAL_WIDTH = 40
PROBE = 128
"""Short, because looking back may cost as much as this times the size of a file made to deceive."""


class SourceText:
    """The text of one file with its lines; holds what was computed about it for one rendering.

    `shifts` are the distances that code of this file was found to have moved by: the rest of the file has
    probably moved by one of them too.
    """

    def __init__(self, text: str) -> None:
        # The last line drops a carriage return too when the file ends without a newline.
        normal = text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text
        self.text = normal if not text or text.endswith("\n") else f"{normal}\n"
        self.shifts: list[int] = []
        self.prints = Prints()
        self._homes: dict[int, dict[str, array[int]]] = {}
        # Newlines whose places are known: their numbers, and the places; the zeroth is before the text.
        self._numbers = [0]
        self._places = [-1]

    @cached_property
    def count(self) -> int:
        """How many lines there are."""
        return self.text.count("\n")

    @cached_property
    def lines(self) -> list[str]:
        """Every line; costs a walk over the whole file."""
        return self.text.split("\n")[:-1]

    @cached_property
    def lengths(self) -> list[int]:
        """The length of every line."""
        return list(map(len, self.lines))

    @cached_property
    def sums(self) -> array[int]:
        """The rolling checksum of each beginning of the file; costs more than everything else here."""
        return beginnings(self.lines)

    def has(self, line: int) -> bool:
        """Whether there is a line with that number."""
        return self._newline(line) >= 0

    def cut(self, start: int, end: int) -> str | None:
        """Lines `start` to `end` (1-based, both included), joined by newlines; None unless all are there."""
        before = self._newline(start - 1) if start > 1 else -1
        if end < start or (before < 0 and start > 1):
            return None
        after = self._search(end, start - 1, before)
        return self.text[before + 1 : after] if after >= 0 else None

    def excerpt(self, start: int, end: int) -> str:
        """The same for lines that are known to be there."""
        found = self.cut(start, end)
        if found is None:
            raise IndexError("the file has fewer lines")
        return found

    def like(self, print_: str) -> Sequence[int]:
        """The lines with that fingerprint, in file order and counted from 0."""
        length = length_of(print_)
        if length not in self._homes:
            # All that are as long at once: many refs ask, and each would walk over them again.
            homes = self._homes[length] = {}
            for at in self._as_long(length):
                homes.setdefault(self.prints[self.lines[at]], array("I")).append(at)
        return self._homes[length].get(print_, ())

    def _as_long(self, length: int) -> Iterator[int]:
        """The lines of one length."""
        at = -1
        while True:
            try:
                at = self.lengths.index(length, at + 1)
            except ValueError:
                return
            yield at

    def occurrences(self, excerpt: str) -> Iterator[int]:
        """The lines at which whole lines begin that read like `excerpt`, in file order."""
        needle, text = f"\n{excerpt}\n", self.text
        at = -1 if text.startswith(needle[1:]) else text.find(needle)
        if at < 0 and not text.startswith(needle[1:]):
            return
        yield 1 if at < 0 else self._line_after(at)
        # Looking back for its beginning is quicker than looking on for all of it, and mostly settles it.
        if text.rfind(needle[:PROBE]) == at:
            return
        at = text.find(needle, at + 1)
        while at >= 0:
            yield self._line_after(at)
            at = text.find(needle, at + 1)

    def _line_after(self, newline: int) -> int:
        """The number of the line that begins after the newline at that place."""
        known = bisect_right(self._places, newline) - 1
        return self._numbers[known] + self.text.count("\n", self._places[known] + 1, newline + 1) + 1

    def _newline(self, number: int) -> int:
        """Where the newline with that number stands, counting from 1; -1 when there are not so many."""
        known = bisect_right(self._numbers, number) - 1
        place = self._search(number, self._numbers[known], self._places[known])
        if place >= 0 and self._numbers[known] != number:
            self._numbers.insert(known + 1, number)
            self._places.insert(known + 1, place)
        return place

    def _search(self, number: int, line: int, place: int) -> int:
        """The same, from the newline `line` at `place` on: guess, count, and guess better."""
        text, width, end = self.text, USUAL_WIDTH, len(self.text)
        while number - line > FEW_LINES:
            guess = min(end, place + 1 + (number - line) * width)
            passed = text.count("\n", place + 1, guess)
            beyond = line + passed - number
            if 0 <= beyond <= FEW_LINES:
                for _ in range(beyond + 1):
                    guess = text.rfind("\n", 0, guess)
                return guess
            if beyond > 0:
                width = max(1, width // 2)
                continue
            if guess == end:
                return -1
            # What was passed ends in the middle of a line, and the next count begins right there.
            width = max(1, (guess - place) // passed + 1) if passed else 2 * width
            line, place = line + passed, guess - 1
        for _ in range(number - line):
            place = text.find("\n", place + 1)
            if place < 0:
                return -1
        return place
