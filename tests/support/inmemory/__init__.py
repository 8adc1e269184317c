"""An in-memory implementation of every port, for tests and library callers: same behaviour, no disk."""

from __future__ import annotations

from inmemory.access_log import MemoryAccessLog
from inmemory.bundles import MemoryBundleStore
from inmemory.clock import FixedClock, SeededIds
from inmemory.excerpt_store import MemoryExcerptStore
from inmemory.pack_history import MemoryPackHistory
from inmemory.pack_store import MemoryPackStore
from inmemory.source_tree import MemorySourceTree

__all__ = [
    "FixedClock",
    "MemoryAccessLog",
    "MemoryBundleStore",
    "MemoryExcerptStore",
    "MemoryPackHistory",
    "MemoryPackStore",
    "MemorySourceTree",
    "SeededIds",
]
