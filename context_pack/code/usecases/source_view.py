"""The source tree as import resolvers see it during one call: listed once, read once.

Most guesses of a resolver lead into folders that are not there. So a folder is looked for in the one around
it, which was listed before, and the disk is not asked. A project's configuration can name any number of
places for every import, so the looks of one call are counted.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from context_pack.code.domain.imports.tree import TooManyPlaces, within
from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import FolderNames, SourceFile, SourceTree
from context_pack.kernel.syntax import Parsed, Syntax

MOST_LOOKS = 500_000
"""How often one call may look into a folder: a second or two; 10,000 ordinary imports take a tenth of it."""
_NOTHING = FolderNames()


@define
class SourceView:
    """A `TreeView` over the source tree; what is no path of the tree is simply not there."""

    tree: SourceTree
    syntax: Syntax
    max_bytes: int
    check: Callable[[], None] = lambda: None
    """Raises when the call was cancelled; called before each folder listing."""
    _looks: int = field(default=0, init=False)
    _folders: dict[str, FolderNames] = field(factory=dict, init=False)
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

    def parsed(self, path: str) -> Parsed | None:
        """A file as its grammar reads it, even in part; the syntax port keeps what it parsed."""
        text = self.text(path)
        if text is None:
            return None
        found = self.syntax.parse(language_of(path), text)
        return found if isinstance(found, Parsed) else found.partly

    def _listed(self, folder: str) -> FolderNames:
        self._looks += 1
        if self._looks > MOST_LOOKS:
            raise TooManyPlaces
        found = self._folders.get(folder)
        if found is None:
            found = self._folders[folder] = self._list(folder)
        return found

    def _list(self, folder: str) -> FolderNames:
        self.check()
        if not self._is_there(folder):
            return _NOTHING
        try:
            return self.tree.folder(RelativePath(folder) if folder else None)
        except Failure:
            return _NOTHING

    def _is_there(self, folder: str) -> bool:
        """Whether every folder on the way has the next; those before the last one are listed by then."""
        at = ""
        for name in folder.split("/") if folder else ():
            if name not in self._listed(at).folders:
                return False
            at = within(at, name)
        return True

    def _read(self, path: str) -> str | None:
        self.check()
        try:
            found = self.tree.read(RelativePath(path), self.max_bytes)
        except Failure:
            return None
        return found.text if isinstance(found, SourceFile) else None
