"""The source tree on disk: confined reads of text, folders, and a bounded look at all names."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy, RelativePath
from context_pack.kernel.ports import FileNames, Folder, Reason, SourceFile, Stamp, Unreadable
from context_pack.kernel.text import decode
from context_pack_adapters.disk.ignore import walk
from context_pack_adapters.disk.rooted import Rooted
from context_pack_adapters.stores.source_folders import SourceFolders
from context_pack_adapters.stores.source_stamps import SourceStamps, stamp_of

NAMES_SECONDS = 1.0
NAMES_FILES = 50_000


class DiskSourceTree:
    """A `SourceTree` on disk; safe to share between threads."""

    def __init__(self, root: Path, policy: PathPolicy, excluded: Collection[str] = EXCLUDED_FOLDERS) -> None:
        self._root = root
        self._policy = policy
        self._excluded = excluded
        self._rooted = Rooted(root, policy)
        self._prefix = os.path.join(os.path.abspath(root), "")
        self._folders = SourceFolders(root, policy, self.is_file)
        self._stamps = SourceStamps(root, self._rooted)

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """The text of one file, checked on the opened file itself."""
        before = time.time_ns()
        found = self._rooted.read(path, max_bytes)
        if isinstance(found, Reason):
            return Unreadable(path, found)
        data, status = found
        text = decode(data)
        if isinstance(text, Reason):
            return Unreadable(path, text)
        return SourceFile(path, text, len(data), status.st_mtime_ns, stamp_of(status, before))

    def unchanged(self, stamps: Mapping[RelativePath, Stamp]) -> Collection[RelativePath]:
        """The files that are still those of their stamps; they are looked at, and not read."""
        return self._stamps.unchanged(stamps)

    def names(self) -> FileNames:
        """Where files of each name are; a tree too large to walk in a second is searched as far as that."""
        end = time.monotonic() + NAMES_SECONDS
        late = False

        def go_on() -> bool:
            nonlocal late
            late = time.monotonic() >= end
            return not late

        found: dict[str, list[str]] = {}
        count = 0
        for path in walk(self._root, self._policy, self._excluded, go_on):
            count += 1
            if count > NAMES_FILES:
                break
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return FileNames(found, complete=not late and count <= NAMES_FILES)

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
