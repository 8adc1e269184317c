"""The codec of the stdio transport: bytes in, message bodies and faults out; a message in, its bytes out.

What lives here: telling messages apart, framed by `Content-Length` or bare, and finding the way back after
garbage. What must not: the meaning of a message, file descriptors, clocks, threads.

Theory: the buffer is text of one character per byte (Latin-1), so that places in it are places in the stream.
`json`'s own scanner finds the end of a bare value, or the first place that cannot be JSON; a value that only
lacks its rest is tried again when more has come. Every decision is a function of the bytes since the last
message alone, never of how they were cut into reads.

After a fault the rest of its line is dropped. Lines that cannot start a message are one fault for each run.
"""

from __future__ import annotations

import re
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Final, Literal, NamedTuple

MAX_MESSAGE_BYTES: Final = 10 * 1024 * 1024
"""One message, unless the environment says otherwise."""
MAX_DEPTH: Final = 128
"""Levels of arrays and objects inside each other."""
MAX_HEADER_BYTES: Final = 8 * 1024
"""A header block with its line ends and the empty line."""
MAX_FRAME_BYTES: Final = 1024**3
"""What a header may announce: up to here a frame is drained, above it the header is nonsense."""

Mode = Literal["framed", "unframed"]

_BOM: Final = "\xef\xbb\xbf"
_NAME: Final = r"[\w!#$%&'*+.^`|~-]+"
_SPACE: Final = re.compile(r"[ \t\r\n\v\f]*")
_LINES: Final = re.compile(rf"(?:{_NAME}:[^\n]*\n)*", re.ASCII)
"""Whole header lines."""
_BLANK: Final = re.compile(r"\r?\n")
_BEGUN: Final = re.compile(rf"\r?|{_NAME}(?::[^\n]*)?", re.ASCII)
"""A line that may still become a header, or the end of the block."""
_LENGTH: Final = re.compile(r"^content-length:[ \t]*([^\n]*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_DIGITS: Final = re.compile(r"0*([0-9]{1,10})")

_raw_decode: Final = JSONDecoder(parse_int=str, parse_float=str).raw_decode
"""Only finds ends: numbers stay text, for an integer of 5,000 digits raises."""
_WORDS: Final = ("true", "false", "null", "NaN", "-Infinity", "Infinity")
_TOKEN_BEGUN: Final = re.compile(
    "|".join(re.escape(word[:size]) for word in _WORDS for size in range(1, len(word)))
    + "|[.eE][+-]?|u[0-9a-fA-F]{0,4}|"
)
"""What may stand between the place of an error and the end of the bytes if only more of them are missing."""
_MAY_END: Final = re.compile(r"[]}]\s*(?:[^]}\s,]|\Z)|\n\Z")
"""What may end a value: behind an inner bracket comes a comma or another one, unless it is in a string."""
_MARKS: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[][{}]', re.DOTALL)


class Fault(NamedTuple):
    """A message that could not be read, and why; answered with a parse error."""

    reason: str


class Decoder:
    """Cuts a stream of bytes into message bodies and faults, in order."""

    def __init__(self, max_message_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.mode: Mode | None = None
        """How to reply: fixed by the first message, a broken one too."""
        self._limit = max_message_bytes
        self.held = 0
        """How many bytes wait for the rest of their message."""
        self._pieces: list[str] = []  # These bytes as they came.
        self._enough = 0  # How many bytes there must be until it is worth to look again …
        self._in_value = False  # … unless it is a value that may have ended.
        self._text = ""  # What is being looked at, and from where.
        self._at = 0
        self._drain = 0  # Bytes left of a frame that is too large.
        self._in_line = False  # The rest of a line is being dropped.
        self._in_garbage = False  # A fault was given for the lines being skipped.
        self._out: list[bytes | Fault] = []

    def feed(self, data: bytes) -> list[bytes | Fault]:
        """Take the next bytes; give the bodies and faults that are now certain."""
        self._pieces.append(piece := data.decode("latin-1"))
        self.held += len(piece)
        if self.held < self._enough and not (self._in_value and _MAY_END.search(piece)):
            return []
        self._text, self._at = "".join(self._pieces), 0
        self._enough, self._in_value = 0, False
        while self._at < len(self._text) and self._step():
            pass
        self._pieces, self.held = [self._text[self._at :]], len(self._text) - self._at
        out, self._out = self._out, []
        return out

    def eof(self) -> list[bytes | Fault]:
        """End of the stream: what is certain by now; an unfinished message is dropped."""
        self._enough = 0
        out = self.feed(b"")
        self._pieces, self.held = [], 0
        return out

    def _step(self) -> bool:
        """Read or skip one thing; False if more bytes are needed."""
        if self._drain:
            taken = min(self._drain, len(self._text) - self._at)
            self._at, self._drain = self._at + taken, self._drain - taken
            return True
        if self._in_line:
            end = self._text.find("\n", self._at) + 1
            self._at, self._in_line = end or len(self._text), not end
            return True
        space = _SPACE.match(self._text, self._at)
        assert space is not None
        self._at = space.end()
        if self._at == len(self._text):
            return False
        if self.mode is None and _BOM.startswith(mark := self._text[self._at : self._at + len(_BOM)]):
            self._at += len(_BOM) if mark == _BOM else 0
            return mark == _BOM
        return self._read_value() if self._text[self._at] in "{[" else self._read_frame()

    def _read_value(self) -> bool:
        """Read a bare value, all of it within the limit."""
        text, start = self._text, self._at
        if len(text) - start > self._limit:
            text, start = text[start : start + self._limit], 0
        size = len(text) - start
        try:
            _, end = _raw_decode(text, start)
        except JSONDecodeError as error:
            if error.msg.startswith("Unterminated") or _TOKEN_BEGUN.fullmatch(text, error.pos):
                if size < self._limit:
                    # Many small reads of one large value would else take time with the square of its size.
                    self._enough, self._in_value = min(size + size // 2, self._limit), True
                    return False
                return self._fault(f"message over {self._limit} bytes", self._at + self._limit)
            wrong = error.pos - start
            return self._fault(f"malformed JSON at byte {wrong}", self._at + wrong)
        except RecursionError:
            wrong = _too_deep(text, start) - start
            return self._fault(f"nested deeper than {MAX_DEPTH} levels", self._at + wrong)
        return self._take(self._at, self._at + end - start, "unframed")

    def _read_frame(self) -> bool:
        """Read a header block, and the frame that it announces."""
        start, room = self._at, self._at + MAX_HEADER_BYTES
        lines = _LINES.match(self._text, start, room)
        assert lines is not None
        end = lines.end()
        blank = _BLANK.match(self._text, end, room)
        if blank is None:
            rest = self._text[end:room]
            if _BEGUN.fullmatch(rest) is None:
                # The bad line itself may start a message, unless it is the first.
                return self._garbage("not a header line", end, in_line=end == start)
            if len(self._text) < room:
                return False
            return self._garbage(f"header block over {MAX_HEADER_BYTES} bytes", room, in_line=bool(rest))
        length = _length_in(lines[0])
        if isinstance(length, str):
            return self._garbage(length, blank.end(), in_line=False)
        if length > self._limit:
            self._give(Fault(f"message over {self._limit} bytes"), "framed")
            self._at, self._drain, self._in_garbage = blank.end(), length, False
            return True
        if len(self._text) < blank.end() + length:
            self._enough = blank.end() + length - start
            return False
        return self._take(blank.end(), blank.end() + length, "framed")

    def _take(self, start: int, end: int, mode: Mode) -> bool:
        """Give a body; an empty frame is nothing."""
        if end > start:
            self._give(self._text[start:end].encode("latin-1"), mode)
        self._at, self._in_garbage = end, False
        return True

    def _give(self, item: bytes | Fault, mode: Mode) -> None:
        self.mode = self.mode or mode
        self._out.append(item)

    def _fault(self, reason: str, wrong: int) -> bool:
        """Give up on a value: go on behind the line of its first wrong byte.

        If that byte begins its line, an unfinished value has run into the next message, so that line is read.
        """
        line = self._text.rfind("\n", self._at, wrong) + 1
        self._in_garbage = fresh = line > 0 and not self._text[line:wrong].strip()
        self._at, self._in_line = wrong, not fresh
        self._give(Fault(reason), "unframed")
        return True

    def _garbage(self, reason: str, at: int, *, in_line: bool) -> bool:
        """Go on behind lines that are no header, or behind the rest of that line."""
        if not self._in_garbage:
            self._give(Fault(reason), "framed")
        self._at, self._in_line, self._in_garbage = at, in_line, True
        return True


def encode(body: bytes, mode: Mode | None) -> bytes:
    """One message as the bytes of the connection's mode; framed, the preferred one, while none is fixed."""
    if mode == "unframed":
        return body + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _too_deep(text: str, start: int) -> int:
    """Where a value becomes deeper than is read."""
    depth = 0
    for mark in _MARKS.finditer(text, start):
        depth += 1 if mark[0] in "[{" else -1 if mark[0] in "]}" else 0
        if depth > MAX_DEPTH:
            return mark.start()
    return start


def _length_in(block: str) -> int | str:
    """The length that a header block announces, or what is wrong with it."""
    values: list[str] = _LENGTH.findall(block)
    if len(values) != 1:
        return "more than one Content-Length" if values else "no Content-Length"
    digits = _DIGITS.fullmatch(values[0])
    if digits is None:
        return "Content-Length is over 1 GiB" if values[0].isdecimal() else "Content-Length is not a number"
    size = int(digits[1])
    return size if size <= MAX_FRAME_BYTES else "Content-Length is over 1 GiB"
