"""The entries of a compressed tar stream, within a budget that counts everything that is read.

A package is hostile until read. So nothing here grows with what a package says of itself: bytes that come out
of the decompression, entries, bytes of extended headers and processor time are counted as they are used up,
and the first that is spent ends the reading. Understood are ustar, pax (`path` and `size`) and GNU long
names; what a sparse file maps is skipped, because its content is never wanted.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from typing import IO, NamedTuple

BLOCK = 512
CHUNK = 256 * 1024
MAX_ENTRIES = 100_000
MAX_TOTAL_BYTES = 1024 * 1024 * 1024
MAX_HEADER_BYTES = 256 * 1024
MAX_HEADERS_BYTES = 8 * 1024 * 1024
HEADERS_PER_ENTRY = 3
MAX_SECONDS = 8.0
"""Of processor time: how busy the machine is does not count."""

_GZIP = 16 + zlib.MAX_WBITS
_REGULAR, _CONTIGUOUS, _FOLDER, _SPARSE = b"0", b"7", b"5", b"S"
_LINKS = (b"1", b"2")
_WITHOUT_CONTENT = (*_LINKS, b"3", b"4", _FOLDER, b"6")
_PAX, _PAX_GLOBAL, _LONG_NAME, _LONG_LINK = (b"x", b"X"), b"g", b"L", b"K"


class NoArchive(Exception):
    """The stream is no complete tar archive."""


class BudgetExceeded(Exception):
    """The archive exceeds a limit; the message says which."""


class Budget:
    """Limits on reading one archive; `check` is called from time to time and may raise."""

    def __init__(
        self,
        check: Callable[[], None] = lambda: None,
        entries: int = MAX_ENTRIES,
        total: int = MAX_TOTAL_BYTES,
        seconds: float = MAX_SECONDS,
    ) -> None:
        self._check = check
        self._entries, self._most_entries = 0, entries
        self._bytes, self._most_bytes = 0, total
        self._headers = self._header_bytes = 0
        self._seconds = seconds
        self._end = time.thread_time() + seconds

    def unpacked(self, count: int) -> None:
        """Count decompressed bytes."""
        self._bytes += count
        self.declared(0)
        self.look()

    def declared(self, count: int) -> None:
        """Check the declared size of an entry before it is unpacked."""
        if self._bytes + count > self._most_bytes:
            raise BudgetExceeded(f"unpacked it has more than {self._most_bytes} bytes")

    def look(self) -> None:
        """Check the deadline."""
        self._check()
        if time.thread_time() > self._end:
            raise BudgetExceeded(f"reading it takes more than {self._seconds:.0f} s")

    def entry(self) -> None:
        """Count one entry."""
        self._entries += 1
        if self._entries > self._most_entries:
            raise BudgetExceeded(f"it has more than {self._most_entries} entries")

    def header(self, count: int) -> None:
        """Count one extended header and its bytes."""
        self._headers += 1
        self._header_bytes += count
        if count > MAX_HEADER_BYTES or self._header_bytes > MAX_HEADERS_BYTES:
            raise BudgetExceeded("its entries have headers that are too long")
        if self._headers > HEADERS_PER_ENTRY * self._most_entries:
            raise BudgetExceeded("it has too many headers")


class TarEntry(NamedTuple):
    """One entry: its name, its size, and why it is no plain file."""

    name: str
    size: int
    is_folder: bool = False
    problem: str | None = None


class TarStream:
    """The entries of one stream, in order; `read` gives the content of the one that came last."""

    def __init__(self, packed: IO[bytes], budget: Budget) -> None:
        self._stream = _Unpacked(packed, budget)
        self._budget = budget
        self._left = 0
        """Bytes of the last entry that were not read yet, what fills its last block included."""
        self._size = 0

    def read(self) -> bytes:
        """The content of the last entry.

        Raises:
            NoArchive: it ends before its size.
            BudgetExceeded: the budget is used up.
        """
        data = self._stream.exactly(self._size)
        self._left -= len(data)
        return data

    def __iter__(self) -> Iterator[TarEntry]:
        path: str | None = None
        size: int | None = None
        sparse = False
        while (block := self._next_header()) is not None:
            kind = block[156:157]
            if kind in _PAX or kind in (_PAX_GLOBAL, _LONG_NAME, _LONG_LINK):
                body = self._extended(_number(block[124:136]))
                if kind in _PAX:
                    path, size, sparse = _pax(body, path, size, sparse)
                elif kind == _LONG_NAME:
                    path = _text(body)
                continue
            yield self._entry(block, kind, path, size, sparse)
            path, size, sparse = None, None, False
        if path is not None:
            raise NoArchive

    def _next_header(self) -> bytes | None:
        """The next header block, after what is left of the entry before; None at the end."""
        self._stream.skip(self._left)
        self._left = 0
        block = self._stream.exactly(BLOCK)
        if block == bytes(BLOCK):
            return None
        if not _is_header(block):
            raise NoArchive
        return block

    def _extended(self, size: int) -> bytes:
        self._budget.header(size)
        body = self._stream.exactly(size)
        self._stream.skip(-size % BLOCK)
        return body

    def _entry(self, block: bytes, kind: bytes, path: str | None, size: int | None, sparse: bool) -> TarEntry:
        self._budget.entry()
        name = _name(block) if path is None else path
        stored = _number(block[124:136]) if size is None else size
        if kind == _SPARSE:
            sparse = True
            self._skip_sparse_map(block[482:483])
        if kind == b"\0":
            kind = _FOLDER if name.endswith("/") else _REGULAR
        self._size = 0 if kind in _WITHOUT_CONTENT else stored
        self._budget.declared(self._size)
        self._left = self._size + -self._size % BLOCK
        return TarEntry(name, self._size, kind == _FOLDER, _problem(kind, sparse))

    def _skip_sparse_map(self, more: bytes) -> None:
        while more not in (b"", b"\0"):
            self._budget.header(BLOCK)
            more = self._stream.exactly(BLOCK)[504:505]


class _Unpacked:
    """The decompressed bytes of a gzip stream of one or several members."""

    def __init__(self, packed: IO[bytes], budget: Budget) -> None:
        self._packed = packed
        self._budget = budget
        self._inflate = zlib.decompressobj(_GZIP)
        self._waiting = b""
        self._buffer, self._at = b"", 0

    def exactly(self, count: int) -> bytes:
        """The next bytes, all of them."""
        pieces = []
        while count > 0:
            start, taken = self._at, self._pass(count)
            pieces.append(self._buffer[start : start + taken] if taken else b"")
            count -= taken
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def skip(self, count: int) -> None:
        """Skip the next bytes."""
        while count > 0:
            count -= self._pass(count)

    def _pass(self, most: int) -> int:
        """Advance by at most so many unpacked bytes; 0 after more was unpacked."""
        taken = min(most, len(self._buffer) - self._at)
        if taken:
            self._at += taken
        else:
            self._buffer, self._at = self._more(), 0
        return taken

    def _more(self) -> bytes:
        """Unpack the next bytes, perhaps none yet."""
        if self._inflate.eof:
            self._waiting = self._inflate.unused_data
            self._inflate = zlib.decompressobj(_GZIP)
        data = self._waiting or self._packed.read(CHUNK)
        if not data:
            raise NoArchive
        try:
            out = self._inflate.decompress(data, CHUNK)
        except zlib.error as error:
            raise NoArchive from error
        self._waiting = self._inflate.unconsumed_tail
        self._budget.unpacked(len(out))
        return out


def _is_header(block: bytes) -> bool:
    """Whether the checksum fits."""
    try:
        checksum = _number(block[148:156])
    except NoArchive:
        return False
    rest = block[:148] + b"        " + block[156:]
    # Some have summed up bytes as numbers from -128 to 127.
    return checksum == sum(rest) or checksum == sum(rest) - 256 * sum(byte > 127 for byte in rest)


def _number(field: bytes) -> int:
    """A number in octal digits, or in base 256 as GNU writes large ones."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    digits = field.split(b"\0", 1)[0].strip()
    try:
        number = int(digits or b"0", 8)
    except ValueError:
        raise NoArchive from None
    if number < 0:
        raise NoArchive
    return number


def _name(block: bytes) -> str:
    name = _text(block[:100])
    prefix = _text(block[345:500]) if block[257:263] == b"ustar\0" else ""
    return f"{prefix}/{name}" if prefix else name


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _pax(
    body: bytes, path: str | None, size: int | None, sparse: bool
) -> tuple[str | None, int | None, bool]:
    """The path, the size, and whether it is sparse, as an extended header says.

    A record is `<length> <key>=<value>\\n`, the length that of the whole record.
    """
    at = 0
    while at < len(body):
        blank = body.find(b" ", at, at + 20)
        digits = body[at:blank]
        if blank < 0 or not digits.isdigit() or not blank < at + int(digits) <= len(body):
            raise NoArchive
        record, at = body[blank + 1 : at + int(digits)], at + int(digits)
        key, equals, value = record.partition(b"=")
        if not equals or value[-1:] != b"\n":
            raise NoArchive
        if key in (b"path", b"GNU.sparse.name"):
            path = value[:-1].decode("utf-8", "surrogateescape")
        elif key == b"size" and value[:-1].isdigit() and len(value) <= 20:
            size = int(value)
        sparse = sparse or key.startswith(b"GNU.sparse.")
    return path, size, sparse


def _problem(kind: bytes, sparse: bool) -> str | None:
    """Why an entry is no plain file."""
    if kind in _LINKS:
        return "a link in a package is not followed"
    return None if kind == _REGULAR and not sparse else "it is not a regular file"
