"""The source tree on disk: confined reads of text, folders, and a walk over all names."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy, RelativePath
from context_pack.kernel.ports import FileNames, Reason, SourceFile, Unreadable, decode
from context_pack_adapters.files.rooted import Rooted
from context_pack_adapters.files.walking import visit, ways_to

NAMES_SECONDS = 1.0


class DiskSourceTree:
    """A `SourceTree` on disk; safe to share between threads.

    Whoever looks through it does not come to `own` folders: what is kept there is no source.
    """

    def __init__(
        self,
        root: Path,
        policy: PathPolicy,
        own: Collection[Path] = (),
    ) -> None:
        self._policy = policy
        self._own = ways_to(root, own)
        self._rooted = Rooted(root, policy)

    def read(self, path: RelativePath, max_bytes: int) -> SourceFile | Unreadable:
        """The text of one file, checked on the opened file itself."""
        answer = self._rooted.read(path, max_bytes)
        return Unreadable(path, answer) if isinstance(answer, Reason) else _source(path, *answer)

    def names(self, go_on: Callable[[], bool] | None = None, /) -> FileNames:
        """Where files of each name are, as far as there is time to walk: a second if nobody says how long."""
        end = time.monotonic() + NAMES_SECONDS
        paths: list[str] = []
        complete = visit(
            self._rooted.root,
            self._policy,
            lambda path, _: paths.append(path),
            excluded=EXCLUDED_FOLDERS,
            except_for=self._own,
            go_on=go_on or (lambda: time.monotonic() < end),
        )
        by_name: dict[str, list[str]] = {}
        for path in sorted(paths):
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        return FileNames(by_name, complete)

    def is_file(self, path: RelativePath) -> bool:
        """Whether there is a regular file inside the root that the policy allows."""
        return self._rooted.is_file(path)

    def is_folder(self, path: RelativePath) -> bool:
        """Whether there is a folder inside the root that the policy allows."""
        return self._rooted.is_folder(path)


def _source(path: RelativePath, data: bytes, status: os.stat_result) -> SourceFile | Unreadable:
    text = decode(data)
    if isinstance(text, Reason):
        return Unreadable(path, text)
    return SourceFile(path, text, len(data), status.st_mtime_ns)
