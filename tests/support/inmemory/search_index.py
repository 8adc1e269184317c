"""The index of one test, in a folder that goes away with it."""

from __future__ import annotations

from context_pack.retrieval.ports import Embedder
from context_pack_adapters.index.sqlite_index import SqliteIndex
from inmemory.folders import temporary


class MemoryIndex(SqliteIndex):
    """A search index that leaves nothing behind."""

    def __init__(self, fast: Embedder) -> None:
        super().__init__(temporary(self) / "index.sqlite3", fast, chunker="memory")
