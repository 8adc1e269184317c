"""Nearly all traffic, told without the state machine: one value alone on its line, or one plain frame.

What lives here: two questions about a buffer that have a sure yes or a shrug. What must not: anything that
needs an answer of its own; after a shrug the state machine reads the same bytes and decides. A yes is exactly
what the state machine would have said: the tests compare both.
"""

from __future__ import annotations

from json.decoder import JSONDecoder
from typing import Any, Final, NoReturn

from context_pack_adapters.mcp.jsonrpc import Line, ParseFault, read_value
from context_pack_adapters.mcp.limits import MAX_DEPTH

SHORT_LINE: Final = 64 * 1024
_PLAIN_HEADER: Final = b"Content-Length: "
_BLANK_LINE: Final = b"\r\n\r\n"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_decoder = JSONDecoder(parse_constant=_no_constant)


def one_value(line: bytes) -> bytes | None:
    """The line if it is surely one JSON value from its first byte to its last; a good one with that value."""
    if line[-1] not in b"}]" or line.count(b"{") + line.count(b"[") > MAX_DEPTH:
        return None
    try:
        text = line.decode()
        try:
            value, end = read_value(text)
        except ParseFault:  # It may still be one value, and then the fault is told when it is read.
            return line if _decoder.raw_decode(text)[1] == len(text) else None
    except ValueError:  # Not JSON, not UTF-8, or a number that Python will not read.
        return None
    return _with_value(line, value) if end == len(text) else None


def _with_value(line: bytes, value: Any) -> Line:
    read = Line(line)
    read.value = value
    return read


def plain_frame(buffer: bytearray, start: int) -> tuple[int, int] | None:
    """The first byte and the length of a body announced by the one header that everybody sends."""
    if not buffer.startswith(_PLAIN_HEADER, start):
        return None
    first = start + len(_PLAIN_HEADER)
    end = buffer.find(_BLANK_LINE, first, first + 16)
    if end < 0:
        return None
    digits = buffer[first:end]
    # Nine digits are below every limit of a header, so that only the message's own is left to check.
    return (end + len(_BLANK_LINE), int(digits)) if digits.isdigit() and len(digits) < 10 else None
