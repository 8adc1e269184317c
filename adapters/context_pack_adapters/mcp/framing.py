"""The codec of the stdio transport: bytes in, message bodies and faults out; a message in, its bytes out.

What lives here: telling messages apart, framed by `Content-Length` or unframed, and finding the way back
after garbage. What must not: parsing of JSON values, JSON-RPC, file descriptors, clocks, threads.

Theory: a state machine whose states are the `_read_*` and `_skip_*` methods. Each consumes what it can of the
buffer and returns True if another state may go on, False if more bytes are needed. What comes out depends on
the bytes alone, not on how they were cut; each byte is looked at a bounded number of times; at most one
message is held, and one that is too large is not held at all.

Garbage is one fault for each run of it: lines are skipped until one that can start a message (`{`, `[`, or a
header line). A header block that begins inside such a run and names no length still belongs to the run.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from context_pack_adapters.mcp.headers import MAX_BLOCK, NAME, HeaderBlock, may_become_header
from context_pack_adapters.mcp.scanner import BROKEN, COMPLETE, MAX_DEPTH, PENDING, Scanner

Mode = Literal["framed", "unframed"]

MAX_MESSAGE_BYTES: Final = 10 * 1024 * 1024

_BRACKETS: Final = b"{["
_BOM: Final = b"\xef\xbb\xbf"
_LONGEST_NAME: Final = 256
_SPACE = re.compile(rb"[ \t\n\r\v\f]*+")
_VALUE_LINE = re.compile(rb"[ \t\r\v\f]*+[{[]")


class Fault(NamedTuple):
    """A message that could not be read, and why; the peer is told with a parse error."""

    reason: str


class Decoder:
    """Cuts a stream of bytes into message bodies and faults, in order."""

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.mode: Mode | None = None
        self._limit = max_message_bytes
        self._buffer = bytearray()
        self._start = 0  # Where the current message, line or run begins: nothing before it is needed.
        self._at = 0  # How far the current value has been scanned.
        self._wanted = 0  # Bytes of the frame still to come.
        self._run = False  # Inside a run of garbage whose fault has been told.
        self._scanner = Scanner()
        self._block = HeaderBlock()
        self._out: list[bytes | Fault] = []
        self._read = self._read_start

    @property
    def held(self) -> int:
        """How many bytes wait for the rest of their message."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes | Fault]:
        """Take the next bytes; give the bodies and faults that are now certain."""
        self._buffer += data
        while self._read():
            pass
        if self._start:
            del self._buffer[: self._start]
            self._at -= self._start
            self._start = 0
        out, self._out = self._out, []
        return out

    def eof(self) -> list[bytes | Fault]:
        """The stream has ended: what is known to be wrong is told, what is only unfinished is dropped."""
        if self._read == self._read_headers and not self._run:
            rest = bytes(self._buffer[self._start :])
            if self._block.fault or not may_become_header(rest):
                self._fault(self._block.fault or "not a header line", "framed")
        self._buffer.clear()
        self._start = self._at = 0
        self._read = self._read_start
        out, self._out = self._out, []
        return out

    def _fault(self, reason: str, mode: Mode) -> None:
        self.mode = self.mode or mode
        self._out.append(Fault(reason))

    # Between messages.

    def _read_start(self) -> bool:
        """Skip white space and tell by the first byte what kind of message begins."""
        buffer = self._buffer
        start = self._start = _SPACE.match(buffer, self._start).end()  # type: ignore[union-attr]
        if start == len(buffer):
            return False
        first = buffer[start]
        if first in _BRACKETS:
            self._scanner.begin(first)
            self._at = start + 1
            self._read = self._read_value
            return True
        if self.mode is None and first == _BOM[0]:
            mark = buffer[start : start + 3]
            if mark == _BOM:
                self._start += 3
                return True
            if _BOM.startswith(mark):
                return False
        self._run = False
        return self._begin_headers()

    # Unframed values.

    def _read_value(self) -> bool:
        """Follow a value to its end, to its first impossible byte or to the limit."""
        buffer, start = self._buffer, self._start
        end = self._at = self._scanner.scan(buffer, self._at)
        verdict = self._scanner.verdict
        if verdict == COMPLETE and end - start <= self._limit:
            self.mode = self.mode or "unframed"
            self._out.append(bytes(buffer[start:end]))
            self._start = end
            self._read = self._read_start
            return True
        if verdict == BROKEN and end - start < self._limit:
            why = f"nested deeper than {MAX_DEPTH} levels" if self._scanner.too_deep else "malformed JSON"
            self._fault(f"{why} at byte {end - start}", "unframed")
            return self._leave_value()
        if verdict != PENDING or len(buffer) - start > self._limit:
            self._fault(f"message over {self._limit} bytes", "unframed")
            return self._leave_value()
        return False

    def _skip_value(self) -> bool:
        """Follow a value that is too large to its end, keeping none of it."""
        self._at = self._scanner.scan(self._buffer, self._at)
        return self._leave_value()

    def _leave_value(self) -> bool:
        """Go on after a value that has had its fault."""
        self._start = self._at
        if self._scanner.verdict == COMPLETE:
            self._read = self._read_start
        elif self._scanner.verdict != BROKEN:
            self._read = self._skip_value
            return False
        elif self._scanner.fresh_line:
            # The impossible byte is the first of its line: an unfinished value has run into the next message.
            self._run = True
            self._read = self._skip_garbage
        else:
            self._run = False
            self._read = self._skip_line
        return True

    # Framed messages.

    def _begin_headers(self) -> bool:
        self._block = HeaderBlock()
        self._read = self._read_headers
        return True

    def _read_headers(self) -> bool:
        """Take header lines until the empty one."""
        buffer, block = self._buffer, self._block
        while True:
            room = MAX_BLOCK - block.size
            end = buffer.find(b"\n", self._start, self._start + room)
            if end < 0:
                if len(buffer) - self._start < room:
                    return False
                return self._leave_headers(f"header block over {MAX_BLOCK} bytes", in_line=room > 0)
            line = bytes(buffer[self._start : end]).removesuffix(b"\r")
            if not line:
                self._start = end + 1
                return self._end_headers()
            if not block.add(line):
                reason = block.fault or "not a header line"
                return self._leave_headers(reason, in_line=not _VALUE_LINE.match(line))
            block.size += end + 1 - self._start
            self._start = end + 1

    def _leave_headers(self, reason: str, *, in_line: bool) -> bool:
        """Give up on a block that is not one; a line that can start a message is left to be read."""
        if not self._run:
            self._fault(reason, "framed")
        self._run = True
        self._read = self._skip_garbage_line if in_line else self._skip_garbage
        return True

    def _end_headers(self) -> bool:
        """Judge a complete block and go on to its frame, if it has one."""
        block = self._block
        if block.fault is not None or block.length is None:
            if block.has_length or not self._run:
                self._fault(block.fault or "no Content-Length", "framed")
            self._run = False
            self._read = self._skip_garbage
        elif block.length > self._limit:
            self._fault(f"message over {self._limit} bytes", "framed")
            self._wanted = block.length
            self._read = self._skip_frame
        elif block.length == 0:
            self._read = self._read_start
        else:
            self._wanted = block.length
            self._read = self._read_frame
        return True

    def _read_frame(self) -> bool:
        """Wait for the whole body."""
        end = self._start + self._wanted
        if len(self._buffer) < end:
            return False
        self.mode = self.mode or "framed"
        self._out.append(bytes(self._buffer[self._start : end]))
        self._start = end
        self._read = self._read_start
        return True

    def _skip_frame(self) -> bool:
        """Drain a body that is too large."""
        taken = min(self._wanted, len(self._buffer) - self._start)
        self._start += taken
        self._wanted -= taken
        if self._wanted:
            return False
        self._read = self._read_start
        return True

    # The way back.

    def _skip_line(self) -> bool:
        """Drop the rest of a line, then read on as between messages."""
        if not self._drop_line():
            return False
        self._read = self._read_start
        return True

    def _skip_garbage_line(self) -> bool:
        """Drop the rest of a line, then look for one that can start a message."""
        if not self._drop_line():
            return False
        self._read = self._skip_garbage
        return True

    def _drop_line(self) -> bool:
        end = self._buffer.find(b"\n", self._start)
        self._start = len(self._buffer) if end < 0 else end + 1
        return end >= 0

    def _skip_garbage(self) -> bool:
        """At the start of a line: can it start a message?"""
        buffer = self._buffer
        start = _SPACE.match(buffer, self._start).end()  # type: ignore[union-attr]
        if self._run and buffer.find(b"\n", self._start, start) >= 0:
            self._run = False  # An empty line ends a block of garbage, as it ends a block of headers.
        self._start = start
        if start == len(buffer):
            return False
        if buffer[start] in _BRACKETS:
            self._read = self._read_start
            return True
        name = NAME.match(buffer, start, start + _LONGEST_NAME)
        end = start if name is None else name.end()
        if end == len(buffer) and end - start < _LONGEST_NAME:
            return False
        if name is not None and buffer[end : end + 1] == b":":
            return self._begin_headers()
        self._run = True
        self._read = self._skip_garbage_line
        return True


def encode(body: bytes, mode: Mode | None) -> bytes:
    """One message as the bytes of the connection's mode; framed, the preferred one, while none is fixed."""
    if mode == "unframed":
        return body + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
