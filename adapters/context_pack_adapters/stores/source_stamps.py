"""Whether source files are still what they were when they were read, by looking at them and not reading them.

A stamp is a file's stat signature, given only if no later write can have left it the same. Whether a path
still leads to that file is proved as for reading: the folder is opened, the system says where it really is,
and in it there must be a plain file of that name. What is not proved so quickly is opened as for reading.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason, Stamp
from context_pack_adapters.disk.rooted import Means, Rooted, best_means
from context_pack_adapters.stores.pack_files import trusted_signature

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def stamp_of(status: os.stat_result, read_at_ns: int) -> Stamp | None:
    """The stamp of a file that was read no earlier than that; None while it is too young to have one."""
    signature = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    return None if trusted_signature(signature, read_at_ns) is None else _stamp(status)


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


class SourceStamps:
    """Compares files under one root with their stamps; safe to share between threads."""

    def __init__(self, root: Path, rooted: Rooted) -> None:
        self._rooted = rooted
        self._root = os.path.join(os.path.abspath(root), "")
        self._real = os.path.realpath(root)
        self._quick = best_means() is Means.PROC and os.stat in os.supports_dir_fd

    def unchanged(self, stamps: Mapping[RelativePath, Stamp]) -> set[RelativePath]:
        """The files that still have their stamps."""
        folders: dict[str, list[RelativePath]] = {}
        for path in stamps:
            folders.setdefault(path.value.rpartition("/")[0], []).append(path)
        same: set[RelativePath] = set()
        for folder, paths in folders.items():
            same.update(self._in_folder(folder, {path: stamps[path] for path in paths}))
        return same

    def _in_folder(self, folder: str, stamps: Mapping[RelativePath, Stamp]) -> Iterator[RelativePath]:
        handle = self._proved(folder)
        try:
            for path, stamp in stamps.items():
                status = None if handle is None else _plain(path.name, handle)
                if (self._opened(path) if status is None else _stamp(status)) == stamp:
                    yield path
        finally:
            if handle is not None:
                os.close(handle)

    def _proved(self, folder: str) -> int | None:
        """The folder, open, if it is where its path says; None leaves its files to be opened one by one."""
        if not self._quick:
            return None
        try:
            handle = os.open(self._root + folder, _FOLDER)
        except OSError:
            return None
        try:
            if os.readlink(f"/proc/self/fd/{handle}") == os.path.join(self._real, folder).rstrip("/"):
                return handle
        except OSError:
            pass
        os.close(handle)
        return None

    def _opened(self, path: RelativePath) -> Stamp | None:
        """The stamp of a file that is opened as for reading."""
        found = self._rooted.open(path)
        if isinstance(found, Reason):
            return None
        os.close(found.descriptor)
        return _stamp(found.status)


def _plain(name: str, folder: int) -> os.stat_result | None:
    """The state of a plain file in an open folder; None for whatever else there is."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None
