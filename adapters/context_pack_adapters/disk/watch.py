"""Hears of changes in one folder without polling: inotify on Linux, a slow look elsewhere.

A watch runs only while somebody listens. It reports the names of the entries that were written, renamed into
place or removed. The folder need not exist yet: its nearest existing ancestor is watched until it does.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

SETTLE_SECONDS = 0.02
"""Changes that follow each other this closely are reported together."""
LOOK_SECONDS = 1.0

_CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 8, 64, 128, 256, 512
_DELETE_SELF, _MOVE_SELF = 1024, 2048
_INTEREST = _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_GONE = _DELETE_SELF | _MOVE_SELF | 0x8000
_HEAD = struct.Struct("iIII")

Report = Callable[[frozenset[str]], None]


class FolderWatch:
    """Calls `report` with the names that changed in `folder`, from a thread of its own, until `stop`."""

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder = folder
        self._report = report
        self._wakes, self._stops = os.pipe()
        self._before = _listing(folder)
        self._events = _Inotify() if sys.platform == "linux" else None
        self._watched: Path | None = None
        if self._events is not None:
            self._follow(self._events)
        self._thread = threading.Thread(target=self._run, name="folder watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch; nothing is reported afterwards."""
        os.write(self._stops, b"\0")
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        sources = [self._wakes] if self._events is None else [self._wakes, self._events.descriptor]
        while True:
            ready, _, _ = select.select(sources, [], [], LOOK_SECONDS if self._events is None else None)
            if self._wakes in ready:
                break
            if self._events is not None:
                self._gather(self._events)
            after = _listing(self._folder)
            changed = frozenset(name for name, _ in self._before.items() ^ after.items())
            self._before = after
            if changed:
                self._report(changed)
        for descriptor in (self._wakes, self._stops, *sources[1:]):
            os.close(descriptor)

    def _gather(self, events: _Inotify) -> None:
        """Take every event of this burst; follow the folder when it comes or goes."""
        gone = False
        while True:
            gone |= any(mask & _GONE for mask in events.read())
            if not select.select([events.descriptor], [], [], SETTLE_SECONDS)[0]:
                break
        if gone or self._watched != self._folder:
            self._follow(events)

    def _follow(self, events: _Inotify) -> None:
        """Watch the folder itself, or its nearest ancestor that exists."""
        while True:
            place = self._folder
            while not events.watch(place) and place.parent != place:
                place = place.parent
            self._watched = place
            if place == self._folder or not self._folder.exists():
                return  # else it came while its ancestor was being watched


class _Inotify:
    """The three system calls, by way of the C library."""

    def __init__(self) -> None:
        import ctypes

        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
        self._watch = -1

    def watch(self, place: Path) -> bool:
        """Move the one watch to `place`; False if it cannot be watched."""
        found: int = self._libc.inotify_add_watch(self.descriptor, os.fsencode(place), _INTEREST)
        if found < 0:
            return False
        if self._watch not in (-1, found):
            self._libc.inotify_rm_watch(self.descriptor, self._watch)
        self._watch = found
        return True

    def read(self) -> Iterable[int]:
        """The masks of the waiting events."""
        try:
            data = os.read(self.descriptor, 64 * 1024)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            _, mask, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size + length
            yield mask


def _listing(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Each entry's signature; an absent folder has none."""
    found: dict[str, tuple[int, int, int]] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    stat = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                found[entry.name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except OSError:
        return found
    return found
