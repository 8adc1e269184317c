"""Ranges of lines, counted the way every tool here counts (`kernel.text` says what a line is)."""

from __future__ import annotations

from attrs import frozen

from context_pack.kernel.errors import invalid

MAX_LINES = 2000
LAST_LINE = 2_147_483_647
"""No line of any file has a higher number; every reader of a pack file can hold this one."""


@frozen
class LineRange:
    """Lines `start` to `end`, both counted from 1 and both included."""

    start: int
    end: int

    def __attrs_post_init__(self) -> None:
        start, end = self.start, self.end
        if start < 1:
            raise invalid("'line_start' must be at least 1", "line_start")
        if end < start:
            raise invalid("'line_end' must not be before 'line_start'", "line_end")
        if end - start >= MAX_LINES:
            raise invalid(f"a range holds at most {MAX_LINES} lines; split it into several refs", "line_end")
        if end > LAST_LINE:
            name = "line_start" if start > LAST_LINE else "line_end"
            raise invalid(f"'{name}' must be at most {LAST_LINE}", name)

    @classmethod
    def stored(cls, start: object, end: object) -> LineRange:
        """The range that a file describes, which may hold anything.

        Raises:
            Failure: `invalid_data`.
        """
        if type(start) is not int or type(end) is not int:
            raise invalid("lines must be two whole numbers", "lines")
        return cls(start, end)

    @property
    def count(self) -> int:
        """How many lines the range holds."""
        return self.end - self.start + 1

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"
