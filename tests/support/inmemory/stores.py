"""The stores of packs, of excerpts and of what was done, in folders that go away with them."""

from __future__ import annotations

from context_pack.kernel.ports import Clock, IdSource
from context_pack_adapters.files.folder import Folder, PrivateFolder
from context_pack_adapters.memory.activity import Activity
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


class MemoryActivity(Activity):
    """The session and the reads of one test."""

    def __init__(self, clock: Clock, session_id: str = "") -> None:
        super().__init__(PrivateFolder(temporary(self)), clock, session_id)
