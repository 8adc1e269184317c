"""The index in memory: one on disk, in a folder that goes away with it."""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp

from context_pack.retrieval.ports import Embedder
from context_pack_adapters.index.sqlite_index import SqliteIndex


class MemoryIndex(SqliteIndex):
    """A search index for library callers and tests, which leaves nothing behind."""

    def __init__(self, fast: Embedder) -> None:
        folder = mkdtemp(prefix="context-pack-")
        super().__init__(Path(folder) / "index.sqlite3", fast, chunker="memory")
        self._gone = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
