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

from context_pack_adapters.files.private import PrivateFolder
from context_pack_adapters.files.writing import TEMPORARY_AGE_SECONDS

PREFIX, LOCK = "context-pack-private-", ".lock"


class TemporaryHome:
    """A folder that lives as long as the process that made it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        self._process = os.getpid()
        self._lock = PrivateFolder(self.path).lock(LOCK, 0.0)
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
    """Remove the folder of this process, if there is one: for processes that end by `os._exit`."""
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
    folder = PrivateFolder(entry.path)
    young = now - entry.stat(follow_symlinks=False).st_mtime <= TEMPORARY_AGE_SECONDS
    if young or folder.trouble():
        return
    lock = folder.lock(LOCK, 0.0)
    if lock.attempt():
        shutil.rmtree(entry.path, ignore_errors=True)
        lock.release()
