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
        for value, name in ((start, "line_start"), (end, "line_end")):
            if not isinstance(value, int) or isinstance(value, bool):
                raise invalid(f"'{name}' must be an integer", name)
        if start < 1:
            raise invalid("'line_start' must be at least 1", "line_start")
        if end < start:
            raise invalid("'line_end' must not be before 'line_start'", "line_end")
        if end - start >= MAX_LINES:
            raise invalid(f"a range holds at most {MAX_LINES} lines; split it into several refs", "line_end")
        if end > LAST_LINE:
            name = "line_start" if start > LAST_LINE else "line_end"
            raise invalid(f"'{name}' must be at most {LAST_LINE}", name)

    @property
    def count(self) -> int:
        """How many lines the range holds."""
        return self.end - self.start + 1

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"
