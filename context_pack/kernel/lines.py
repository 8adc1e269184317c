"""Ranges of lines, counted the way every tool here counts (`kernel.text` says what a line is)."""

from __future__ import annotations

from context_pack.kernel.classes import Attribute, field, frozen
from context_pack.kernel.errors import invalid

MAX_LINES = 2000


def _whole(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid(f"'{name}' must be an integer", name)
    return value


def _check_start(_: object, __: Attribute[int], value: int) -> None:
    if _whole(value, "line_start") < 1:
        raise invalid("'line_start' must be at least 1", "line_start")


def _check_end(lines: LineRange, _: Attribute[int], value: int) -> None:
    if _whole(value, "line_end") < lines.start:
        raise invalid("'line_end' must not be before 'line_start'", "line_end")
    if lines.count > MAX_LINES:
        raise invalid(f"a range holds at most {MAX_LINES} lines; split it into several refs", "line_end")


@frozen
class LineRange:
    """Lines `start` to `end`, both counted from 1 and both included."""

    start: int = field(validator=_check_start)
    end: int = field(validator=_check_end)

    @property
    def count(self) -> int:
        """How many lines the range holds."""
        return self.end - self.start + 1

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"
