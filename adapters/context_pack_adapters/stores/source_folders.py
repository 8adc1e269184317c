"""What is in a folder of the source tree, and nothing of what is outside.

As with files, what counts is the folder that was opened, not the path that was checked: it is listed only if
the system says that it lies inside the root and the policy allows where it really is. Links inside are looked
at one by one; names that no relative path can spell are left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Folder

MOST_ENTRIES = 50_000

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_DESCRIPTOR = os.scandir in os.supports_fd
_PROC = os.path.isdir("/proc/self/fd")
_SURE_CHARS = 150
"""A path that begins so short is short enough, whatever characters and name it has."""
_EMPTY = Folder()


class SourceFolders:
    """Lists folders under `root` that the policy allows; `is_file` judges links."""

    def __init__(self, root: Path, policy: PathPolicy, is_file: Callable[[RelativePath], bool]) -> None:
        self._root = os.path.abspath(root)
        self._real = os.path.realpath(self._root)
        self._policy = policy
        self._is_file = is_file
        self._by_path = any("/" in glob or "\\" in glob for glob in policy.extra)

    def list(self, path: RelativePath | None) -> Folder:
        """The names in a folder; empty for whatever is no folder inside the root."""
        handle = self._open(path)
        if handle is None:
            return _EMPTY
        try:
            return self._entries(handle, "" if path is None else f"{path.value}/")
        except OSError:
            return _EMPTY
        finally:
            if isinstance(handle, int):
                os.close(handle)

    def _open(self, path: RelativePath | None) -> int | str | None:
        """The folder, proved to be inside; None if it is not, or is none."""
        if path is not None and self._policy.denies(path):
            return None
        place = self._root if path is None else os.path.join(self._root, path.value)
        if not _BY_DESCRIPTOR:
            return place if os.path.isdir(place) and self._allowed(os.path.realpath(place)) else None
        try:
            handle = os.open(place, _FOLDER)
        except OSError:
            return None
        try:
            if self._allowed(_where(handle, place)):
                return handle
        except OSError:
            pass
        os.close(handle)
        return None

    def _allowed(self, real: str) -> bool:
        """Whether a resolved place is inside the root and not denied."""
        if real == self._real:
            return True
        inside = os.path.join(self._real, "")
        if not real.startswith(inside):
            return False
        try:
            return not self._policy.denies(RelativePath(real.removeprefix(inside).replace(os.sep, "/")))
        except Failure:
            return False

    def _entries(self, handle: int | str, prefix: str) -> Folder:
        files: set[str] = set()
        folders: set[str] = set()
        with os.scandir(handle) as entries:
            for entry in islice(entries, MOST_ENTRIES):
                name = entry.name
                if self._left_out(name, prefix):
                    continue
                if entry.is_symlink():
                    self._link(prefix, name, files, folders)
                elif entry.is_dir(follow_symlinks=False):
                    folders.add(name)
                elif entry.is_file(follow_symlinks=False):
                    files.add(name)
        return Folder(frozenset(files), frozenset(folders))

    def _left_out(self, name: str, prefix: str) -> bool:
        if self._policy.denies_name(name):
            return True
        easy = name.isascii() and name.isprintable() and "\\" not in name
        if easy and not self._by_path and len(prefix) < _SURE_CHARS:
            return False
        try:
            return self._policy.denies(RelativePath(prefix + name))
        except Failure:
            return True

    def _link(self, prefix: str, name: str, files: set[str], folders: set[str]) -> None:
        """A link counts as what it leads to, if that may be read."""
        try:
            path = RelativePath(prefix + name)
        except Failure:
            return
        if self._is_file(path):
            files.add(name)
            return
        handle = self._open(path)
        if handle is not None:
            folders.add(name)
            if isinstance(handle, int):
                os.close(handle)


def _where(handle: int, place: str) -> str:
    """Where an open folder really is."""
    if _PROC:
        return os.readlink(f"/proc/self/fd/{handle}")
    real = os.path.realpath(place)
    if not os.path.samestat(os.fstat(handle), os.stat(real, follow_symlinks=False)):
        raise OSError("the folder was swapped while it was opened")
    return real
