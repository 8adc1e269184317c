"""What counts as a text file: UTF-8 without a NUL near its start. Line endings are left as they are."""

from __future__ import annotations

from context_pack.kernel.ports import Reason

SNIFFED_BYTES = 8192


def decode(data: bytes) -> str | Reason:
    """The text without its byte order mark, or the reason why it is not one."""
    if b"\0" in data[:SNIFFED_BYTES]:
        return Reason.BINARY
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return Reason.NOT_UTF8
