"""Waits for changes in folders: by inotify on Linux, by slow polling elsewhere; and reports those of one.

A watch runs only while somebody listens. That of one folder reports the names of the entries that were
written, renamed into place or removed, and no names when a time has come that the listener set. The folder
need not exist yet: its nearest existing ancestor is watched until it does.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.inotify import ATTRIB, LOST, Inotify, InotifyEvent, has_inotify
from context_pack_adapters.disk.opening import AnyPlace, Place, scan
from context_pack_adapters.disk.signature import Signature, signature

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


Report = Callable[[frozenset[str]], None]
Due = Callable[[], float | None]
"""In how many seconds to report, whether or not anything changes; None for never."""


class FolderWatch:
    """Calls `report` with the names that changed in `folder`, from a thread of its own, until `stop`.

    What changes before `start` is reported after it. Before each wait `due` is asked, in the same thread.
    """

    def __init__(self, folder: AnyPlace, report: Report, due: Due) -> None:
        self._folder = Folder(folder)
        self._report = report
        self._due = due
        self._events = FolderEvents()
        self._before = _listing(self._folder)
        self._watched: Place | None = None
        if self._events.queue is not None:
            self._follow(self._events.queue)
        self._thread = threading.Thread(target=self._run, name="folder watch", daemon=True)

    def start(self) -> None:
        """Start to report changes."""
        self._thread.start()

    def stop(self) -> None:
        """End the watch; nothing is reported afterwards."""
        self._events.stop()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while (burst := self._events.wait(self._due())) is not None:
            changed = self._changed(burst)
            if changed or not burst:
                self._report(frozenset(changed))

    def _changed(self, burst: list[InotifyEvent]) -> set[str]:
        """The names that these events are about; where they do not tell, the folder is listed."""
        lost = self._watched != self._folder.place or any(event.mask & LOST for event in burst)
        if self._events.queue is None or (burst and lost):
            if self._events.queue is not None:
                self._follow(self._events.queue)
            return self._compare()
        names = {event.name for event in burst if event.mask & ~ATTRIB}
        for name in names:  # so that a look, when one is needed, is compared with what was last reported
            self._before.pop(name, None)
            with suppress(OSError):
                self._before[name] = signature(self._folder.status(name))
        return names

    def _compare(self) -> set[str]:
        """The names that differ from the last look."""
        before, self._before = self._before, _listing(self._folder)
        return {name for name, _ in before.items() ^ self._before.items()}

    def _follow(self, events: Inotify) -> None:
        """Watch the folder itself, or its nearest ancestor that exists."""
        while True:
            place = next(filter(events.watch, _ways(self._folder.place)), None)
            self._watched = place
            came = False
            with suppress(OSError):
                came = self._folder.exists()
            if place is None or place == self._folder.place or not came:
                return  # else it came while its ancestor was being watched


def _ways(place: Place) -> Iterator[Place]:
    """A folder and those it is in, up to the top of the file system."""
    for depth in range(len(place.inside), -1, -1):
        yield Place(place.top, place.inside[:depth])
    above = os.path.dirname(place.top)
    if above != place.top:
        yield from _ways(Place(above))


def _listing(folder: Folder) -> dict[str, Signature]:
    """Each entry's signature; an absent folder has none."""
    found: dict[str, Signature] = {}
    with suppress(OSError), folder.place.held() as handle:
        for entry in scan(handle):
            with suppress(OSError):
                found[entry.name] = signature(entry.stat(follow_symlinks=False))
    return found
