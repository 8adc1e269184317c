"""Files that a person names on the command line: read whole, written whole in one step.

Such a path may lie anywhere and go through links: that is the person's choice. Only what is written below the
working directory, which may be a project of somebody else, goes through none. Raises plain OSError.
"""

from __future__ import annotations

import os
import stat

from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import Place


def read_named(path: str, max_bytes: int) -> bytes:
    """The bytes of a regular file.

    Raises:
        NotRegular: a folder, a pipe or a device.
        TooLarge: more than `max_bytes`.
    """
    place, name = Place.of(os.path.realpath(path)).split()
    return Folder(place).read(name, max_bytes)[0]


def write_named(path: str, data: bytes, replace: bool) -> bool:
    """Write a file whole; False if the name is taken and may not be replaced.

    A pipe or a device is written into, where replacing is allowed; a link is replaced, and not its target.
    """
    place, name = Place.of(path, os.getcwd()).split()
    if not replace:
        return Folder(place).create(name, data)
    if _takes_bytes(path):
        # A pipe that nobody reads from is an error at once (ENXIO), and no wait for a reader.
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with open(descriptor, "wb") as stream:
            os.set_blocking(descriptor, True)
            stream.write(data)
    else:
        Folder(place).write(name, data)
    return True


def _takes_bytes(path: str) -> bool:
    """Whether the name is a pipe or device that takes bytes, and not a file or folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
