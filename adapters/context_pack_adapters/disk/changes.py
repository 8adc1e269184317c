"""Which names in a folder have changed since the last question, told by the system (Linux: inotify).

Asking costs next to nothing when nothing happened, whatever the number of files. The answer None means
"look for yourself": events were lost, the folder is another one now, the process was forked. A watch is
given only on file systems where every change is made by this kernel and therefore heard of; on others
(network, FUSE) there is none. Not heard of: a change through a hard link in another folder, or through a
memory mapping.
"""

from __future__ import annotations

import os
import struct
import sys
import weakref

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED, _ONLY_FOLDER = 0x2000, 0x4000, 0x8000, 0x1000000
_INTEREST = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_INTEREST |= _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDER
_LOST = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED
_EVENT = struct.Struct("iIII")
_BUFFER_BYTES = 256 * 1024

# ext2 to ext4, xfs, btrfs, tmpfs, ramfs, f2fs, overlay, zfs: what `statfs` calls them.
_OWN_FILE_SYSTEMS = frozenset(
    {0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x858458F6, 0xF2F52010, 0x794C7630, 0x2FC12FC1}
)


class FolderChanges:
    """A watch on one folder, from the moment it is made; not for use by two threads at once."""

    def __init__(self, folder: str, descriptor: int, identity: tuple[int, int]) -> None:
        self._folder = folder
        self._descriptor = descriptor
        self._identity = identity
        self._process = os.getpid()
        self._closed = weakref.finalize(self, os.close, descriptor)

    def names(self) -> set[str] | None:
        """The names that changed since the last question; None if they are not known."""
        # A forked child shares the queue with its parent: what one takes, the other never hears of.
        if os.getpid() != self._process or _identity(self._folder) != self._identity:
            return None
        changed: set[str] = set()
        while True:
            try:
                data = os.read(self._descriptor, _BUFFER_BYTES)
            except BlockingIOError:
                return changed
            at = 0
            while at < len(data):
                _, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size
                if mask & _LOST:
                    return None
                changed.add(os.fsdecode(data[at : at + length].rstrip(b"\0")))
                at += length

    def close(self) -> None:
        """End the watch."""
        self._closed()


def watch_folder(folder: str) -> FolderChanges | None:
    """A watch on a folder, or None where the system gives none."""
    if sys.platform != "linux":
        return None
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(256)
    name = os.fsencode(folder)
    if libc.statfs(name, room) < 0 or ctypes.c_long.from_buffer(room).value not in _OWN_FILE_SYSTEMS:
        return None
    before = _identity(folder)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        return None
    if (
        libc.inotify_add_watch(descriptor, name, _INTEREST) < 0
        or before is None
        or _identity(folder) != before
    ):
        os.close(descriptor)
        return None
    return FolderChanges(folder, descriptor, before)


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)
