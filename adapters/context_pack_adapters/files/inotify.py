"""Linux inotify through the C library: three system calls that report changes in folders.

What lives here: one descriptor, the folders it watches, and the events it gave. What the events
mean is for the two who ask: `changes` (what changed since I last asked?) and `watch` (tell me when).
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
from functools import cache
from typing import Any, NamedTuple

from context_pack_adapters.files.opening import Handle, Place

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED, ONLY_FOLDER = 0x2000, 0x4000, 0x8000, 0x1000000
ENTRIES = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
"""Anything that happens to an entry of the folder."""
ITSELF = DELETE_SELF | MOVE_SELF
LOST = ITSELF | UNMOUNT | OVERFLOW | IGNORED
"""The watch has ended or missed something."""

_EVENT = struct.Struct("iIII")
_BUFFER_BYTES = 16 * 1024
_MOST_READS = 8
"""After this many full buffers, thousands of events, it is quicker to look at the folder itself."""


class InotifyEvent(NamedTuple):
    """One event: its mask, and the entry it is about ("" for the folder itself)."""

    mask: int
    name: str


class Inotify:
    """One queue of events; the owner closes the descriptor.

    Raises:
        OSError: the system gives no more of them.
    """

    def __init__(self) -> None:
        self.descriptor: int = libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
        self._waiting = select.poll()
        self._waiting.register(self.descriptor, select.POLLIN)
        self._watched = -1

    def watch(self, place: Place) -> bool:
        """Move the watch to this folder; False if it cannot be watched."""
        watched = self.add(place)
        if watched < 0:
            return False
        if self._watched not in (-1, watched):
            libc().inotify_rm_watch(self.descriptor, self._watched)
        self._watched = watched
        return True

    def add(self, place: Place) -> int:
        """Watch this folder (the inode, not the name); negative if it cannot be watched."""
        try:
            with place.held() as folder:
                return self.add_open(folder)
        except OSError:
            return -1

    def add_open(self, folder: Handle) -> int:
        """Watch a folder that is open; negative if it cannot be watched."""
        # By its descriptor: this is the folder that was entered, through no link.
        path = os.fsencode(f"/proc/self/fd/{folder}")
        return int(libc().inotify_add_watch(self.descriptor, path, ENTRIES | ITSELF | ONLY_FOLDER))

    def events(self) -> list[InotifyEvent]:
        """The events that wait, oldest first; never blocks.

        Somebody who changes files faster than they are told of would keep it busy for ever: past a number of
        events the last one is an overflow, as if the queue had run over.
        """
        found: list[InotifyEvent] = []
        for _ in range(_MOST_READS):
            if not self._waiting.poll(0):
                return found
            data, at = os.read(self.descriptor, _BUFFER_BYTES), 0
            while at < len(data):
                _, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size
                found.append(InotifyEvent(mask, os.fsdecode(data[at : at + length].rstrip(b"\0"))))
                at += length
        found.append(InotifyEvent(OVERFLOW, ""))
        return found


def has_inotify() -> bool:
    """Whether this system has inotify."""
    return sys.platform == "linux"


@cache
def libc() -> Any:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)
