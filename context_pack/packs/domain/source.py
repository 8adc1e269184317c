"""A source file as packs look at it: numbered lines that are cut out without splitting the whole file.

Lines end at `\\n` only, one trailing `\\r` of a line is dropped, and a final newline adds no line, as in
`kernel.lines.split_lines`, but once for the whole text. The text is kept between two newlines, so that line k
stands between the k-th newline and the next. Newlines are counted chunk by chunk, no further than is asked
for, and never listed but for small texts: cutting a few refs out of a large file costs about as much as
reading it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from context_pack.packs.domain.prints import Prints
from context_pack.packs.domain.rolling import beginnings

CHUNK = 16 * 1024
FEW = 128
SMALL = 64 * 1024
"""Up to here, listing all lines costs less than finding a few."""


class SourceText:
    """The text of one file with its lines; holds what was computed about it for one rendering."""

    def __init__(self, text: str) -> None:
        # The last line drops a carriage return too when the file ends without a newline.
        normal = text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text
        self.text = f"\n{normal}" if not text or text.endswith("\n") else f"\n{normal}\n"
        self.prints = Prints()
        self._small = len(self.text) <= SMALL
        self._counts = [0]  # newlines before each chunk, as far as anybody has looked

    @cached_property
    def count(self) -> int:
        """How many lines there are."""
        return self.text.count("\n") - 1

    @cached_property
    def lines(self) -> list[str]:
        """Every line; costs a walk over the whole file."""
        return self.text.split("\n")[1:-1]

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
        if self._small:
            return line <= len(self.lines)
        return self._newline(line + 1) >= 0

    def excerpt(self, start: int, end: int) -> str:
        """Lines `start` to `end` (1-based, both included, both there), joined by newlines."""
        if self._small:
            return "\n".join(self.lines[start - 1 : end])
        return self.text[self._newline(start) + 1 : self._newline(end + 1)]

    def like(self, print_: str) -> Iterator[int]:
        """The lines with that fingerprint, in file order and counted from 0."""
        return self.prints.positions(print_, self.lines, self.lengths)

    def occurrences(self, excerpt: str) -> Iterator[int]:
        """The lines at which whole lines begin that read like `excerpt`, in file order."""
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
        return self._counts[chunk] + self.text.count("\n", chunk * CHUNK, newline) + 1

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
        while size > FEW:
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
