"""Folders that belong to the user alone: mode 0700, with files of mode 0600.

What is derived or private lies here and never in a project. A link in the place of such a folder, or a folder
of another user, is refused: whoever placed it would get what we write. Looser modes are repaired. What a
killed writer left is removed when the folder is next written to.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import AnyPlace, Handle, Place

FOLDER_MODE, FILE_MODE = 0o700, 0o600
_OTHERS = 0o077
_ANOTHERS = "another user's folder"


class PrivateFolder(Folder):
    """A folder of the user alone, made when it is first written to; safe to share between threads.

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
        if not _is_the_users(status):
            raise PermissionError(errno.EPERM, _ANOTHERS)
        if status.st_mode & _OTHERS:
            with suppress(OSError):  # a file system without modes
                os.chmod(folder, stat.S_IMODE(status.st_mode) & ~_OTHERS)

    def write(self, name: str, data: bytes, mode: int | None = FILE_MODE) -> None:
        """Put a whole file in place of what is there; the folder is made if need be."""
        self.make()
        super().write(name, data, mode)


def _is_the_users(status: os.stat_result) -> bool:
    return status.st_uid == os.getuid()
