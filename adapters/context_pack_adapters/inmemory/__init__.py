"""An in-memory implementation of every port, for tests and library callers: same behaviour, no disk."""

from __future__ import annotations

from context_pack_adapters.inmemory.access_log import MemoryAccessLog
from context_pack_adapters.inmemory.bundles import MemoryBundleStore
from context_pack_adapters.inmemory.clock import FixedClock, SeededIds
from context_pack_adapters.inmemory.excerpt_store import MemoryExcerptStore
from context_pack_adapters.inmemory.pack_history import MemoryPackHistory
from context_pack_adapters.inmemory.pack_store import MemoryPackStore
from context_pack_adapters.inmemory.source_tree import MemorySourceTree

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
