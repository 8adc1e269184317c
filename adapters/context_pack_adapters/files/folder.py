"""Folders that hold files of ours, below a place that a person or a setting chose, and whole files in them.

The place itself may be a link; nothing below it is ever reached through one, for reading or for writing. Each
use goes the way down again, so a folder that was removed and made anew is the new one.

A file is written to a unique temporary file in the same folder, flushed to the disk, takes its name in one
step, and the folder is flushed too: a crash at any point leaves the old content or the new one. A link that
has the name is replaced, never written through. What a killed writer leaves behind is a temporary file that
no reader looks at and `sweep` removes later. Raises plain OSError; the caller knows what the file means.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Self

from context_pack_adapters.files.locking import PathLock
from context_pack_adapters.files.opening import AnyPlace, Handle, Place, read_file, scan, status_of

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp", re.DOTALL)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.EBADF, errno.EOPNOTSUPP, errno.ENOTSUP})
TEMPORARY_AGE_SECONDS = 3600.0
FOLDER_MODE, FILE_MODE = 0o700, 0o600


def put(folder: Handle, files: Mapping[str, bytes], mode: int | None = None, durably: bool = True) -> None:
    """Put each content under its name in place of what is there; after a crash only some may be there.

    `mode` overrides what the umask gives; the folder is flushed once for all.
    """
    for name, data in files.items():
        with temporary(folder, name, data, mode, durably) as beside:
            os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    if durably:
        sync(folder)


@contextmanager
def temporary(
    folder: Handle, name: str, data: bytes, mode: int | None, durably: bool = True
) -> Iterator[str]:
    """The name of a flushed temporary file that holds `data`; removed afterwards if it still has its name."""
    beside = f".{name}.{os.urandom(8).hex()}.tmp"
    descriptor = os.open(beside, _CREATE, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "wb") as stream:
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
            stream.write(data)
            stream.flush()
            if durably:
                os.fsync(descriptor)
        yield beside
    finally:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)


def sync(folder: Handle) -> None:
    """Make the names in a folder durable, where the system can."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise


def make_top(path: str, mode: int = 0o777) -> None:
    """Make a folder that a person or a setting named, with its parents; it may exist."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_top(parent, mode)
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def is_temporary(name: str) -> bool:
    """Whether a file name is one that a write uses before the real one."""
    return name.endswith(".tmp") and _TEMPORARY.fullmatch(name) is not None


def sweep(folder: Handle, start: str = "") -> None:
    """Remove temporary files of names that start so and are older than an hour; what cannot go stays."""
    now = time.time()
    with suppress(OSError):
        for entry in scan(folder):
            if entry.name.startswith(f".{start}") and is_temporary(entry.name):
                with suppress(OSError):
                    if now - entry.stat(follow_symlinks=False).st_mtime > TEMPORARY_AGE_SECONDS:
                        os.unlink(entry.name, dir_fd=folder)


class Folder:
    """One folder; safe to share between threads."""

    folder_mode, lock_mode = 0o777, 0o666

    def __init__(self, place: AnyPlace) -> None:
        self.place = Place.of(place)

    def below(self, *names: str) -> Self:
        """A folder in it."""
        return type(self)(self.place.below(*names))

    def make(self) -> None:
        """Make the folder and those on the way, durably; it may exist."""
        top, inside = self.place
        make_top(top, self.folder_mode)
        for depth, name in enumerate(inside):
            with Place(top, inside[:depth]).held() as above, suppress(FileExistsError):
                os.mkdir(name, self.folder_mode, dir_fd=above)
                sync(above)
            with Place(top, inside[: depth + 1]).held() as made:  # a file or a link is found here
                self.check_made(made)

    def check_made(self, folder: Handle) -> None:
        """Refuse a folder that is not ours to use; any is."""

    def make_shared(self) -> None:
        """Make the folder; a new one that may be kept in version control keeps its lock files out of it."""
        if not self.exists():
            self.make()
            self.create(".gitignore", b"*.lock\n")

    def exists(self) -> bool:
        """Whether there is such a folder; something else in its place, a link too, is none."""
        try:
            with self.place.held():
                return True
        except (FileNotFoundError, NotADirectoryError):
            return False

    def names(self) -> list[str]:
        """The names in the folder; none if there is no such folder."""
        try:
            with self.place.held() as folder:
                return [entry.name for entry in scan(folder)]
        except FileNotFoundError:
            return []

    def written_before(self, moment: float) -> list[str]:
        """The names of what was last written before a moment, in seconds since 1970."""
        names = []
        with suppress(FileNotFoundError), self.place.held() as folder:
            for entry in scan(folder):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < moment:
                        names.append(entry.name)
        return names

    def status(self, name: str) -> os.stat_result:
        """The state of what has that name; of a link, its own."""
        with self.place.held() as folder:
            return status_of(folder, name)

    def read(self, name: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
        """The bytes of a regular file, and its state from before they were read."""
        with self.place.held() as folder:
            return read_file(folder, name, max_bytes)

    def read_all(self, names: Iterable[str], max_bytes: int) -> dict[str, bytes]:
        """The bytes of those of these regular files that can be read, quicker than one by one."""
        contents: dict[str, bytes] = {}
        with suppress(OSError), self.place.held() as folder:
            for name in names:
                with suppress(OSError):
                    contents[name] = read_file(folder, name, max_bytes)[0]
        return contents

    def write(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Put a whole file in place of what is there."""
        with self.place.held() as folder:
            put(folder, {name: data}, mode)

    def write_all(self, files: Mapping[str, bytes], durably: bool = True) -> None:
        """Put whole files in place of what is there; a crash may lose them unless they are put durably.

        The folder is made if it is not there.
        """
        if not self.exists():
            self.make()
        with self.place.held() as folder:
            put(folder, files, durably=durably)

    def create(self, name: str, data: bytes) -> bool:
        """Put a whole file under a name unless it is taken; says whether it did."""
        with self.place.held() as folder, temporary(folder, name, data, None) as beside:
            try:
                os.link(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                try:  # a file system without hard links: the name is taken first, empty
                    os.close(os.open(name, _CREATE, 0o666, dir_fd=folder))
                except FileExistsError:
                    return False
                os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            sync(folder)
            return True

    def move(self, old: str, new: str) -> None:
        """Give a file another name in one step."""
        with self.place.held() as folder:
            os.replace(old, new, src_dir_fd=folder, dst_dir_fd=folder)
            sync(folder)

    def remove(self, name: str, durably: bool = False) -> None:
        """Remove a file or a link."""
        with self.place.held() as folder:
            os.unlink(name, dir_fd=folder)
            if durably:
                sync(folder)

    def remove_if_empty(self) -> None:
        """Remove the folder itself, unless something is in it."""
        place, name = self.place.split()
        with suppress(OSError), place.held() as above:
            os.rmdir(name, dir_fd=above)

    def sweep(self, start: str = "") -> None:
        """Remove temporary files that killed writers of such names left behind more than an hour ago."""
        with suppress(OSError), self.place.held() as folder:
            sweep(folder, start)

    def lock(self, name: str, seconds: float) -> PathLock:
        """The lock of that name in it, not taken yet."""
        return PathLock(name, seconds, self.place.held, self.lock_mode)


class PrivateFolder(Folder):
    """A folder of the user alone, mode 0700 with files of mode 0600, made when it is first written to.

    What is derived or private lies here and never in a project. A link in the place of such a folder, or a
    folder of another user, is refused: whoever placed it would get what we write. Looser modes are repaired.
    A place says which folders on the way down are ours too; of a mere path that is the last one.
    """

    folder_mode, lock_mode = FOLDER_MODE, FILE_MODE

    def __init__(self, place: AnyPlace) -> None:
        if not isinstance(place, Place):
            top, name = os.path.split(os.path.abspath(place))
            place = Place(top, (name,))
        super().__init__(place)

    @classmethod
    def around(cls, file: AnyPlace) -> tuple[PrivateFolder, str]:
        """The folder that a file is in, and the file's name."""
        place = Place.of(file)
        if len(place.inside) > 1:
            return cls(Place(place.top, place.inside[:-1])), place.inside[-1]
        folder, name = os.path.split(place.path)
        return cls(folder), name

    @property
    def path(self) -> str:
        """The absolute path, for libraries that open files by path."""
        return self.place.path

    def make(self) -> None:
        """Make the folder and those on the way, close them to others, and remove what killed writers left.

        Raises:
            OSError: it cannot be made, or a link, a file or another user's folder has a name on the way.
        """
        super().make()
        self.sweep()

    def check_made(self, folder: Handle) -> None:
        """Remove the permissions of others from an open folder, which must be the user's own."""
        status = os.stat(folder)
        if status.st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "another user's folder")
        if status.st_mode & 0o077:
            with suppress(OSError):  # a file system without modes
                os.chmod(folder, stat.S_IMODE(status.st_mode) & ~0o077)

    def write(self, name: str, data: bytes, mode: int | None = FILE_MODE) -> None:
        """Put a whole file in place of what is there; the folder is made if need be."""
        self.make()
        super().write(name, data, mode)


def read_named(path: str, max_bytes: int) -> bytes:
    """The bytes of a regular file that a person named, wherever it is and whatever links lead to it."""
    place, name = Place.of(os.path.realpath(path)).split()
    return Folder(place).read(name, max_bytes)[0]


def write_named(path: str, data: bytes, replace: bool) -> bool:
    """Write a file that a person named, whole; False if the name is taken and may not be replaced.

    Below the working directory, which may be a project of somebody else, the way goes through no link; a
    link that has the name is replaced. A pipe or a device is written into, where replacing is allowed.
    """
    place, name = Place.of(path, os.getcwd()).split()
    if not replace:
        return Folder(place).create(name, data)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        with open(path, "wb") as stream:
            stream.write(data)
    else:
        Folder(place).write(name, data)
    return True
