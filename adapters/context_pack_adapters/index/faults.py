"""Maps SQLite's errors: damage (rebuild the index), a lock timeout, or a disk error.

Every error of SQLite becomes one of three things here and nowhere else: `Damaged` (the file is not, or no
longer, an index of ours), `lock_timeout`, or `io_error` in words. Values that do not decode are damage too:
SQLite has no checksums, so flipped bytes show as impossible rows first.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.ports import DAMAGED
from context_pack_adapters.serving import check_call

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_WORDS = {
    sqlite3.SQLITE_FULL: ("ENOSPC", "there is no space left on the disk; free some space and try again"),
    sqlite3.SQLITE_READONLY: ("EROFS", "the file cannot be written; make it and its folder writable"),
    sqlite3.SQLITE_PERM: ("EACCES", "permission denied; check who owns the folder and its permissions"),
    sqlite3.SQLITE_CANTOPEN: (
        "ENOENT",
        "the file cannot be opened; check that its folder exists, can be written and has space",
    ),
    sqlite3.SQLITE_IOERR: ("EIO", "the disk refused to read or write; check its space and its state"),
    sqlite3.SQLITE_NOMEM: ("ENOMEM", "there is not enough memory; close some programs and try again"),
    sqlite3.SQLITE_INTERRUPT: ("EINTR", "the call was given up; try again"),
    sqlite3.SQLITE_TOOBIG: ("EFBIG", "a text is larger than an index can hold; leave it out"),
    sqlite3.SQLITE_MISUSE: ("EBADF", "the index was closed; open it again"),
}
_UNREADABLE = (ValueError, TypeError, OverflowError, IndexError, KeyError, zlib.error)


class Damaged(Exception):
    """The file cannot be used as an index; the message says why."""


def primary(error: sqlite3.Error) -> int | None:
    """SQLite's primary result code; None for an error of the Python binding itself."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the error is a lock that another connection holds."""
    return primary(error) in _BUSY


def translated_error(error: sqlite3.Error, file: str) -> Exception:
    """The exception to raise for an SQLite error on the file called `file`."""
    code = primary(error)
    if code in _BUSY:
        return locked(file)
    if isinstance(error, sqlite3.ProgrammingError) and code is None:
        code = sqlite3.SQLITE_MISUSE
    if code in _WORDS:
        reason, words = _WORDS[code]
        return Failure(Code.IO_ERROR, f"{file}: {words}", {"file": file, "reason": reason})
    return Damaged(str(error))


def locked(file: str) -> Failure:
    """The write lock timed out."""
    hint = "another process is writing to the index; wait a moment and try again"
    return Failure(Code.LOCK_TIMEOUT, f"{file} stayed locked: {hint}", {"lock": file, "hint": hint})


def damaged(file: str) -> Failure:
    """The failure for a caller whose read met the damage."""
    return Failure(
        Code.IO_ERROR,
        f"{file}: the index was damaged; it is set aside and built anew, ask again",
        {"file": file, "reason": DAMAGED},
    )


@contextmanager
def translating_errors(file: str) -> Iterator[None]:
    """Turn SQLite's errors and impossible values of the block into `Damaged` or a `Failure`."""
    try:
        yield
    except sqlite3.Error as error:
        if primary(error) == sqlite3.SQLITE_INTERRUPT:
            check_call()  # raises what made SQLite stop
        raise translated_error(error, file) from error
    except UnicodeEncodeError:  # what was asked for is no text, which says nothing of the file
        raise
    except _UNREADABLE as error:
        raise Damaged(f"{type(error).__name__}: {error}") from error
