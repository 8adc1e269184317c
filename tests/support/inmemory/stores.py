"""The tree and its search over the files of a mapping, and stores in folders that go away with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from context_pack.code.grep import FoundLines, LineQuery
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Clock, FileNames, IdSource, SourceFile, Unreadable
from context_pack.toolkit.call import Call
from context_pack_adapters.files.folder import Folder, PrivateFolder
from context_pack_adapters.memory.activity import Activity
from context_pack_adapters.packs.excerpts import FileExcerptStore
from context_pack_adapters.packs.history import FilePackHistory
from context_pack_adapters.packs.store import LOCK_SECONDS, FilePackStore
from context_pack_adapters.source.grep import FileTreeSearch
from context_pack_adapters.source.tree import DiskSourceTree
from inmemory.folders import Mirror, temporary

_POLICY = PathPolicy()


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


class MemorySourceTree(DiskSourceTree):
    """The tree on disk with the files that the mapping holds at each read or walk."""

    def __init__(
        self, files: Mapping[str, str | bytes], policy: PathPolicy = _POLICY, modified: float | None = None
    ) -> None:
        self._mirror = Mirror(files, modified)
        self._mirror.write()
        super().__init__(self._mirror.folder, policy)

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """The text of one file."""
        self._mirror.write()
        return super().read(path, max_bytes)

    def names(self, go_on: Callable[[], bool] | None = None, /) -> FileNames:
        """Where files of each name are."""
        self._mirror.write()
        return super().names(go_on)


class MemorySearch(FileTreeSearch):
    """Searches the files that the mapping holds at each call."""

    def __init__(self, files: Mapping[str, str | bytes], policy: PathPolicy | None = None) -> None:
        self._mirror = Mirror(files)
        super().__init__(self._mirror.folder, policy or PathPolicy())

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match."""
        self._mirror.write()
        return super().search(query, call)
