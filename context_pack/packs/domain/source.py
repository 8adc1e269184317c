"""A source file as packs look at it: numbered lines that are cut out without splitting the whole file.

Lines end at `\\n` only, one trailing `\\r` of a line is dropped, and a final newline adds no line, as in
`kernel.lines.split_lines`, but once for the whole text: every line of the kept text ends with a newline, so
that line k stands between the newline before it and the k-th one. Newlines are counted chunk by chunk, no
further than is asked for, and never listed: cutting a few refs out of a file costs less than reading it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from context_pack.packs.domain.prints import Prints
from context_pack.packs.domain.rolling import beginnings

CHUNK = 4096
FEW_CHARS, FEW_LINES = 256, 64
"""Up to here newlines are looked for one by one, which costs less than counting them."""


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
        self._counts = [0]  # newlines before each chunk, as far as anybody has looked

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
        if before < 0 and start > 1:
            return None
        after = self._newline_after(before, end - start + 1, end)
        return self.text[before + 1 : after] if after >= 0 else None

    def excerpt(self, start: int, end: int) -> str:
        """The same for lines that are known to be there."""
        found = self.cut(start, end)
        if found is None:
            raise IndexError("the file has fewer lines")
        return found

    def like(self, print_: str) -> Iterator[int]:
        """The lines with that fingerprint, in file order and counted from 0."""
        return self.prints.positions(print_, self.lines, self.lengths)

    def occurrences(self, excerpt: str) -> Iterator[int]:
        """The lines at which whole lines begin that read like `excerpt`, in file order."""
        if self.text.startswith(f"{excerpt}\n"):
            yield 1
        needle = f"\n{excerpt}\n"
        at = self.text.find(needle)
        while at >= 0:
            yield self._line_after(at)
            at = self.text.find(needle, at + 1)

    def _line_after(self, newline: int) -> int:
        """The number of the line that begins after the newline at that place."""
        chunk = newline // CHUNK
        while len(self._counts) <= chunk:
            self._count_on()
        return self._counts[chunk] + self.text.count("\n", chunk * CHUNK, newline) + 2

    def _newline_after(self, before: int, lines: int, number: int) -> int:
        """Where the newline with that number stands, so many lines after the newline at `before`; or -1."""
        if lines > FEW_LINES:
            return self._newline(number)
        for _ in range(lines):
            before = self.text.find("\n", before + 1)
            if before < 0:
                return -1
        return before

    def _newline(self, number: int) -> int:
        """Where the newline with that number stands, counting from 1; -1 when there are not so many."""
        while self._counts[-1] < number:
            if (len(self._counts) - 1) * CHUNK >= len(self.text):
                return -1
            self._count_on()
        chunk = bisect_left(self._counts, number) - 1
        return self._inside(number - self._counts[chunk], chunk * CHUNK)

    def _inside(self, number: int, start: int) -> int:
        """Where the newline with that number stands in the chunk that begins at `start`, by halving it."""
        size = CHUNK // 2
        while size > FEW_CHARS:
            before = self.text.count("\n", start, start + size)
            if before < number:
                number, start = number - before, start + size
            size //= 2
        at = start - 1
        for _ in range(number):
            at = self.text.index("\n", at + 1)
        return at

    def _count_on(self) -> None:
        """Count one more chunk."""
        start = (len(self._counts) - 1) * CHUNK
        self._counts.append(self._counts[-1] + self.text.count("\n", start, start + CHUNK))
