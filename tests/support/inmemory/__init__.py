"""Ports for tests: the real stores in folders that go away with them, a clock and ids that a test sets."""

from __future__ import annotations

from inmemory.clock import FixedClock, SeededIds
from inmemory.stores import (
    MemoryActivity,
    MemoryExcerptStore,
    MemoryPackStore,
    MemorySearch,
    MemorySourceTree,
)

__all__ = [
    "FixedClock",
    "MemoryActivity",
    "MemoryExcerptStore",
    "MemoryPackStore",
    "MemorySearch",
    "MemorySourceTree",
    "SeededIds",
]
