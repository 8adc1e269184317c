"""What is in a folder below a root, with each file's stat signature, and nothing of what is outside.

What counts is the folder that was opened, not the path that was checked: it is listed only if the system says
that it lies inside the root. A link's signature says nothing about what it leads to, so it has none.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NamedTuple

from context_pack.bundles.ports import Flaw
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.stores.pack_files import Signature

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_DESCRIPTOR = os.scandir in os.supports_fd
_PROC = os.path.isdir("/proc/self/fd")

NO_FOLDER = "there is no such folder, so the type has no entities"
OUTSIDE = "the folder leads out of the bundle and is not read"


class Listed(NamedTuple):
    """A name in a folder; the signature of a plain file, None for anything else."""

    name: str
    signature: Signature | None


class RootedFolders:
    """Lists folders under `root` that the policy allows; safe to share between threads."""

    def __init__(self, root: Path, policy: PathPolicy) -> None:
        self._root = os.path.abspath(root)
        self._policy = policy

    def list(self, path: RelativePath | None, suffixes: tuple[str, ...]) -> list[Listed] | Flaw:
        """The names that end so, or why there are none."""
        shown = "." if path is None else path.value
        if path is not None and self._policy.denies(path):
            return Flaw(shown, "its name is on the list of what is never read")
        place = self._root if path is None else os.path.join(self._root, path.value)
        try:
            handle: int | str = os.open(place, _FOLDER) if _BY_DESCRIPTOR else place
        except OSError as error:
            return _flaw(shown, error)
        try:
            if not self._is_inside(handle, place):
                return Flaw(shown, OUTSIDE)
            with os.scandir(handle) as entries:
                return [_listed(entry) for entry in entries if entry.name.endswith(suffixes)]
        except OSError as error:
            return _flaw(shown, error)
        finally:
            if isinstance(handle, int):
                os.close(handle)

    def _is_inside(self, handle: int | str, place: str) -> bool:
        """Whether the opened folder really is below the root, and the policy allows where it is."""
        real, top = _where(handle, place), os.path.realpath(self._root)
        if real == top:
            return True
        inside = os.path.join(top, "")
        if not real.startswith(inside):
            return False
        try:
            return not self._policy.denies(RelativePath(real.removeprefix(inside).replace(os.sep, "/")))
        except Failure:
            return False


def _where(handle: int | str, place: str) -> str:
    """Where an open folder really is."""
    if isinstance(handle, str):
        return os.path.realpath(handle)
    if _PROC:
        return os.readlink(f"/proc/self/fd/{handle}")
    real = os.path.realpath(place)
    if not os.path.samestat(os.fstat(handle), os.stat(real, follow_symlinks=False)):
        raise OSError(errno.ENOENT, "the folder was swapped while it was opened")
    return real


def _listed(entry: os.DirEntry[str]) -> Listed:
    try:
        if entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            known = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            return Listed(entry.name, known)
    except OSError:
        pass
    return Listed(entry.name, None)


def _flaw(shown: str, error: OSError) -> Flaw:
    if error.errno == errno.ENOENT:
        return Flaw(shown, NO_FOLDER, "warning", absent=True)
    if error.errno == errno.ENOTDIR:
        return Flaw(shown, "it is not a folder")
    return Flaw(shown, "the folder cannot be read; check its permissions")
