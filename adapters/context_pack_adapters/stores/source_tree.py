"""The source tree on disk: confined reads of text, folders, and a bounded search for a file by its name."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Folder, Reason, SourceFile, Unreadable
from context_pack.kernel.text import decode
from context_pack_adapters.disk.ignore import walk
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.stores.source_folders import SourceFolders

EXCLUDED_FOLDERS = frozenset({"node_modules", ".git", "dist", "build", ".next", ".context"})
NAMED_SECONDS = 1.0
NAMED_FILES = 50_000


class DiskSourceTree:
    """A `SourceTree` on disk; safe to share between threads."""

    def __init__(self, root: Path, policy: PathPolicy, excluded: Collection[str] = EXCLUDED_FOLDERS) -> None:
        self._root = root
        self._policy = policy
        self._excluded = excluded
        self._rooted = Rooted(root, policy)
        self._prefix = os.path.join(os.path.abspath(root), "")
        self._folders = SourceFolders(root, policy, self.is_file)

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """The text of one file, checked on the opened file itself."""
        found = self._rooted.read(path, max_bytes)
        if isinstance(found, Reason):
            return Unreadable(path, found)
        data, status = found
        text = decode(data)
        if isinstance(text, Reason):
            return Unreadable(path, text)
        return SourceFile(path, text, len(data), status.st_mtime_ns)

    def named(self, name: str, limit: int) -> Sequence[RelativePath]:
        """Readable files whose base name is `name`, sorted, at most `limit`; ignored folders are skipped.

        Bounded: a tree too large to walk in a second is searched as far as that.
        """
        if limit < 1 or self._policy.denies_name(name):
            return []
        end = time.monotonic() + NAMED_SECONDS
        found: list[RelativePath] = []
        ending = "/" + name
        paths = walk(self._root, self._policy, self._excluded, lambda: time.monotonic() < end)
        for count, path in enumerate(paths):
            if path == name or path.endswith(ending):
                found.append(RelativePath(path))
            if len(found) >= limit or count >= NAMED_FILES:
                break
        return found

    def is_file(self, path: RelativePath) -> bool:
        """Whether there is a regular file inside the root that the policy allows."""
        # That there is nothing is the usual answer to a guess, and the cheapest to get.
        if not os.path.lexists(self._prefix + path.value):
            return False
        found = self._rooted.open(path)
        if isinstance(found, Reason):
            return False
        os.close(found.descriptor)
        return True

    def folder(self, path: RelativePath | None) -> Folder:
        """What is in a folder; empty for whatever is no folder inside the root."""
        return self._folders.list(path)
