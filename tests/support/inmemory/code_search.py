"""The search of code over the files of a mapping."""

from __future__ import annotations

from collections.abc import Mapping

from context_pack.code.grep import FoundLines, LineQuery
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import Call
from context_pack_adapters.source.grep import FileTreeSearch
from inmemory.folders import Mirror


class MemorySearch(FileTreeSearch):
    """Searches the files that the mapping holds at each call."""

    def __init__(self, files: Mapping[str, str | bytes], policy: PathPolicy | None = None) -> None:
        self._mirror = Mirror(files)
        super().__init__(self._mirror.folder, policy or PathPolicy())

    def search(self, query: LineQuery, call: Call) -> FoundLines:
        """The lines that match."""
        self._mirror.write()
        return super().search(query, call)
