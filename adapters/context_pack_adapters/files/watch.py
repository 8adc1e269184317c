"""Waits for changes in folders: by inotify on Linux, by slow polling elsewhere."""

from __future__ import annotations

import os
import select
from contextlib import suppress

from context_pack_adapters.files.inotify import Inotify, InotifyEvent, has_inotify

SETTLE_SECONDS = 0.02
"""Changes that follow each other this closely are reported together."""
MOST_ROUNDS = 10
"""How often the wait for quiet is restarted, so that constant writes do not delay a report for ever."""
LOOK_SECONDS = 1.0


class FolderEvents:
    """Waits for something to happen in folders; where the system does not tell, until it is time to look.

    Raises:
        OSError: the system gives no more watches, to one who `insists` on them.
    """

    def __init__(self, insists: bool = True) -> None:
        self.queue: Inotify | None = None
        with suppress(*([] if insists else [OSError])):
            self.queue = Inotify() if has_inotify() else None
        self._wakes, self._stops = os.pipe()

    def wait(self, seconds: float | None = None, settle: float = SETTLE_SECONDS) -> list[InotifyEvent] | None:
        """What happened, once it is quiet again; nothing when it is time to look, None after `stop`."""
        if self.queue is None:
            seconds = LOOK_SECONDS if seconds is None else min(seconds, LOOK_SECONDS)
        told = [] if self.queue is None else [self.queue.descriptor]
        ready, _, _ = select.select([self._wakes, *told], [], [], seconds)
        if self._wakes in ready:
            self.close()
            return None
        burst: list[InotifyEvent] = []
        for _ in range(MOST_ROUNDS if ready else 0):
            burst += self.queue.events() if self.queue is not None else ()
            if not select.select(told, [], [], settle)[0]:
                break
        return burst

    def stop(self) -> None:
        """End the waiting, in whichever thread that is."""
        os.write(self._stops, b"\0")

    def close(self) -> None:
        """Give back what the system gave; nobody may be waiting."""
        self.look_only()
        os.close(self._wakes)
        os.close(self._stops)

    def look_only(self) -> None:
        """Rely on looks from now on: better slow than not told of a folder."""
        if self.queue is not None:
            os.close(self.queue.descriptor)
            self.queue = None
