"""Lines of a text and ranges of them, counted the way every tool here counts.

A line ends at `\\n` and nowhere else: form feeds, U+0085, U+2028 and lone `\\r` stay inside a line, which is
why `str.splitlines` must not be used on source text.
"""

from __future__ import annotations

from context_pack.kernel.classes import Attribute, field, frozen
from context_pack.kernel.errors import invalid

MAX_LINES = 2000


def split_lines(text: str) -> list[str]:
    """The lines without their endings; one final `\\r` of a line is dropped, a final newline adds no line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if "\r" not in text:
        return lines
    return [line.removesuffix("\r") for line in lines]


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
