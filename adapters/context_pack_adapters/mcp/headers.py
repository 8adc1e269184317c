"""Header lines: what one looks like, and what a block of them says about the frame that follows.

What lives here: the shape of a line and the rules for `Content-Length`. What must not: buffers, bodies, I/O.
A wrong `Content-Length` is remembered until the block ends, so that one block is one fault.
"""

from __future__ import annotations

import re
from typing import Final

MAX_BLOCK: Final = 8 * 1024
MAX_LENGTH: Final = 1024**3

NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)", re.DOTALL)
_UNFINISHED = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+(?::.*)?|\r)?", re.DOTALL)
_DIGITS = re.compile(rb"[0-9]+")


class HeaderBlock:
    """One header block, taken line by line."""

    def __init__(self) -> None:
        self.size = 0
        self.length: int | None = None
        self.fault: str | None = None

    def add(self, line: bytes) -> bool:
        """Take a line without its end; False if it is not a header line at all."""
        parts = _LINE.fullmatch(line)
        if parts is None:
            return False
        name, value = parts.groups()
        if name.lower() == b"content-length":
            self._measure(value.strip(b" \t"))
        return True

    @property
    def has_length(self) -> bool:
        """Whether a `Content-Length` was there, good or bad."""
        return self.length is not None or self.fault is not None

    def _measure(self, value: bytes) -> None:
        if self.has_length:
            self.fault = self.fault or "more than one Content-Length"
        elif not _DIGITS.fullmatch(value):
            self.fault = "Content-Length is not a number"
        elif len(value.lstrip(b"0")) > 10 or int(value) > MAX_LENGTH:
            self.fault = "Content-Length is over 1 GiB"
        else:
            self.length = int(value)


def may_become_header(rest: bytes) -> bool:
    """Whether a line that was cut short could still have become a header line or the end of a block."""
    return _UNFINISHED.fullmatch(rest) is not None
