"""The one place where an operating-system error becomes a failure.

A message says in words what went wrong and what to do; it names a file by its bare name and never by an
absolute path. Nothing here decides whether an error is expected: callers catch what they expect before it
gets here.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from context_pack.kernel.errors import Code, Failure

_NO_SPACE = "there is no space left on the disk; free some space and try again"
_READ_ONLY = "the file system is read-only; make it writable and try again"
_FORBIDDEN = "permission denied; check who owns the folder and its permissions"
_TOO_MANY = "too many files are open; close some programs and try again"
_VANISHED = "a file or folder vanished while it was being used; try again"
_NOT_A_FOLDER = "something that is not a folder (a link, perhaps) is in the way; move it and try again"

_WORDS = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: "the disk quota is used up; free some space and try again",
    errno.EFBIG: "the file would be larger than the system allows; raise the limit or make it smaller",
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
    errno.ENOENT: _VANISHED,
    errno.ESTALE: _VANISHED,
    errno.ENOTDIR: _NOT_A_FOLDER,
    errno.EEXIST: _NOT_A_FOLDER,
    errno.EIO: "the disk reported an error; check the disk",
}


def io_failure(error: OSError, file: str) -> Failure:
    """The failure for an `error` while working on the file called `file`."""
    number = error.errno or 0
    words = _WORDS.get(number) or f"{os.strerror(number).lower()}; check the disk and try again"
    reason = errno.errorcode.get(number, "unknown")
    return Failure(Code.IO_ERROR, f"{file}: {words}", {"file": file, "reason": reason})


@contextmanager
def translated(file: str) -> Iterator[None]:
    """Turn every OSError of the block into an `io_error` about `file`."""
    try:
        yield
    except OSError as error:
        raise io_failure(error, file) from error
