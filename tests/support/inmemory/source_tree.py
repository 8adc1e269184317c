"""A source tree over the files of a mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import FileNames, SourceFile, Unreadable
from context_pack_adapters.source.tree import DiskSourceTree
from inmemory.folders import Mirror

_POLICY = PathPolicy()


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
