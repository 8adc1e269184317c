"""Whether a file is unchanged: one signature of its state, one rule when to believe it, one cache by it.

A signature cannot be believed while the file is younger than the file system's timestamp grain: a second
write in the same tick would leave it as it is (the "racily clean" entries of git's index). A change of the
content, a replaced file, a changed mode or owner all show in it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from math import inf
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")

FINE_GRAIN_NS = 20_000_000
COARSE_GRAIN_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000

Signature = tuple[int, int, int, int, int]
"""Times of the last write and the last change, size, inode, device."""


def signature(status: os.stat_result) -> Signature:
    """Size, times and inode of a file or folder: equal only for the same state."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


def is_settled(modified_ns: int, changed_ns: int, looked_at_ns: int) -> bool:
    """Whether every change of a file shows in its times, if it was looked at no earlier than that."""
    # Whole seconds mean a file system that counts no finer (or a chance, and then caution costs one read).
    coarse = modified_ns % _SECOND_NS == 0 or changed_ns % _SECOND_NS == 0
    return max(modified_ns, changed_ns) + (COARSE_GRAIN_NS if coarse else FINE_GRAIN_NS) < looked_at_ns


def settled_signature(status: os.stat_result, looked_at_ns: int) -> Signature | None:
    """The signature if it can be believed later, else None."""
    state = signature(status)
    return state if is_settled(state[0], state[1], looked_at_ns) else None


def as_text(status: os.stat_result) -> str:
    """The signature as an index keeps it; without the device, whose number may be another tomorrow."""
    return f"{status.st_mtime_ns}.{status.st_ctime_ns}.{status.st_size}.{status.st_ino}"


YOUNG = "~"
"""Marks the stamp of a file that may change again without its stamp showing it."""


def stamp_of(status: os.stat_result, now_ns: int) -> str:
    """The signature of a file's state; one that is too young to be trusted is marked."""
    young = "" if is_settled(status.st_mtime_ns, status.st_ctime_ns, now_ns) else YOUNG
    return as_text(status) + young


class FileCache(Generic[T]):
    """What was made of files, by key, for as long as each file is the same; safe to share between threads.

    `room` is the sum of the sizes that are kept. When it is full, what is there stays: who goes over the same
    files again and again finds some of them, where dropping the oldest would drop each before it is needed.
    """

    def __init__(self, room: float = inf) -> None:
        self._values: dict[str, tuple[Signature, T, int]] = {}
        self._room = room
        self._lock = Lock()

    def get(self, key: str, state: Signature) -> T | None:
        """The value of a file in that state, if there is one."""
        value = self._values.get(key)
        return value[1] if value is not None and value[0] == state else None

    def put(self, key: str, status: os.stat_result, looked_at_ns: int, value: T, size: int = 0) -> None:
        """Keep the value of a file that was looked at no earlier than that, if its state can be believed."""
        state = settled_signature(status, looked_at_ns)
        with self._lock:
            self._drop(key)
            if state is not None and size <= self._room:
                self._room -= size
                self._values[key] = state, value, size

    def keep_only(self, keys: Collection[str]) -> None:
        """Drop all other files."""
        if self._values.keys() - keys:
            with self._lock:
                for key in self._values.keys() - keys:
                    self._drop(key)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def _drop(self, key: str) -> None:
        before = self._values.pop(key, None)
        self._room += 0 if before is None else before[2]
