"""Whole files in, whole files out.

A write goes to a unique temporary file in the same folder, is flushed to the disk, takes its name in one
step, and the folder is flushed too: a crash at any point leaves the old content or the new one, never a
mixture. What a killed writer leaves behind is a temporary file that no reader looks at and
`sweep_temporaries` removes later. Raises plain OSError; the caller knows what the file means and
translates.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from context_pack_adapters.disk.locking import PathLock

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp", re.DOTALL)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_CREATE |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# O_NONBLOCK: opening a pipe that somebody put in a file's place must not wait for a writer.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READ |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.EBADF, errno.EOPNOTSUPP, errno.ENOTSUP})
_CLAIM_SECONDS = 10.0
TEMPORARY_AGE_SECONDS = 3600.0


class NotRegular(OSError):
    """What is there is no plain file: a link, a folder, a pipe, a device."""


class TooLarge(OSError):
    """The file holds more bytes than the reader is willing to take."""


def write_atomic(folder: str, name: str, data: bytes, mode: int | None = None) -> None:
    """Put `data` at `folder/name`, replacing what is there; `mode` overrides what the umask gives."""
    with _temporary(folder, name, data, mode) as temporary:
        os.replace(temporary, os.path.join(folder, name))
    sync_folder(folder)


def create_exclusive(folder: str, name: str, data: bytes, link: Callable[[str, str], None] = os.link) -> bool:
    """Put `data` at `folder/name` unless that name is taken; says whether it did."""
    target = os.path.join(folder, name)
    with _temporary(folder, name, data, None) as temporary:
        try:
            link(temporary, target)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if not _claimed(folder, name, temporary):
                return False
    sync_folder(folder)
    return True


def _claimed(folder: str, name: str, temporary: str) -> bool:
    """Rename onto a free name on a file system without hard links, where only a lock can keep others out."""
    with PathLock(os.path.join(folder, f".{name}.claim"), _CLAIM_SECONDS) as claim:
        free = not os.path.lexists(os.path.join(folder, name))
        if free:
            os.replace(temporary, os.path.join(folder, name))
        claim.retire()
        return free


@contextmanager
def _temporary(folder: str, name: str, data: bytes, mode: int | None) -> Iterator[str]:
    """A flushed temporary file that holds `data`; removed afterwards if it still has its name."""
    path = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(path, _CREATE, 0o666)
    try:
        try:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, stat.S_IMODE(mode))
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, _FOLDER)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def ensure_folder(folder: str) -> None:
    """Make a folder and its parents, durably; it may exist already."""
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    if parent and parent != folder:
        ensure_folder(parent)
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
    else:
        sync_folder(parent)


def read_whole(path: str, max_bytes: int, dir_fd: int | None = None) -> tuple[bytes, os.stat_result]:
    """The bytes of a plain file, and its state from before they were read; `path` may start at `dir_fd`.

    Raises:
        NotRegular: a link, a folder, a pipe or a device; none of them is read, and none can make this wait.
        TooLarge: more than `max_bytes`.
    """
    try:
        descriptor = os.open(path, _READ, dir_fd=dir_fd)
    except OSError as error:
        # A link answers ELOOP (EMLINK on some systems), a socket ENXIO.
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            raise NotRegular(error.errno, "not a regular file") from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegular(errno.EINVAL, "not a regular file")
        if status.st_size > max_bytes:
            raise TooLarge(errno.EFBIG, "too large")
        return read_descriptor(descriptor, status.st_size, max_bytes), status
    finally:
        os.close(descriptor)


def read_descriptor(descriptor: int, expected: int, max_bytes: int) -> bytes:
    """Everything from `descriptor`, which was `expected` bytes long a moment ago.

    Raises:
        TooLarge: more than `max_bytes`.
    """
    # One byte more than expected, so that the common case ends with the first, short read.
    data = os.read(descriptor, expected + 1)
    if len(data) == expected:
        return data
    chunks = [data]
    total = len(data)
    while total <= max_bytes and (chunk := os.read(descriptor, 65536)):
        chunks.append(chunk)
        total += len(chunk)
    if total > max_bytes:
        raise TooLarge(errno.EFBIG, "too large")
    return b"".join(chunks)


def is_temporary(name: str) -> bool:
    """Whether a file name is one that a write uses before the real one."""
    return name.endswith(".tmp") and _TEMPORARY.fullmatch(name) is not None


def sweep_temporaries(folder: str, now: float) -> None:
    """Remove temporary files more than an hour older than `now`; what cannot be removed stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_temporary(entry.name):
                remove_stale(entry, now)


def remove_stale(entry: os.DirEntry[str], now: float) -> None:
    """Remove one temporary file if it is more than an hour older than `now`."""
    with suppress(OSError):
        if now - entry.stat(follow_symlinks=False).st_mtime > TEMPORARY_AGE_SECONDS:
            os.unlink(entry.path)
