"""Reports changes in one folder: by inotify on Linux, by slow polling elsewhere.

A watch runs only while somebody listens. It reports the names of the entries that were written, renamed into
place or removed, and no names when a time has come that the listener set. The folder need not exist yet: its
nearest existing ancestor is watched until it does.
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
LOOK_SECONDS = 1.0

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
        self._events = Inotify() if has_inotify() else None
        self._wakes, self._stops = os.pipe()
        self._before = _listing(self._folder)
        self._watched: Place | None = None
        if self._events is not None:
            self._follow(self._events)
        self._thread = threading.Thread(target=self._run, name="folder watch", daemon=True)

    def start(self) -> None:
        """Start to report changes."""
        self._thread.start()

    def stop(self) -> None:
        """End the watch; nothing is reported afterwards."""
        os.write(self._stops, b"\0")
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        sources = [self._wakes] if self._events is None else [self._wakes, self._events.descriptor]
        while True:
            ready, _, _ = select.select(sources, [], [], self._timeout())
            if self._wakes in ready:
                break
            changed = self._gather(self._events) if self._events is not None and ready else set()
            if changed is None or self._events is None:
                changed = self._compare()
            if changed or not ready:
                self._report(frozenset(changed))
        for descriptor in (self._wakes, self._stops, *sources[1:]):
            os.close(descriptor)

    def _timeout(self) -> float | None:
        """How long to wait for the next event."""
        due = self._due()
        if self._events is None:
            return LOOK_SECONDS if due is None else min(due, LOOK_SECONDS)
        return due

    def _gather(self, events: Inotify) -> set[str] | None:
        """The names of this burst of events; None when the folder must be listed to find them."""
        burst: list[InotifyEvent] = []
        for _ in range(MOST_ROUNDS):
            burst += events.events()
            if not select.select([events.descriptor], [], [], SETTLE_SECONDS)[0]:
                break
        if self._watched != self._folder.place or any(event.mask & LOST for event in burst):
            self._follow(events)
            return None
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
