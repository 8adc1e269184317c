"""The source tree as import resolvers see it during one call: listed once, read once."""

from __future__ import annotations

from attrs import define, field

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Folder, SourceFile, SourceTree

_NOTHING = Folder()


@define
class SourceView:
    """A `TreeView` over the source tree; what is no path of the tree is simply not there."""

    tree: SourceTree
    max_bytes: int
    _folders: dict[str, Folder] = field(factory=dict, init=False)
    _texts: dict[str, str | None] = field(factory=dict, init=False)

    def files(self, folder: str) -> frozenset[str]:
        """The readable files in a folder."""
        return self._listed(folder).files

    def folders(self, folder: str) -> frozenset[str]:
        """The folders in a folder."""
        return self._listed(folder).folders

    def text(self, path: str) -> str | None:
        """The text of a file, or None when it cannot be read."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _listed(self, folder: str) -> Folder:
        found = self._folders.get(folder)
        if found is None:
            found = self._folders[folder] = self._list(folder)
        return found

    def _list(self, folder: str) -> Folder:
        try:
            return self.tree.folder(RelativePath(folder) if folder else None)
        except Failure:
            return _NOTHING

    def _read(self, path: str) -> str | None:
        try:
            found = self.tree.read(RelativePath(path), self.max_bytes)
        except Failure:
            return None
        return found.text if isinstance(found, SourceFile) else None
