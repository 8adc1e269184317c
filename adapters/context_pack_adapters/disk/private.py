"""Folders that belong to the user alone: mode 0700, with files of mode 0600.

What is derived or private lies here and never in a project. A link in the place of such a folder, or a folder
of another user, is refused: whoever placed it would get what we write. Looser modes are repaired. What a
killed writer left is removed when the folder is next written to.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress

from context_pack_adapters.disk.atomic import sweep_temporaries, sync_folder, write_atomic
from context_pack_adapters.disk.locking import PathLock

FOLDER_MODE, FILE_MODE = 0o700, 0o600
_OTHERS = 0o077


class NotPrivate(OSError):
    """What has the name of a private folder is a link, no folder, or another user's."""


def is_private_folder(folder: str) -> bool:
    """Whether there is such a folder; one that others could enter is closed to them.

    Raises:
        NotPrivate: something is there that must not be used.
    """
    try:
        status = os.lstat(folder)
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        what = "a link" if stat.S_ISLNK(status.st_mode) else "not a folder"
        raise NotPrivate(errno.ENOTDIR, what)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise NotPrivate(errno.EPERM, "another user's folder")
    if os.name == "posix" and status.st_mode & _OTHERS:
        with suppress(OSError):  # a file system without modes
            os.chmod(folder, stat.S_IMODE(status.st_mode) & ~_OTHERS)
    return True


def ensure_private_folder(folder: str) -> None:
    """Make a private folder and what is missing above it, and remove what killed writers left in it.

    Raises:
        NotPrivate: something else has its name.
        OSError: it cannot be made.
    """
    if not is_private_folder(folder):
        _make(folder)
    sweep_temporaries(folder, time.time())


def _make(folder: str) -> None:
    parent = os.path.dirname(folder)
    if not os.path.isdir(parent) and parent != folder:
        _make(parent)
    with suppress(FileExistsError):
        os.mkdir(folder, FOLDER_MODE)
        sync_folder(parent)
    is_private_folder(folder)


def write_private(folder: str, name: str, data: bytes) -> None:
    """Put `data` at `folder/name` in one step; the folder is made if need be."""
    ensure_private_folder(folder)
    write_atomic(folder, name, data, FILE_MODE)


def private_lock(folder: str, name: str, timeout: float) -> PathLock:
    """A lock in a private folder, which must be there when the lock is taken."""
    return PathLock(os.path.join(folder, name), timeout, mode=FILE_MODE)
