"""One name in one open folder: the only place that opens, lists and looks at files.

A folder is held by its descriptor and what is in it is reached from there, so nothing that is swapped on the
way changes where we are. No link is followed, only regular files are opened, and no opening waits.
Everything here raises OSError (`Refused` with the reason where it is ours), but for a system that has no
descriptors or memory left: that is a Failure at once, because whoever goes on without one unreadable file
must not take a whole tree for unreadable.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from context_pack.kernel.ports import Reason
from context_pack_adapters.files.faults import io_failure

Handle = int
"""The descriptor of an open folder."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Refused(OSError):
    """What has the name is not read, for a reason of ours: no regular file, too large, outside, denied."""

    def __init__(self, reason: Reason, number: int = errno.EINVAL) -> None:
        super().__init__(number, reason.value.replace("_", " "))
        self.reason = reason


class Opened(NamedTuple):
    """A regular file, open for reading; the taker closes the descriptor."""

    descriptor: int
    status: os.stat_result


def _open(path: str, flags: int, start: int | None = None) -> int:
    try:
        return os.open(path, flags, dir_fd=start)
    except OSError as error:
        _refuse_if_exhausted(error)
        raise


def _refuse_if_exhausted(error: OSError) -> None:
    """Fail where the system has nothing left to open files with, whichever file it was."""
    if error.errno in _EXHAUSTED:
        raise io_failure(error, "files") from error


def enter(folder: Handle, name: str) -> Handle:
    """The folder of that name in an open folder; a link is none."""
    return _open(name, _FOLDER | os.O_NOFOLLOW, folder)


def leave(folder: Handle) -> None:
    """Close an open folder."""
    os.close(folder)


def scan(folder: Handle) -> list[os.DirEntry[str]]:
    """The entries of an open folder; their state can be read only while the folder is open."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        _refuse_if_exhausted(error)
        raise


def status_of(folder: Handle, name: str) -> os.stat_result:
    """The state of what has that name; of a link, its own."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def open_file(folder: Handle, name: str) -> Opened:
    """The regular file of that name.

    Raises:
        Refused: a link, a folder, a pipe or a device; it is not opened, for somebody might notice.
    """
    _check_regular(status_of(folder, name))
    descriptor = _open(name, _FILE, folder)
    try:
        status = os.fstat(descriptor)
        _check_regular(status)
    except OSError:
        os.close(descriptor)
        raise
    return Opened(descriptor, status)


def read_file(folder: Handle, name: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file, and its state from before they were read.

    Raises:
        Refused: it is none, or holds more than `max_bytes`.
    """
    opened = open_file(folder, name)
    try:
        return read_opened(opened, max_bytes), opened.status
    finally:
        os.close(opened.descriptor)


def read_opened(opened: Opened, max_bytes: int) -> bytes:
    """Everything from an opened file, which stays open.

    Raises:
        Refused: more than `max_bytes`.
    """
    expected = opened.status.st_size
    data = b""
    if expected <= max_bytes:
        with open(opened.descriptor, "rb", closefd=False) as stream:
            # One byte more than expected: a file may grow meanwhile.
            if len(data := stream.read(expected + 1)) > expected:
                data += stream.read(max_bytes)
    if max(expected, len(data)) > max_bytes:
        raise Refused(Reason.TOO_LARGE, errno.EFBIG)
    return data


class Place(NamedTuple):
    """Where a folder is: a top folder named by a person or a setting, and the names below it.

    The named folder may be a link, which is their choice; on the way down no link is followed.
    """

    top: str
    inside: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: AnyPlace, project: str | os.PathLike[str] | None = None) -> Place:
        """The place of a folder; one in a project is given from the project down."""
        if isinstance(path, Place):
            return path
        whole = os.path.abspath(path)
        if project is not None:
            top = os.path.abspath(project)
            if (inside := way_from(top, whole)) is not None:
                return cls(top, inside)
        return cls(whole)

    @property
    def path(self) -> str:
        """The absolute path, for names and messages; it is not for opening."""
        return os.path.join(self.top, *self.inside)

    def below(self, *names: str) -> Place:
        """The place of a folder in it."""
        return Place(self.top, (*self.inside, *names))

    def split(self) -> tuple[Place, str]:
        """The place of the folder that this one is in, and its name there."""
        if self.inside:
            return Place(self.top, self.inside[:-1]), self.inside[-1]
        above, name = os.path.split(self.top)
        return Place(above), name

    def open(self) -> Handle:
        """Open the folder; the caller closes it with `leave`."""
        return way_down(self.top, self.inside)

    @contextmanager
    def held(self) -> Iterator[Handle]:
        """The folder, open while the block runs."""
        folder = self.open()
        try:
            yield folder
        finally:
            leave(folder)


AnyPlace = str | os.PathLike[str] | Place


def way_from(top: str, path: str) -> tuple[str, ...] | None:
    """The names that lead down from one absolute path to another, as they are spelled; None if none do."""
    if path == top:
        return ()
    inside = path.removeprefix(os.path.join(top, ""))
    return None if inside == path else tuple(inside.split(os.sep))


def way_inside(root: str, path: str) -> tuple[str, ...] | None:
    """The names that lead to a path from a root, be it spelled as the root is or as the root really is."""
    inside = way_from(root, path)
    return way_from(os.path.realpath(root), path) if inside is None else inside


def way_down(top: str, names: Sequence[str]) -> Handle:
    """The folder that the names lead to from a named one; a link among them is no folder (ENOTDIR)."""
    folder = _open(top, _FOLDER)
    try:
        for name in names:
            below = enter(folder, name)
            leave(folder)
            folder = below
    except BaseException as error:
        leave(folder)
        if isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.EMLINK):
            raise NotADirectoryError(errno.ENOTDIR, "a link is in the place of a folder") from None
        raise
    return folder


def first_link(root: Place, parts: Sequence[str]) -> tuple[int, str] | None:
    """The index of the first path part that is a link, and the link's target."""
    folder = root.open()
    try:
        for number, part in enumerate(parts):
            with suppress(OSError):  # what is no link has no target
                return number, os.readlink(part, dir_fd=folder)
            below = enter(folder, part)
            leave(folder)
            folder = below
    except OSError:
        pass  # a file, or gone
    finally:
        leave(folder)
    return None


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refused(Reason.NOT_A_FILE, errno.ELOOP if stat.S_ISLNK(status.st_mode) else errno.EINVAL)
