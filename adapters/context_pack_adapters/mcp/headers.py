"""Header lines: what one looks like, and what a block of them says about the frame that follows.

What lives here: the shape of a line and the rules for `Content-Length`. What must not: buffers, bodies, I/O.
A wrong `Content-Length` is remembered until the block ends, so that one block is one fault.
"""

from __future__ import annotations

from typing import Final

from context_pack_adapters.mcp.limits import MAX_FRAME_BYTES

_NAME_BYTES: Final = (
    b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # an HTTP token
)


def is_name(text: bytes) -> bool:
    """Whether a text may be the name of a header."""
    return bool(text) and not text.translate(None, _NAME_BYTES)


def may_become_header(line: bytes) -> bool:
    """Whether a line that was cut short could still have become a header line or the end of a block."""
    return line in (b"", b"\r", b"\n") or is_name(line.partition(b":")[0])


class HeaderBlock:
    """One header block, taken line by line."""

    def __init__(self) -> None:
        self.size = 0
        self.length: int | None = None
        self.fault: str | None = None

    def add(self, line: bytes) -> bool:
        """Take a line without its end; False if it is not a header line at all."""
        name, colon, value = line.partition(b":")
        if not colon or not is_name(name):
            return False
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
        elif not value.isdigit():
            self.fault = "Content-Length is not a number"
        elif len(value.lstrip(b"0")) > 10 or int(value) > MAX_FRAME_BYTES:
            self.fault = "Content-Length is over 1 GiB"
        else:
            self.length = int(value)
