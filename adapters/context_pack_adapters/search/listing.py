"""The files that a search reads: from one walk, cached until a folder or an ignore file changes.

Worth it by `benches/side_by_side/grep.py`: a search that walks each time takes almost three times as long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Lock

from attrs import frozen

from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.disk.ignore import IGNORE_FILES
from context_pack_adapters.disk.opening import status_of
from context_pack_adapters.disk.signature import Signature, settled_signature, signature
from context_pack_adapters.disk.walking import Level, visit
from context_pack_adapters.search.deadline import Deadline, TimedOut


def unchanged(places: Iterable[str], seen: Iterable[Signature | None], deadline: Deadline) -> Iterator[bool]:
    """For each path, whether it still has its recorded signature; False for one without a signature."""
    look = os.lstat
    for count, (place, before) in enumerate(zip(places, seen, strict=True)):
        if not count & 255:
            deadline.left()
        try:
            yield before is not None and signature(look(place)) == before
        except OSError:
            yield False


@frozen(eq=False)
class ListedFiles:
    """The files of one walk, in plain string order, and the signatures that show whether it still holds."""

    paths: tuple[str, ...]
    signatures: Mapping[str, Signature | None]
    """Of every folder and ignore file, by its absolute path; None if a later change might not show in it."""

    def holds(self, deadline: Deadline) -> bool:
        """Whether the same files surely count now."""
        return all(unchanged(self.signatures, self.signatures.values(), deadline))


class Listing:
    """The files of the tree at `root`, an absolute path; safe to share between threads."""

    def __init__(
        self, root: str, policy: PathPolicy, excluded: Collection[str], except_for: Collection[str] = ()
    ) -> None:
        self._root = root
        self._policy = policy
        self._excluded, self._except_for = excluded, except_for
        self._last: ListedFiles | None = None
        self._lock = Lock()

    def now(self, deadline: Deadline) -> ListedFiles:
        """The files that count now; the same object while nothing has changed."""
        if not self._lock.acquire(timeout=deadline.left()):
            raise TimedOut
        try:
            if self._last is None or not self._last.holds(deadline):
                self._last = self._walked(deadline)
            return self._last
        finally:
            self._lock.release()

    def _walked(self, deadline: Deadline) -> ListedFiles:
        began, top = time.time_ns(), os.path.join(self._root, "")
        paths: list[str] = []
        signatures: dict[str, Signature | None] = {}

        def entered(level: Level) -> None:
            deadline.left()
            place = top + level.prefix
            names = {entry.name for entry in level.entries}.intersection(IGNORE_FILES)
            signatures.update(dict.fromkeys(place + name for name in ("", *names)))
            with suppress(OSError):
                signatures[place] = settled_signature(os.stat(level.handle), began)
                for name in names:
                    signatures[place + name] = settled_signature(status_of(level.handle, name), began)

        def shut(prefix: str, error: OSError) -> None:
            """Remember a folder without permission until it changes; other errors are retried."""
            signatures[top + prefix] = None
            with suppress(OSError):
                if isinstance(error, PermissionError):
                    signatures[top + prefix] = settled_signature(os.lstat(top + prefix), began)

        def seen(path: str, _: object) -> None:
            paths.append(path)

        visit(
            self._root,
            self._policy,
            seen,
            excluded=self._excluded,
            except_for=self._except_for,
            entered=entered,
            shut=shut,
        )
        return ListedFiles(tuple(sorted(paths)), signatures)
