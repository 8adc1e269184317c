"""The codec of the stdio transport: bytes in, message bodies and faults out; a message in, its bytes out.

What lives here: telling messages apart, framed by `Content-Length` or unframed, and finding the way back
after garbage. What must not: the meaning of a message, file descriptors, clocks, threads.

Theory: a state machine whose states are the `_read_*` and `_skip_*` methods. Each consumes what it can of the
buffer and returns True if another state may go on, False if more bytes are needed. What comes out depends on
the bytes alone, not on how they were cut; each byte is looked at a bounded number of times; at most one
message is held, and one that is too large is not held at all.

Garbage is one fault for each run of it: lines are skipped until one that can start a message (`{`, `[`, or a
header line). A header block that begins inside such a run and names no length still belongs to the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from context_pack_adapters.mcp.headers import HeaderBlock, is_name, may_become_header
from context_pack_adapters.mcp.jsonrpc import one_value
from context_pack_adapters.mcp.limits import MAX_DEPTH, MAX_HEADER_BYTES, MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from context_pack_adapters.mcp.scanner import Scanner

Mode = Literal["framed", "unframed"]

_BRACKETS: Final = b"{["
_SPACE: Final = b" \t\n\r\v\f"
_BOM: Final = b"\xef\xbb\xbf"
_LONGEST_NAME: Final = 256
_SHORT_LINE: Final = 64 * 1024


class Fault(NamedTuple):
    """A message that could not be read, and why; answered with a parse error."""

    reason: str


class Decoder:
    """Cuts a stream of bytes into message bodies and faults, in order."""

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.mode: Mode | None = None
        """How to reply: fixed by the first message, a broken one too."""
        self._limit = max_message_bytes
        self._buffer = bytearray()
        self._start = 0  # Where the current message or line begins: nothing before it is needed.
        self._at = 0  # How far the current value has been scanned.
        self._unsure = 0  # Up to here lines are known not to be one value each.
        self._wanted = 0  # Bytes of the current frame.
        self._in_garbage = False  # A fault has been told for the lines being read.
        self._scanner: Scanner | None = None
        self._block = HeaderBlock()
        self._out: list[bytes | Fault] = []
        self._read = self._after_line = self._read_start

    @property
    def held(self) -> int:
        """How many bytes wait for the rest of their message."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes | Fault]:
        """Take the next bytes; give the bodies and faults that are now certain."""
        self._buffer += data
        while self._read():
            pass
        done = self._start
        if done:
            del self._buffer[:done]
            self._start = 0
            self._at -= done
            self._unsure -= done
        out, self._out = self._out, []
        return out

    def eof(self) -> list[bytes | Fault]:
        """End of the stream: returns known faults; an unfinished message is dropped."""
        if self._read == self._read_headers and not self._in_garbage:
            fault = self._block.fault
            if fault is not None or not may_become_header(bytes(self._buffer[self._start :])):
                self._fault(fault or "not a header line", "framed")
        self._buffer.clear()
        self._start = self._at = self._unsure = 0
        self._read = self._read_start
        out, self._out = self._out, []
        return out

    def _body(self, end: int, mode: Mode) -> bool:
        self.mode = self.mode or mode
        self._out.append(bytes(self._buffer[self._start : end]))
        self._start = end
        self._read = self._read_start
        return True

    def _fault(self, reason: str, mode: Mode) -> None:
        self.mode = self.mode or mode
        self._out.append(Fault(reason))

    # Between messages.

    def _read_start(self) -> bool:
        """Take values that are alone on their lines; tell by its first byte what else begins."""
        buffer, start, size = self._buffer, self._start, len(self._buffer)
        while start < size:
            if buffer[start] in _SPACE:
                start += 1
            elif buffer[start] in _BRACKETS and (end := self._take_line(start)):
                start = self._start = end
            else:
                self._start = start
                return self._begin_message(buffer[start])
        self._start = start
        return False

    def _take_line(self, start: int) -> int:
        """Take a line that is one value, as nearly all are, and give its end; 0 if it may be another thing.

        No state machine, parsed once: 5 against 15 microseconds (benches/side_by_side/throughput.py).
        """
        if start < self._unsure:
            return 0
        end = self._buffer.find(b"\n", start, start + _SHORT_LINE)
        if end >= 0:
            line = bytes(self._buffer[start:end]).rstrip(b" \t\r")
            body = one_value(line) if len(line) <= self._limit else None
            if body is not None:
                self.mode = self.mode or "unframed"
                self._out.append(body)
                return end + 1
        # Once for each line, or many values on one line would have it searched many times.
        self._unsure = end if end >= 0 else min(len(self._buffer), start + _SHORT_LINE)
        return 0

    def _begin_message(self, first: int) -> bool:
        if first in _BRACKETS:
            return self._begin_value(first)
        if self.mode is None and first == _BOM[0]:
            mark = self._buffer[self._start : self._start + len(_BOM)]
            if mark == _BOM:
                self._start += len(_BOM)
                return True
            if _BOM.startswith(mark):
                return False
        self._in_garbage = False
        return self._begin_headers()

    # Unframed values.

    def _begin_value(self, first: int) -> bool:
        """Follow a value as far as it has come."""
        if self._scanner is None:
            # Here and not above: its patterns cost the start-up more than all the rest of the codec.
            from context_pack_adapters.mcp.scanner import Scanner

            self._scanner = Scanner()
        self._scanner.begin(first)
        self._at = self._start + 1
        self._read = self._read_value
        return True

    def _read_value(self) -> bool:
        """Follow a value to its end, to its first impossible byte or to the limit."""
        scanner = self._scan()
        size = self._at - self._start
        if scanner.complete and size <= self._limit:
            return self._body(self._at, "unframed")
        if scanner.broken and size < self._limit:
            why = f"nested deeper than {MAX_DEPTH} levels" if scanner.too_deep else "malformed JSON"
            self._fault(f"{why} at byte {size}", "unframed")
        elif scanner.complete or scanner.broken or len(self._buffer) - self._start > self._limit:
            self._fault(f"message over {self._limit} bytes", "unframed")
        else:
            return False
        return self._leave_value(scanner)

    def _skip_value(self) -> bool:
        """Follow a value that is too large to its end, keeping none of it."""
        return self._leave_value(self._scan())

    def _scan(self) -> Scanner:
        scanner = self._scanner
        assert scanner is not None, "a value was begun"
        self._at = scanner.scan(self._buffer, self._at)
        return scanner

    def _leave_value(self, scanner: Scanner) -> bool:
        """Go on after a value that has had its fault."""
        self._start = self._at
        if scanner.complete:
            self._read = self._read_start
        elif not scanner.broken:
            self._read = self._skip_value
            return False
        elif scanner.fresh_line:
            # The impossible byte is the first of its line: an unfinished value has run into the next message.
            self._in_garbage = True
            self._read = self._skip_garbage
        else:
            self._read, self._after_line = self._skip_line, self._read_start
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
            room = MAX_HEADER_BYTES - block.size
            if room and not may_become_header(bytes(buffer[self._start : self._start + 1])):
                return self._leave_headers(block.fault or "not a header line", in_line=False)
            end = buffer.find(b"\n", self._start, self._start + room)
            if end < 0:
                if len(buffer) - self._start < room:
                    return False
                return self._leave_headers(f"header block over {MAX_HEADER_BYTES} bytes", in_line=room > 0)
            line = bytes(buffer[self._start : end]).removesuffix(b"\r")
            if line and not block.add(line):
                return self._leave_headers(block.fault or "not a header line", in_line=True)
            block.size += end + 1 - self._start
            self._start = end + 1
            if not line:
                return self._end_headers()

    def _leave_headers(self, reason: str, *, in_line: bool) -> bool:
        """Give up on a block that is not one, inside a bad line or before a line that may be a message."""
        if not self._in_garbage:
            self._fault(reason, "framed")
        self._in_garbage = True
        self._after_line = self._skip_garbage
        self._read = self._skip_line if in_line else self._skip_garbage
        return True

    def _end_headers(self) -> bool:
        """Judge a complete block and go on to its frame, if it has one."""
        block = self._block
        if block.fault is None and block.length is not None:
            return self._begin_frame(block.length)
        if block.has_length or not self._in_garbage:
            self._fault(block.fault or "no Content-Length", "framed")
        self._in_garbage = False
        self._read = self._skip_garbage
        return True

    def _begin_frame(self, length: int) -> bool:
        self._wanted = length
        if length > self._limit:
            self._fault(f"message over {self._limit} bytes", "framed")
            self._read = self._skip_frame
        else:
            self._read = self._read_frame if length else self._read_start
        return True

    def _read_frame(self) -> bool:
        """Wait for the whole body."""
        end = self._start + self._wanted
        return len(self._buffer) >= end and self._body(end, "framed")

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
        """Drop the rest of a line."""
        end = self._buffer.find(b"\n", self._start)
        self._start = len(self._buffer) if end < 0 else end + 1
        self._read = self._skip_line if end < 0 else self._after_line
        return end >= 0

    def _skip_garbage(self) -> bool:
        """Skip lines until one that can start a message."""
        buffer, start, size = self._buffer, self._start, len(self._buffer)
        while start < size and buffer[start] in _SPACE:
            if buffer[start] == 0x0A:
                self._in_garbage = False  # An empty line ends a block of garbage, as it does one of headers.
            start += 1
        self._start = start
        if start == size:
            return False
        if buffer[start] in _BRACKETS:
            self._read = self._read_start
            return True
        name, colon, _ = bytes(buffer[start : start + _LONGEST_NAME]).partition(b":")
        if is_name(name):
            if colon:
                return self._begin_headers()
            if start + len(name) == size:
                return False
        self._in_garbage = True
        self._read, self._after_line = self._skip_line, self._skip_garbage
        return True


def encode(body: bytes, mode: Mode | None) -> bytes:
    """One message as the bytes of the connection's mode; framed, the preferred one, while none is fixed."""
    if mode == "unframed":
        return body + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
