"""The pack files of one folder as values; in a list, a file is parsed again only when it may have changed.

No locks, no expiry, no writing here: a file is either a pack or the reason why it is none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ids import is_pack_id
from context_pack.packs.domain.model import Pack
from context_pack_adapters.files.faults import io_failure
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.opening import Handle, NotRegular, TooLarge, read_file, scan, status_of
from context_pack_adapters.files.signature import Signature, settled_signature, signature
from context_pack_adapters.files.writing import is_temporary, sweep
from context_pack_adapters.packs import pack_format

SUFFIX = ".md"
LOCK_SUFFIX = ".lock"


@frozen
class MalformedPackFile:
    """A file named like a pack that holds none, and the failure that says why."""

    code: Code
    message: str
    details: Mapping[str, object]

    @property
    def reason(self) -> str:
        """Why, in words."""
        return str(self.details.get("reason", self.message))


class PackFile(NamedTuple):
    """A pack, and the bytes of its file."""

    pack: Pack
    data: bytes


class PacksFound(NamedTuple):
    """Packs, expired or not, and files named like one that hold none, by id."""

    packs: Sequence[Pack]
    broken: Mapping[str, MalformedPackFile]


class PackFiles:
    """The files of one folder, by pack id; safe to share between threads.

    `was_looked_at` says whether the next look at all of them has an earlier one to build on.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.was_looked_at = False
        self._seen: dict[str, tuple[Signature, Pack | MalformedPackFile]] = {}
        # Several callers at once would parse the same files: one works, the others find it done.
        self._looking = threading.Lock()

    def read(self, pack_id: str) -> PackFile | MalformedPackFile | None:
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
            self.was_looked_at = True
        broken = {key: value for key, value in values.items() if isinstance(value, MalformedPackFile)}
        return PacksFound([value for value in values.values() if isinstance(value, Pack)], broken)

    def named(self, name: str) -> PacksFound:
        """The packs of one name, and every file that holds none."""
        packs, broken = self.all()
        return PacksFound([pack for pack in packs if pack.name == name], broken)

    def _look_at_all(self, folder: Handle) -> dict[str, Pack | MalformedPackFile]:
        names = [entry.name for entry in scan(folder)]
        if any(map(is_temporary, names)):
            sweep(folder)
        # Some file systems (tmpfs, btrfs) leave out of a listing what is replaced while it is made. So a file
        # that was known, or has the lock file that every replaced one has, is gone only if opening it fails.
        stems = {name.removesuffix(LOCK_SUFFIX).removesuffix(SUFFIX) for name in names} | set(self._seen)
        values: dict[str, Pack | MalformedPackFile] = {}
        for pack_id in sorted(filter(is_pack_id, stems)):
            value = self._look(folder, pack_id)
            if value is not None:
                values[pack_id] = value
        return values

    def _look(self, folder: Handle, pack_id: str) -> Pack | MalformedPackFile | None:
        """What a file holds: what is known of it, if its signature is the same; None if it is gone."""
        before, name = time.time_ns(), pack_id + SUFFIX
        value: Pack | MalformedPackFile
        known = self._seen.pop(pack_id, None)
        try:
            status = status_of(folder, name)
            if known is not None and known[0] == signature(status):
                self._seen[pack_id] = known
                return known[1]
            data, status = read_file(folder, name, pack_format.MAX_FILE_BYTES)
            value = pack_format.decode(data, pack_id)
        except FileNotFoundError:
            return None
        except (OSError, Failure) as error:
            value = _broken(error, pack_id)
        settled = settled_signature(status, before)
        if settled is not None:
            self._seen[pack_id] = (settled, value)
        return value


def pack_id_of(name: str) -> str | None:
    """The id of the pack that a file of that name holds; None if it is another kind of file."""
    pack_id = name.removesuffix(SUFFIX)
    return pack_id if pack_id != name and is_pack_id(pack_id) else None


def _broken(error: OSError | Failure, pack_id: str) -> MalformedPackFile:
    """Why a file holds no pack; one that the system cannot read at all fails the call."""
    if isinstance(error, NotRegular):
        error = pack_format.broken("it is not a regular file")
    elif isinstance(error, TooLarge):
        error = pack_format.broken("it is larger than any pack")
    elif isinstance(error, OSError):
        raise io_failure(error, pack_id + SUFFIX) from error
    return MalformedPackFile(error.code, error.message, error.details)
