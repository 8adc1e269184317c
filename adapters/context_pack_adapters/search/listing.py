"""Which files a search looks at: what `disk.ignore.walk` yields, remembered from one search to the next.

A folder is listed again when its state has changed since, or when it had changed so shortly before it was
listed that a later change could have left the same time; ignore files are read again likewise. Everything
below a folder is judged again when the ignore rules that reach it are others. So a search that follows
another costs one look at each folder, and never misses a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from attrs import define, field, frozen

from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.disk.atomic import read_whole
from context_pack_adapters.disk.ignore import (
    IGNORE_FILES,
    MAX_DEPTH,
    MAX_IGNORE_BYTES,
    Gate,
    IgnoreRules,
    listed,
)
from context_pack_adapters.search.deadline import Deadline, TimedOut
from context_pack_adapters.search.folders import CAN_HOLD, Folders

State = tuple[int, int, int, int]
SETTLED_NS = 2_000_000_000
"""How long before it is looked at a thing must have changed for its times to tell every later change."""


def state_of(status: os.stat_result) -> State:
    """What changes whenever a file or folder does."""
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def is_settled(state: State, now_ns: int) -> bool:
    """Whether a later change would be seen in the times."""
    return max(state[2], state[3]) + SETTLED_NS < now_ns


@define(eq=False)
class _Folder:
    """A folder as it was listed."""

    prefix: str
    state: State
    settled: bool
    entries: list[tuple[str, bool]]
    ignores: dict[str, tuple[State, str]]
    above: IgnoreRules
    rules: IgnoreRules
    inside: list[tuple[str, bool]] = field(factory=list)
    """The entries that count, in the plain string order of the paths below them."""

    def same(self, top: str) -> bool:
        """Whether the folder, which had settled, is as it was.

        Raises:
            OSError: it is gone.
        """
        place = top + self.prefix
        status = os.lstat(place) if self.prefix else os.stat(place)
        return state_of(status) == self.state and all(
            state_of(os.lstat(place + name)) == state for name, (state, _) in self.ignores.items()
        )


@frozen(eq=False)
class Snapshot:
    """The files that counted at one time, in plain string order, and the folders they were found in."""

    top: str
    paths: tuple[str, ...]
    _folders: Mapping[str, _Folder]

    def unchanged(self, deadline: Deadline, paths: Iterable[str] | None = None) -> bool:
        """Whether every folder and ignore file is as it was, so that the same files count now.

        With `paths`, only the folders on the way to these files are looked at.

        Raises:
            TimedOut: there are too many to look at in time.
        """
        folders = self._folders.values() if paths is None else self._on_the_way(paths)
        try:
            for count, folder in enumerate(folders):
                if not count % 500:
                    deadline.left()
                if not (folder.settled and folder.same(self.top)):
                    return False
        except OSError:
            return False
        return True

    def _on_the_way(self, paths: Iterable[str]) -> list[_Folder]:
        prefixes = {""}
        for path in paths:
            end = path.rfind("/") + 1
            while end and path[:end] not in prefixes:
                prefixes.add(path[:end])
                end = path.rfind("/", 0, end - 1) + 1
        return [self._folders[prefix] for prefix in prefixes]


class Listing:
    """The files of one tree; one thread at a time may ask."""

    def __init__(self, root: str, policy: PathPolicy, excluded: Collection[str]) -> None:
        self._root = root
        self._top = os.path.join(root, "")
        self._gate = Gate(policy, excluded)
        self._known: dict[str, _Folder] = {}
        self._last: Snapshot | None = None
        self._bare = IgnoreRules()

    def now(self, deadline: Deadline) -> Snapshot:
        """The files that count now; the same object while nothing has changed.

        Raises:
            TimedOut: there are too many folders to look at in time; what was seen is remembered.
        """
        if self._last is None or not self._last.unchanged(deadline):
            self._last = None
            paths: list[str] = []
            seen: dict[str, _Folder] = {}
            try:
                with Folders(self._root) as folders:
                    self._visit("", self._bare, folders, paths, seen, deadline)
            except TimedOut:
                self._known.update(seen)
                raise
            self._known = seen
            self._last = Snapshot(self._top, tuple(paths), seen)
        return self._last

    def _visit(
        self,
        prefix: str,
        above: IgnoreRules,
        folders: Folders,
        paths: list[str],
        seen: dict[str, _Folder],
        deadline: Deadline,
    ) -> None:
        """Add the files of a folder and of those below it."""
        deadline.left()
        if prefix.count("/") > MAX_DEPTH:
            return
        try:
            folder = self._current(prefix, above, folders)
        except OSError as error:
            closed = self._closed(prefix, above, error)
            if closed is None:
                return
            folder = closed
        seen[prefix] = folder
        for name, is_folder in folder.inside:
            if is_folder:
                self._visit(f"{prefix}{name}/", folder.rules, folders, paths, seen, deadline)
            else:
                paths.append(prefix + name)

    def _current(self, prefix: str, above: IgnoreRules, folders: Folders) -> _Folder:
        """The folder as it is now, from memory where that is still true."""
        known = self._known.get(prefix)
        if known is not None and known.above is above and known.settled and known.same(self._top):
            return known
        place: int | str = folders.at(prefix) if CAN_HOLD else self._top + prefix
        now = time.time_ns()
        state = state_of(os.stat(place))
        entries = listed(place)
        ignores = _ignores(place, entries)
        settled = is_settled(state, now) and all(is_settled(at, now) for at, _ in ignores.values())
        rules = above
        if known is not None and known.above is above and _texts(ignores) == _texts(known.ignores):
            # The same object, so that the folders below see that nothing has changed for them.
            rules = known.rules
        elif ignores:
            rules = above.entered(prefix, _texts(ignores))
        folder = _Folder(prefix, state, settled, entries, ignores, above, rules)
        self._judge(folder)
        return folder

    def _closed(self, prefix: str, above: IgnoreRules, error: OSError) -> _Folder | None:
        """A folder that cannot be listed, as one without entries; None if it is not there.

        One that we may not list stays so until its state changes; any other trouble may pass by itself.
        """
        try:
            state = state_of(os.lstat(self._top + prefix))
        except OSError:
            return None
        settled = isinstance(error, PermissionError) and is_settled(state, time.time_ns())
        return _Folder(prefix, state, settled, [], {}, above, above)

    def _judge(self, folder: _Folder) -> None:
        """Keep the folder's entries that count."""
        for name, is_folder in folder.entries:
            path = folder.prefix + name
            if not self._gate.closed(name, path, is_folder) and not folder.rules.ignores(path, is_folder):
                folder.inside.append((name, is_folder))


def _ignores(place: int | str, entries: list[tuple[str, bool]]) -> dict[str, tuple[State, str]]:
    """The texts of a folder's ignore files; one that cannot be read has no lines."""
    found: dict[str, tuple[State, str]] = {}
    for name in IGNORE_FILES:
        if (name, False) not in entries:
            continue
        by = place if isinstance(place, int) else None
        path = name if isinstance(place, int) else place + name
        with suppress(OSError):
            found[name] = (state_of(os.stat(path, dir_fd=by, follow_symlinks=False)), "")
            data, status = read_whole(path, MAX_IGNORE_BYTES, dir_fd=by)
            found[name] = (state_of(status), data.decode("utf-8", "surrogateescape"))
    return found


def _texts(ignores: dict[str, tuple[State, str]]) -> tuple[str | None, ...]:
    return tuple(ignores[name][1] if name in ignores else None for name in IGNORE_FILES)
