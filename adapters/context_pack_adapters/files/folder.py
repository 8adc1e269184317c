"""A folder that holds files of ours, below a place that a person or a setting chose.

The place itself may be a link; nothing below it is ever reached through one, for reading or for writing. Each
use goes the way down again, so a folder that was removed and made anew is the new one. Raises plain OSError.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Self

from context_pack_adapters.files import writing
from context_pack_adapters.files.locking import PathLock
from context_pack_adapters.files.opening import AnyPlace, Handle, Place, read_file, scan, status_of

_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_CLAIM_SECONDS = 10.0


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
        writing.make_top(top, self.folder_mode)
        for depth, name in enumerate(inside):
            with Place(top, inside[:depth]).held() as above:
                writing.make_folder(above, name, self.folder_mode)
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
            writing.put(folder, {name: data}, mode)

    def write_all(self, files: Mapping[str, bytes], durably: bool = True) -> None:
        """Put whole files in place of what is there; a crash may lose them unless they are put durably.

        The folder is made if it is not there.
        """
        with suppress(FileNotFoundError), self.place.held() as folder:
            writing.put(folder, files, durably=durably)
            return
        self.make()
        with self.place.held() as folder:
            writing.put(folder, files, durably=durably)

    def create(self, name: str, data: bytes, link: Callable[..., None] = os.link) -> bool:
        """Put a whole file under a name unless it is taken; says whether it did."""
        with self.place.held() as folder, writing.temporary(folder, name, data, None) as beside:
            try:
                link(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                return self._claimed(folder, name, beside)
            writing.sync(folder)
            return True

    def _claimed(self, folder: Handle, name: str, beside: str) -> bool:
        """Rename onto a free name on a file system without hard links, under a lock."""
        with self.lock(f".{name}.claim", _CLAIM_SECONDS) as claim:
            try:
                status_of(folder, name)
                free = False
            except FileNotFoundError:
                writing.move(folder, beside, name)
                free = True
            claim.retire()
            return free

    def move(self, old: str, new: str) -> None:
        """Give a file another name in one step."""
        with self.place.held() as folder:
            writing.move(folder, old, new)

    def remove(self, name: str, durably: bool = False) -> None:
        """Remove a file or a link."""
        with self.place.held() as folder:
            writing.remove(folder, name)
            if durably:
                writing.sync(folder)

    def remove_if_empty(self) -> None:
        """Remove the folder itself, unless something is in it."""
        top, inside = self.place
        with suppress(OSError):
            if not inside:
                os.rmdir(top)
                return
            with Place(top, inside[:-1]).held() as above:
                os.rmdir(inside[-1], dir_fd=above)

    def sweep(self, start: str = "") -> None:
        """Remove temporary files that killed writers of such names left behind more than an hour ago."""
        try:
            with self.place.held() as folder:
                writing.sweep(folder, start)
        except OSError:
            return

    def lock(self, name: str, seconds: float) -> PathLock:
        """The lock of that name in it, not taken yet."""
        return PathLock(name, seconds, self.place.held, self.lock_mode)


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
        # Without a wait for a reader: a pipe that nobody reads from is an error at once (ENXIO).
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with open(descriptor, "wb") as stream:
            os.set_blocking(descriptor, True)
            stream.write(data)
    else:
        Folder(place).write(name, data)
    return True
