"""Files under one root that a path policy allows, and nothing else, whatever links and swaps there are.

Every way starts at the root and goes from folder to folder by descriptor. Where a part is a link, its text
is read and the way starts again at the root with what the link says, if that is spelled inside the root; the
system itself never follows one. The policy sees every spelling on the way. A reason for refusing never
depends on what lies outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.files.opening import (
    AnyPlace,
    Handle,
    Opened,
    Place,
    Refused,
    enter,
    first_link,
    leave,
    open_file,
    read_file,
    status_of,
    way_from,
)

MAX_LINKS = 40

T = TypeVar("T")
Parts = tuple[str, ...]
_LINKED = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})
"""What the system answers where a link is in the place of a folder or a file."""


class Rooted:
    """Reads below `root` what the policy allows; safe to share between threads."""

    def __init__(self, root: AnyPlace, policy: PathPolicy) -> None:
        self.root = Place.of(root)
        self._policy = policy

    def read(self, path: RelativePath, max_bytes: int) -> tuple[bytes, os.stat_result] | Reason:
        """The bytes of a file and its state from before they were read, or why it cannot be read."""
        return self._asked(path, lambda folder, name: read_file(folder, name, max_bytes))

    def open(self, path: RelativePath) -> Opened | Reason:
        """The file, open for reading, or why it cannot be."""
        return self._asked(path, open_file)

    def status(self, path: RelativePath) -> os.stat_result | Reason:
        """The state of the file or folder that a path leads to; it is not opened."""
        return self._asked(path, _status)

    def is_file(self, path: RelativePath) -> bool:
        """Whether the path leads to a regular file."""
        status = self.status(path)
        return not isinstance(status, Reason) and stat.S_ISREG(status.st_mode)

    def is_folder(self, path: RelativePath) -> bool:
        """Whether the path leads to a folder."""
        status = self._asked(path, _status, is_folder=True)
        return not isinstance(status, Reason) and stat.S_ISDIR(status.st_mode)

    @contextmanager
    def folder(self, path: RelativePath | None) -> Iterator[Handle | Reason]:
        """The folder, open while the block runs, or why it cannot be; None is the root."""
        handle: Handle | Reason
        try:
            handle = self.root.open() if path is None else self._asked(path, enter, is_folder=True)
        except OSError as error:
            handle = reason_of(error)
        try:
            yield handle
        finally:
            if not isinstance(handle, Reason):
                leave(handle)

    def _asked(
        self, path: RelativePath, last: Callable[[Handle, str], T], is_folder: bool = False
    ) -> T | Reason:
        if self._policy.denies(path, is_folder):
            return Reason.DENIED
        try:
            return self.reach(path.parts, last, is_folder)[0]
        except OSError as error:
            return reason_of(error)

    def reach(
        self, parts: Parts, last: Callable[[Handle, str], T], is_folder: bool = False
    ) -> tuple[T, Parts]:
        """Apply `last` to the last path part in its opened folder; also returns the parts without links.

        Raises:
            Refused: a link leads out, to a denied name or nowhere.
            OSError: there is no such thing, or it cannot be had.
        """
        seen: set[Parts] = set()
        while len(seen) <= MAX_LINKS:
            seen.add(parts)
            try:
                with self.root.below(*parts[:-1]).held() as folder:
                    return last(folder, parts[-1]), parts
            except OSError as error:
                link = first_link(self.root, parts) if error.errno in _LINKED else None
                if link is None:
                    raise
            parts = _follow_link(self.root, parts, *link)
            if parts != (os.curdir,) and is_closed(self._policy, "/".join(parts), is_folder):
                raise Refused(Reason.DENIED)
            if parts in seen:  # the links go round
                break
        raise Refused(Reason.MISSING)


def is_closed(policy: PathPolicy, path: str, is_folder: bool) -> bool:
    """Whether the policy denies a path, or no path is spelled so."""
    try:
        return policy.denies(RelativePath(path), is_folder)
    except Failure:
        return True


def landing(root: Place, parts: Parts) -> Place:
    """The path with its links resolved; missing parts stay as they are spelled.

    Raises:
        Refused: a link leads out of the root, or the links go round.
    """
    for _ in range(MAX_LINKS + 1):
        link = first_link(root, parts)
        if link is None:
            return root.below(*(part for part in parts if part != os.curdir))
        parts = _follow_link(root, parts, *link)
    raise Refused(Reason.MISSING)


def _follow_link(root: Place, parts: Parts, number: int, target: str) -> Parts:
    """The parts from the root after one link among them was resolved."""
    for top in (root.path, os.path.join(os.path.realpath(root.top), *root.inside)):
        place = os.path.normpath(os.path.join(top, *parts[:number], target, *parts[number + 1 :]))
        if (inside := way_from(top, place)) is not None:
            return inside or (os.curdir,)
    raise Refused(Reason.OUTSIDE)


def _status(folder: Handle, name: str) -> os.stat_result:
    status = status_of(folder, name)
    if stat.S_ISLNK(status.st_mode):
        raise Refused(Reason.NOT_A_FILE, errno.ELOOP)
    return status


def reason_of(error: OSError) -> Reason:
    """Why a path cannot be read, from what the system says."""
    if error.errno in _LINKED or error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
        return Reason.MISSING
    return error.reason if isinstance(error, Refused) else Reason.IO
