"""Whole files into an open folder: a crash at any point leaves the old content or the new one.

A write goes to a unique temporary file in the same folder, is flushed to the disk, takes its name in one
step, and the folder is flushed too. A link that has the name is replaced, never written through. What a
killed writer leaves behind is a temporary file that no reader looks at and `sweep` removes later. Raises
plain OSError; the caller knows what the file means and translates.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from context_pack_adapters.files.opening import Handle, scan

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp", re.DOTALL)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.EBADF, errno.EOPNOTSUPP, errno.ENOTSUP})
TEMPORARY_AGE_SECONDS = 3600.0


def put(folder: Handle, files: Mapping[str, bytes], mode: int | None = None, durably: bool = True) -> None:
    """Put each content under its name in place of what is there; after a crash only some may be there.

    `mode` overrides what the umask gives; the folder is flushed once for all.
    """
    for name, data in files.items():
        with temporary(folder, name, data, mode, durably) as beside:
            move(folder, beside, name, durably=False)
    if durably:
        sync(folder)


@contextmanager
def temporary(
    folder: Handle, name: str, data: bytes, mode: int | None, durably: bool = True
) -> Iterator[str]:
    """The name of a flushed temporary file that holds `data`; removed afterwards if it still has its name."""
    beside = f".{name}.{os.urandom(8).hex()}.tmp"
    descriptor = os.open(beside, _CREATE, 0o666, dir_fd=folder)
    try:
        try:
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            if durably:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield beside
    finally:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)


def move(folder: Handle, old: str, new: str, durably: bool = True) -> None:
    """Give a file of the folder another name in one step."""
    os.replace(old, new, src_dir_fd=folder, dst_dir_fd=folder)
    if durably:
        sync(folder)


def remove(folder: Handle, name: str) -> None:
    """Remove a file or a link; a crash may bring it back."""
    os.unlink(name, dir_fd=folder)


def sync(folder: Handle) -> None:
    """Make the names in a folder durable, where the system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def make_folder(folder: Handle, name: str, mode: int = 0o777) -> None:
    """Make a folder in a folder, durably; it may exist."""
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=folder)
        sync(folder)


def make_top(path: str, mode: int = 0o777) -> None:
    """Make a folder that a person or a setting named, with its parents; it may exist."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_top(parent, mode)
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def is_temporary(name: str) -> bool:
    """Whether a file name is one that a write uses before the real one."""
    return name.endswith(".tmp") and _TEMPORARY.fullmatch(name) is not None


def sweep(folder: Handle, start: str = "", age: float = TEMPORARY_AGE_SECONDS) -> None:
    """Remove temporary files of names that start so and are older than an hour; what cannot go stays."""
    now = time.time()
    with suppress(OSError):
        for entry in scan(folder):
            if entry.name.startswith(f".{start}") and is_temporary(entry.name):
                with suppress(OSError):
                    if now - entry.stat(follow_symlinks=False).st_mtime > age:
                        remove(folder, entry.name)
