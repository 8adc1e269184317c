"""The stores of packs and excerpts in a folder of their own, and reads counted in a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from context_pack.code.access import ContextItem, ranked
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock, IdSource
from context_pack_adapters.files.folder import Folder, PrivateFolder
from context_pack_adapters.packs.excerpts import FileExcerptStore
from context_pack_adapters.packs.history import FilePackHistory
from context_pack_adapters.packs.store import LOCK_SECONDS, FilePackStore
from inmemory.folders import temporary


class MemoryPackStore(FilePackStore):
    """The packs of one test, with their history and a trash."""

    def __init__(self, clock: Clock, ids: IdSource, lock_timeout: float = LOCK_SECONDS) -> None:
        folder = temporary(self)
        self.history = FilePackHistory(PrivateFolder(folder / "history"))
        trash = Folder(folder / "trash")
        super().__init__(folder, clock, ids, lock_timeout, trash=trash, history=self.history)


class MemoryExcerptStore(FileExcerptStore):
    """The excerpts of one test."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(temporary(self), clock)


class MemoryAccessLog:
    """An `AccessLog` that nothing writes later."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._items: dict[RelativePath, ContextItem] = {}

    def record(self, path: RelativePath, at: datetime) -> None:
        """Count one more read of the file."""
        known = self._items.get(path)
        self._items[path] = ContextItem(path, 1, at) if known is None else known.seen(1, at)

    def items(self) -> Sequence[ContextItem]:
        """Every file that was ever read, the best score first."""
        return ranked(list(self._items.values()), self._clock.now())
