"""Files under one root, and nothing else, whatever links and swaps there are.

What counts is the file that was opened, not the path that was checked. `PROC` (Linux) opens the file and
asks the kernel where it is: if the answer is the very path that was asked for, no link was followed. Any
other answer, and every other system, takes `WALK`: each part is opened from the one before, links are
resolved here, and the policy sees every name on the way. `COMPARE` is for systems that cannot walk.
Pipes, devices and folders are not opened. A reason for refusing never depends on what lies outside.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.disk.atomic import TooLarge, read_descriptor

MAX_LINKS = 40

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _CLOEXEC
_OPEN |= getattr(os, "O_BINARY", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# What a system call answers when a folder, a link or a file has just taken another's place.
_SWAPPED = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.EINVAL})


class Means(Enum):
    """How an opened file is proved to be inside the root."""

    PROC = "proc"
    WALK = "walk"
    COMPARE = "compare"


def best_means() -> Means:
    """The strongest way this system offers."""
    if os.open not in os.supports_dir_fd:
        return Means.COMPARE
    return Means.PROC if os.path.isdir("/proc/self/fd") else Means.WALK


class Opened(NamedTuple):
    """A regular file inside the root, open for reading; the taker closes the descriptor."""

    descriptor: int
    status: os.stat_result


class Rooted:
    """Opens regular files under `root` that the policy allows; safe to share between threads."""

    def __init__(self, root: Path, policy: PathPolicy, means: Means | None = None) -> None:
        self._root = os.path.abspath(root)
        self._policy = policy
        self._means = best_means() if means is None else means
        self._asked = os.path.join(self._root, "")
        self._expected = os.path.join(os.path.realpath(self._root), "")

    def read(self, path: RelativePath, max_bytes: int) -> tuple[bytes, os.stat_result] | Reason:
        """The bytes of a file and its state from before they were read, or why it cannot be read."""
        found = self.open(path)
        if isinstance(found, Reason):
            return found
        try:
            if found.status.st_size > max_bytes:
                return Reason.TOO_LARGE
            return read_descriptor(found.descriptor, found.status.st_size, max_bytes), found.status
        except TooLarge:
            return Reason.TOO_LARGE
        except OSError:
            return Reason.IO
        finally:
            os.close(found.descriptor)

    def open(self, path: RelativePath) -> Opened | Reason:
        """The file, open for reading, or why it cannot be."""
        if self._policy.denies(path):
            return Reason.DENIED
        if self._means is Means.PROC and (found := self._placed(path)) is not None:
            return found
        try:
            return self._compared(path) if self._means is Means.COMPARE else self._walked(path)
        except _Refused as refused:
            return refused.reason
        except OSError as error:
            return _reason(error)

    def _placed(self, path: RelativePath) -> Opened | None:
        """The file if no link leads to it; None leaves the question to the walk."""
        place = self._asked + path.value
        try:
            # Looked at before it is opened: a pipe's writer or a device would notice the opening.
            if not stat.S_ISREG(os.lstat(place).st_mode):
                return None
            descriptor = os.open(place, _OPEN | _NOFOLLOW)
        except OSError:
            return None
        try:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and _where(descriptor) == self._expected + path.value:
                return Opened(descriptor, status)
        except OSError:
            pass
        os.close(descriptor)
        return None

    def _walked(self, path: RelativePath) -> Opened:
        walk = _Walk(self._root, self._policy)
        try:
            return walk.follow(list(path.parts))
        finally:
            walk.close()

    def _compared(self, path: RelativePath) -> Opened:
        """Resolve, open, and compare where the opened file is with where it should be."""
        parts = _inside(self._root, os.path.join(self._root, path.value))
        _check(parts, self._policy)
        real = os.path.join(os.path.realpath(self._root), *parts)
        mode = os.lstat(real).st_mode
        if not stat.S_ISREG(mode):
            # What is still a link after resolving goes round in a circle.
            raise _Refused(Reason.MISSING if stat.S_ISLNK(mode) else Reason.NOT_A_FILE)
        descriptor = os.open(real, _OPEN | _NOFOLLOW)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or os.path.normcase(_where(descriptor)) != os.path.normcase(real):
            os.close(descriptor)
            raise _Refused(Reason.OUTSIDE)
        return Opened(descriptor, status)


def _where(descriptor: int) -> str:
    """Where the system says that an open file is."""
    if sys.platform != "win32":
        return os.readlink(f"/proc/self/fd/{descriptor}")
    import ctypes
    import msvcrt

    room = ctypes.create_unicode_buffer(32768)
    handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
    ctypes.windll.kernel32.GetFinalPathNameByHandleW(handle, room, len(room), 0)
    return room.value.removeprefix("\\\\?\\")


class _Refused(Exception):
    """The path leads to nothing that may be read."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class _Walk:
    """One resolution, part by part, holding every folder on the way open so that none can be swapped."""

    def __init__(self, root: str, policy: PathPolicy) -> None:
        self._root = root
        self._policy = policy
        self._names: list[str] = []
        self._folders = [os.open(root, _FOLDER)]
        self._steps_left = MAX_LINKS

    def follow(self, todo: list[str]) -> Opened:
        """Open what the parts lead to."""
        while todo:
            part, *rest = todo
            if part == "..":
                todo = self._up(rest)
                continue
            if self._policy.denies_name(part):
                raise _Refused(Reason.DENIED)
            try:
                step = self._step(part, rest)
            except OSError as error:
                if error.errno not in _SWAPPED:
                    raise
                # It was something else a moment ago: look again, but not for ever.
                self._spend()
                continue
            if isinstance(step, Opened):
                return step
            todo = step
        raise _Refused(Reason.NOT_A_FILE)

    def _step(self, part: str, rest: list[str]) -> Opened | list[str]:
        """Go to one part: the opened file, or what is still to be followed from there."""
        mode = os.stat(part, dir_fd=self._folders[-1], follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            return self._link(part, rest)
        if stat.S_ISREG(mode):
            if rest:
                raise _Refused(Reason.MISSING)
            return self._open(part)
        if not stat.S_ISDIR(mode) or not rest:
            raise _Refused(Reason.NOT_A_FILE)
        self._folders.append(os.open(part, _FOLDER | _NOFOLLOW, dir_fd=self._folders[-1]))
        self._names.append(part)
        return rest

    def _up(self, todo: list[str]) -> list[str]:
        if not self._names:
            # Above the root: only a way that comes back in is followed, and then from the root again.
            return _inside(self._root, os.path.join(os.path.realpath(self._root), "..", *todo))
        self._names.pop()
        os.close(self._folders.pop())
        return todo

    def _link(self, part: str, todo: list[str]) -> list[str]:
        target = os.readlink(part, dir_fd=self._folders[-1])
        self._spend()
        if not os.path.isabs(target):
            return [*_parts(target), *todo]
        for top in (self._root, os.path.realpath(self._root)):
            if target == top or target.startswith(os.path.join(top, "")):
                return self._restart([*_parts(target[len(top) :]), *todo])
        return self._restart([*_inside(self._root, target), *todo])

    def _restart(self, todo: list[str]) -> list[str]:
        while len(self._folders) > 1:
            os.close(self._folders.pop())
        self._names.clear()
        return todo

    def _spend(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise _Refused(Reason.MISSING)

    def _open(self, part: str) -> Opened:
        _check([*self._names, part], self._policy)
        descriptor = os.open(part, _OPEN | _NOFOLLOW, dir_fd=self._folders[-1])
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise _Refused(Reason.NOT_A_FILE)
        return Opened(descriptor, status)

    def close(self) -> None:
        """Let go of every folder."""
        while self._folders:
            os.close(self._folders.pop())


def _parts(target: str) -> list[str]:
    return [part for part in target.split(os.sep) if part not in ("", ".")]


def _inside(root: str, path: str) -> list[str]:
    """The parts below the root of where an absolute path leads; outside if it leads elsewhere or nowhere."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if real == top:
        return []
    if not real.startswith(os.path.join(top, "")):
        raise _Refused(Reason.OUTSIDE)
    return _parts(real[len(top) :])


def _check(parts: list[str], policy: PathPolicy) -> None:
    """Refuse a resolved path that the policy denies, or that is no path a caller could have asked for."""
    try:
        denied = policy.denies(RelativePath("/".join(parts)))
    except Failure:
        denied = True
    if denied:
        raise _Refused(Reason.DENIED)


def _reason(error: OSError) -> Reason:
    if error.errno in _SWAPPED or error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
        return Reason.MISSING
    return Reason.NOT_A_FILE if error.errno == errno.EISDIR else Reason.IO
