"""The text of one source file by lines.

Lines end at `\\n` only, one trailing `\\r` of a line is dropped, and a final newline adds no line, as in
`kernel.text.split_lines`: so anchors do not depend on line endings.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property


class SourceText:
    """The text of one file with its lines."""

    def __init__(self, text: str) -> None:
        # The last line drops a carriage return too when the file ends without a newline.
        normal = text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text
        self.text = normal if not text or text.endswith("\n") else f"{normal}\n"

    @cached_property
    def lines(self) -> list[str]:
        """Every line."""
        return self.text.split("\n")[:-1]

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    def cut(self, start: int, end: int) -> str | None:
        """Lines `start` to `end` (1-based, both included), joined by newlines; None unless all are there."""
        return "\n".join(self.lines[start - 1 : end]) if 1 <= start <= end <= self.count else None

    def occurrences(self, excerpt: str) -> Iterator[int]:
        """The lines, from 1, at which whole lines begin that read like `excerpt`, in file order."""
        text, needle, seen, line = self.text, f"\n{excerpt}\n", 0, 1
        if text.startswith(needle[1:]):
            yield line
        while (at := text.find(needle, seen)) >= 0:
            line += text.count("\n", seen, at + 1)
            seen = at + 1
            yield line
