"""Waits until something happens in one of many folders: inotify on Linux, a slow look elsewhere.

What happened is not told: whoever waits looks for itself, which costs less than being wrong about it.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable

from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.inotify import Inotify, has_inotify
from context_pack_adapters.disk.opening import Place

SETTLE_SECONDS = 0.2
"""Changes that follow each other this closely are answered by one look."""
MOST_ROUNDS = 10
"""How often the wait for quiet is restarted, so that constant writes do not delay a report for ever."""
LOOK_SECONDS = 1.0


class FoldersWatch:
    """A watch on the folders of one project; not for use by two threads."""

    def __init__(self, root: str) -> None:
        self._root = Place.of(root)
        self._events = _inotify()

    def follow(self, scopes: Iterable[str]) -> None:
        """Watch these folders from now on, besides those watched already; the system drops removed ones."""
        if self._events is None:
            return
        for scope in scopes:
            if not self._add(self._root if scope == "." else self._root.below(*scope.split("/"))):
                # No more watches to be had: better a slow look than a folder nobody watches.
                self.close()
                return

    def wait(self) -> None:
        """Return once something has happened and it is quiet again, or has not been for too long."""
        if self._events is None:
            time.sleep(LOOK_SECONDS)
            return
        descriptor = self._events.descriptor
        select.select([descriptor], [], [])
        for _ in range(MOST_ROUNDS):
            self._events.events()
            if not select.select([descriptor], [], [], SETTLE_SECONDS)[0]:
                return

    def close(self) -> None:
        """End the watch."""
        if self._events is not None:
            os.close(self._events.descriptor)
            self._events = None

    def _add(self, folder: Place) -> bool:
        """Watch one folder; one that has vanished is no failure."""
        assert self._events is not None
        return self._events.add(folder) >= 0 or not Folder(folder).exists()


def _inotify() -> Inotify | None:
    try:
        return Inotify() if has_inotify() else None
    except OSError:
        return None
