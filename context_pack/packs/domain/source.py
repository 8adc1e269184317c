"""A source file as packs look at it: numbered lines that are cut out without splitting the whole file.

Lines end at `\\n` only, one trailing `\\r` of a line is dropped, and a final newline adds no line: as in
`kernel.lines.split_lines`, but once for the whole text. A line is found by halving the text and counting
newlines, which runs at the speed of memory, so that rendering a few refs of a large file costs about as much
as reading it. Splitting happens only when code has to be searched for.
"""

from __future__ import annotations

from functools import cached_property


class SourceText:
    """The text of one file with its lines; holds what was computed about it for one rendering."""

    def __init__(self, text: str) -> None:
        normal = text.replace("\r\n", "\n") if "\r\n" in text else text
        # The last line of a file that ends in a lone carriage return drops it like any other line.
        self.text = normal.removesuffix("\r")
        self._closed = text.endswith("\n")
        self.count = self.text.count("\n") + (0 if self._closed or not text else 1)

    @cached_property
    def lines(self) -> list[str]:
        """Every line; costs a walk over the whole file."""
        return self.text.split("\n")[: self.count]

    def excerpt(self, start: int, end: int) -> str:
        """Lines `start` to `end` (1-based, both included, both there), joined by newlines."""
        low = self._offset(start)
        if end < self.count:
            return self.text[low : self._offset(end + 1) - 1]
        return self.text[low : len(self.text) - self._closed]

    def _offset(self, line: int) -> int:
        """Where a line begins, by halving: the newlines before it are counted, never listed."""
        wanted = line - 1
        low, high, seen = 0, len(self.text), 0
        while high - low > 256:
            middle = (low + high) // 2
            here = self.text.count("\n", low, middle)
            if seen + here >= wanted:
                high = middle
            else:
                low, seen = middle, seen + here
        while seen < wanted:
            low = self.text.index("\n", low) + 1
            seen += 1
        return low
