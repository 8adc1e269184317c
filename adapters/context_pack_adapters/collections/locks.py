"""Locks of collections, between threads and between processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock

from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import PrivateFolder

LONGEST_WAIT = 3600.0


class FileLocks:
    """Between threads by locks in memory, between processes by lock files in the user's cache."""

    def __init__(self, cache: PrivateFolder) -> None:
        self._cache, self._guard = cache, Lock()
        self._locks: dict[str, Lock] = {}

    def in_process(self, name: str) -> AbstractContextManager[object]:
        """Held by one thread at a time."""
        with self._guard:
            return self._locks.setdefault(name, Lock())

    @contextmanager
    def across_processes(self, name: str, check: Callable[[], None]) -> Iterator[None]:
        """Held by one process at a time."""
        file = f"{re.sub(r'[^A-Za-z0-9_-]', '_', name)}.lock"
        lock = self._cache.lock(file, LONGEST_WAIT)
        with translated(file):
            self._cache.make()
            lock.acquire(check)
        try:
            yield
        finally:
            lock.release()
