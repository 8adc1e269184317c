"""What has changed in a tree since the last question, told by the system (Linux: inotify).

Asking costs next to nothing when nothing happened, whatever the number of files. The answer None means
"look for yourself": events were lost, the folder is another one now, the process was forked. A watch is
given only on file systems where every change is made by this kernel and therefore heard of; on others
(network, FUSE) there is none. Not heard of: a change through a hard link in another folder, or through a
memory mapping.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from contextlib import suppress

from context_pack_adapters.files.inotify import Inotify, has_inotify, libc
from context_pack_adapters.files.opening import AnyPlace, Handle, Place

# ext2 to ext4, xfs, btrfs, tmpfs, ramfs, f2fs, overlay, zfs: what `statfs` calls them.
_OWN_FILE_SYSTEMS = frozenset(
    {0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x858458F6, 0xF2F52010, 0x794C7630, 0x2FC12FC1}
)
MOST_FOLDERS = 2000
"""The most folders that are watched, since the system limits the watches of each user."""


class TreeChanges:
    """A watch on the folders of the latest walk; not for use by two threads at once.

    What happens in a folder between its listing and its watch is not heard of: only a walk that finds all its
    folders watched already is one to rely on.
    """

    def __init__(self, root: Place, events: Inotify) -> None:
        self._root = root
        self._events = events
        self._process = os.getpid()
        self._identity: tuple[int, int] | None = None
        self._before: set[int] = set()
        self._watched: set[int] = set()
        weakref.finalize(self, os.close, events.descriptor)

    def is_ours(self) -> bool:
        """Whether the queue belongs to this process, and not to the one it was forked from."""
        return os.getpid() == self._process

    def is_quiet(self) -> bool:
        """Whether nothing changed since the last walk whose folders were all watched."""
        if self._watched and self._watched <= self._before and not self._events.events():
            return _identity(self._root) == self._identity
        self._before = set()
        return False

    def begin(self) -> None:
        """Start a walk: it will see every change so far, so queued events are dropped."""
        self._identity = _identity(self._root)
        self._events.events()
        self._before, self._watched = self._watched, set()

    def enter(self, folder: Handle) -> None:
        """Watch a folder of the walk."""
        if len(self._watched) <= MOST_FOLDERS:
            self._watched.add(self._events.add_open(folder))

    def is_possible(self) -> bool:
        """Whether the folders of the last walk could be watched."""
        return len(self._watched) <= MOST_FOLDERS and -1 not in self._watched


def watch_tree(root: AnyPlace) -> TreeChanges | None:
    """A watch on a tree, or None where the system gives none."""
    place = Place.of(root)
    events = _events(place)
    return None if events is None else TreeChanges(place, events)


def _events(place: Place) -> Inotify | None:
    """A queue of events, if the system has one and tells every change of this file system."""
    with suppress(OSError):
        return Inotify() if has_inotify() and _is_own(place) else None
    return None


def _is_own(place: Place) -> bool:
    """Whether every change to this file system is made by this kernel."""
    room = ctypes.create_string_buffer(256)
    try:
        with place.held() as folder:
            found: int = libc().fstatfs(folder, room)
    except OSError:
        return False
    return found >= 0 and ctypes.c_long.from_buffer(room).value in _OWN_FILE_SYSTEMS


def _identity(place: Place) -> tuple[int, int] | None:
    try:
        return place.identity()
    except OSError:
        return None
