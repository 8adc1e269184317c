"""A private temporary folder for one process, where the user has no folder that can be written to.

It is removed when the process ends. One whose process was killed has a lock that nobody holds, and is removed
by the next process that needs such a folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache

from context_pack_adapters.disk.atomic import TEMPORARY_AGE_SECONDS
from context_pack_adapters.disk.locking import attempt_lock
from context_pack_adapters.disk.private import FILE_MODE, is_private_folder, private_lock

PREFIX, LOCK = "context-pack-private-", ".lock"


class TemporaryHome:
    """A folder that lives as long as the process that made it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        self._process = os.getpid()
        self._lock = private_lock(self.path, LOCK, 0.0)
        self._lock.acquire()
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove it, unless this is a forked child: then it is the parent's."""
        if os.getpid() == self._process:
            shutil.rmtree(self.path, ignore_errors=True)
            self._lock.release()


@cache
def temporary_home() -> TemporaryHome:
    """The folder of this process, made when it is first asked for."""
    sweep_temporary_homes(tempfile.gettempdir(), time.time())
    return TemporaryHome()


def remove_temporary_home() -> None:
    """Remove the folder of this process, if there is one: for processes that end without a farewell."""
    if temporary_home.cache_info().currsize:
        temporary_home().remove()


def sweep_temporary_homes(folder: str, now: float) -> None:
    """Remove the folders of killed processes; one that is younger than an hour may be about to be locked."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                with suppress(OSError):
                    _remove_if_left(entry, now)


def _remove_if_left(entry: os.DirEntry[str], now: float) -> None:
    """Raises OSError for what is not a folder of this user."""
    if now - entry.stat(follow_symlinks=False).st_mtime <= TEMPORARY_AGE_SECONDS:
        return
    if not is_private_folder(entry.path):
        return
    lock = attempt_lock(os.path.join(entry.path, LOCK), mode=FILE_MODE)
    if lock is not None:
        shutil.rmtree(entry.path, ignore_errors=True)
        lock.release()
