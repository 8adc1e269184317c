"""The pack files of one folder as values; in a list, a file is parsed again only when it may have changed.

No locks, no expiry, no writing here: a file is either a pack or the reason why it is none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from context_pack.kernel.errors import Failure
from context_pack.kernel.ports import Reason
from context_pack.kernel.text import is_pack_id
from context_pack.packs.model import Pack
from context_pack_adapters.files.faults import io_failure
from context_pack_adapters.files.folder import Folder, is_temporary, sweep
from context_pack_adapters.files.opening import Handle, Refused, read_file, scan, status_of
from context_pack_adapters.files.signature import FileCache, Signature, signature
from context_pack_adapters.packs import pack_format

SUFFIX = ".md"
LOCK_SUFFIX = ".lock"


class PackFile(NamedTuple):
    """A pack, and the bytes of its file."""

    pack: Pack
    data: bytes


class PacksFound(NamedTuple):
    """Packs, expired or not, and files named like one that hold none, by id."""

    packs: Sequence[Pack]
    broken: Mapping[str, Failure]


class PackFiles:
    """The files of one folder, by pack id; safe to share between threads."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._cache: FileCache[Pack | Failure] = FileCache()
        # Several callers at once would parse the same files: one works, the others find it done.
        self._looking = threading.Lock()

    def read(self, pack_id: str) -> PackFile | Failure | None:
        """One pack, by reading its file; None if there is none."""
        try:
            with self._folder.place.held() as folder:
                data, _ = read_file(folder, pack_id + SUFFIX, pack_format.MAX_FILE_BYTES)
            return PackFile(pack_format.decode(data, pack_id), data)
        except FileNotFoundError:
            return None
        except (OSError, Failure) as error:
            return _broken(error, pack_id)

    def all(self) -> PacksFound:
        """Every file named like a pack; those that are as they were are not opened."""
        with self._looking:
            try:
                with self._folder.place.held() as folder:
                    values = self._look_at_all(folder)
            except FileNotFoundError:
                values = {}
            except OSError as error:
                raise io_failure(error, "packs") from error
        broken = {key: value for key, value in values.items() if isinstance(value, Failure)}
        return PacksFound([value for value in values.values() if isinstance(value, Pack)], broken)

    def named(self, name: str) -> PacksFound:
        """The packs of one name, and every file that holds none."""
        packs, broken = self.all()
        return PacksFound([pack for pack in packs if pack.name == name], broken)

    def _look_at_all(self, folder: Handle) -> dict[str, Pack | Failure]:
        names = [entry.name for entry in scan(folder)]
        if any(map(is_temporary, names)):
            sweep(folder)
        # Some file systems (tmpfs, btrfs) leave out of a listing what is replaced while it is made. So a file
        # that was known, or has the lock file that every replaced one has, is gone only if opening it fails.
        stems = {name.removesuffix(LOCK_SUFFIX).removesuffix(SUFFIX) for name in names} | set(self._cache)
        values: dict[str, Pack | Failure] = {}
        for pack_id in sorted(filter(is_pack_id, stems)):
            value = self._look(folder, pack_id)
            if value is not None:
                values[pack_id] = value
        self._cache.keep_only(values.keys())
        return values

    def _look(self, folder: Handle, pack_id: str) -> Pack | Failure | None:
        """What a file holds; None if it is gone."""
        before, name = time.time_ns(), pack_id + SUFFIX
        value: Pack | Failure | None
        try:
            status = status_of(folder, name)
            if (value := self._cache.get(pack_id, signature(status))) is not None:
                return value
            data, status = read_file(folder, name, pack_format.MAX_FILE_BYTES)
            value = pack_format.decode(data, pack_id)
        except FileNotFoundError:
            return None
        except (OSError, Failure) as error:
            value = _broken(error, pack_id)
        self._cache.put(pack_id, status, before, value)
        return value


def pack_id_of(name: str) -> str | None:
    """The id of the pack that a file of that name holds; None if it is another kind of file."""
    pack_id = name.removesuffix(SUFFIX)
    return pack_id if pack_id != name and is_pack_id(pack_id) else None


def _broken(error: OSError | Failure, pack_id: str) -> Failure:
    """Why a file holds no pack; one that the system cannot read at all fails the call."""
    if isinstance(error, Refused):
        large = error.reason is Reason.TOO_LARGE
        return pack_format.broken("it is larger than any pack" if large else "it is not a regular file")
    if isinstance(error, OSError):
        raise io_failure(error, pack_id + SUFFIX) from error
    return error


def folder_mark(folder: Folder) -> frozenset[tuple[str, Signature]]:
    """The files of a folder and their signatures; none if there is no such folder."""
    entries: set[tuple[str, Signature]] = set()
    with suppress(FileNotFoundError), folder.place.held() as handle:
        for entry in scan(handle):
            with suppress(FileNotFoundError):
                entries.add((entry.name, signature(entry.stat(follow_symlinks=False))))
    return frozenset(entries)
