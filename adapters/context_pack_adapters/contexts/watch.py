"""Waits until something happens in one of many folders.

What happened is not told: whoever waits looks for itself, which costs less than being wrong about it.
"""

from __future__ import annotations

from collections.abc import Iterable

from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import Place
from context_pack_adapters.files.watch import FolderEvents

SETTLE_SECONDS = 0.2
"""Changes that follow each other this closely are answered by one look."""


class FoldersWatch:
    """A watch on the folders of one project; not for use by two threads."""

    def __init__(self, root: str) -> None:
        self._root = Place.of(root)
        self._events = FolderEvents(insists=False)
        self.close = self._events.close

    def follow(self, scopes: Iterable[str]) -> None:
        """Watch these folders from now on, besides those watched already; the system drops removed ones."""
        for scope in scopes:
            folder = self._root if scope == "." else self._root.below(*scope.split("/"))
            queue = self._events.queue
            if queue is not None and queue.add(folder) < 0 and Folder(folder).exists():
                self._events.look_only()  # no more watches to be had

    def wait(self) -> None:
        """Return once something has happened and it is quiet again, or has not been for too long."""
        self._events.wait(settle=SETTLE_SECONDS)
