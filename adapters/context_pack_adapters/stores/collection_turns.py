"""Turns between threads and between processes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.private import PrivateFolder

LONGEST_WAIT = 3600.0
LOOK_SECONDS = 0.05


class DiskTurns:
    """`Turns` by locks in memory, and by lock files in the user's cache."""

    def __init__(self, cache: PrivateFolder) -> None:
        self._cache = cache
        self._guard = Lock()
        self._locks: dict[str, Lock] = {}

    @contextmanager
    def here(self, name: str) -> Iterator[None]:
        """One thread of this process at a time."""
        with self._guard:
            lock = self._locks.setdefault(name, Lock())
        with lock:
            yield

    @contextmanager
    def everywhere(self, name: str, check: Callable[[], None]) -> Iterator[None]:
        """One process at a time."""
        file = f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}.lock"
        with translated(file):
            self._cache.make()
        lock = self._cache.lock(file, LONGEST_WAIT)
        with translated(file):
            lock.acquire(check)
        try:
            yield
        finally:
            lock.release()

    def until(self, done: Callable[[], bool], check: Callable[[], None]) -> None:
        """Look every now and then."""
        while not done():
            check()
            time.sleep(LOOK_SECONDS)
