"""Reads remembered in a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from threading import Lock

from context_pack.code.access import ContextItem, ranked
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock


class MemoryAccessLog:
    """An `AccessLog` in memory; safe to share between threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._items: dict[RelativePath, ContextItem] = {}

    def record(self, path: RelativePath, at: datetime) -> None:
        """Count one more read of the file."""
        with self._lock:
            known = self._items.get(path)
            self._items[path] = ContextItem(path, 1, at) if known is None else known.seen(1, at)

    def items(self) -> Sequence[ContextItem]:
        """Every file that was ever read, the best score first."""
        with self._lock:
            items = list(self._items.values())
        return ranked(items, self._clock.now())
