"""The pack files of one folder as values, read again only when they may have changed.

A list needs summaries, which are read far quicker than packs; a pack is parsed when somebody asks for it.
Every file that was read is remembered by a digest of its bytes and, where it can be believed, by its
signature. A file without one is read again, which is cheap; it is parsed again only if its bytes differ. From
the second look on, the system is asked which files changed, if it can tell; then nothing else is looked at.
All three are worth it by `benches/side_by_side/pack_store_floors.py`: the first list, the repeated one, and a
name among 10 000.
No locks, no expiry, no writing here: a file is either a pack or the reason why it is none.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from attrs import frozen

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ids import is_pack_id
from context_pack.packs.domain.model import Listed, Pack, PackSummary
from context_pack_adapters.disk.changes import FolderChanges, watch_folder
from context_pack_adapters.disk.faults import io_failure, translated
from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.opening import Handle, NotRegular, Place, TooLarge, read_file, scan
from context_pack_adapters.disk.signature import Signature, settled_signature, signature
from context_pack_adapters.disk.writing import is_temporary, sweep
from context_pack_adapters.stores import pack_format

SUFFIX = ".md"
LOCK_SUFFIX = ".lock"
MANY = 30
"""Fewer files are parsed whole: the pattern that reads summaries takes as long to compile."""
BATCH = 32
"""How many files are read before they are parsed: alternating takes a quarter longer."""
Reader = Callable[[bytes, str], "Listed | MalformedPackFile | None"]
"""What the bytes of the file of that id hold; None if only the full reader can tell."""
P = TypeVar("P", bound=Listed, covariant=True)


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


class _File(NamedTuple):
    """What was read; without a signature it may change and not show it."""

    data: bytes
    signature: Signature | None


class PackFile(NamedTuple):
    """A pack, and the bytes of its file."""

    pack: Pack
    data: bytes


class PacksFound(NamedTuple, Generic[P]):
    """Packs or their summaries, expired or not, and files that hold none, by id."""

    packs: Sequence[P]
    broken: Mapping[str, MalformedPackFile]


class _SeenPack(NamedTuple):
    """The cached state of one file; without a signature it is read again, without a digest also parsed."""

    signature: Signature | None
    digest: bytes
    value: Listed | MalformedPackFile


class PackFiles:
    """The files of one folder, by pack id; safe to share between threads.

    `was_looked_at` says whether the next look at all of them has an earlier one to build on.
    """

    def __init__(self, folder: Folder, watch: Callable[[Place], FolderChanges | None] = watch_folder) -> None:
        self._folder = folder
        self._begin_watch = watch
        self.was_looked_at = False
        self._seen: dict[str, _SeenPack] = {}
        self._packs: dict[str, Listed] = {}
        self._broken: dict[str, MalformedPackFile] = {}
        self._named: dict[str | None, set[str]] | None = None
        self._changes: FolderChanges | None = None
        self._looking = threading.Lock()

    def read(self, pack_id: str) -> PackFile | MalformedPackFile | None:
        """One pack, by reading its file; None if there is none."""
        try:
            with self._folder.place.held() as folder:
                file = _file_of(folder, pack_id, listed=False)
        except FileNotFoundError:
            file = None
        except OSError as error:
            raise io_failure(error, "packs") from error
        seen = self._seen_in(pack_id, file, _whole)
        value = None if seen is None else seen.value
        if value is None or isinstance(value, MalformedPackFile):
            return value
        assert isinstance(value, Pack)
        assert isinstance(file, _File)
        return PackFile(value, file.data)

    def all(self) -> PacksFound[Pack]:
        """Every file named like a pack; parses only what changed since the last look."""
        # Several callers at once would parse the same files: one works, the others find it done.
        with self._looking:
            self._look(whole=True)
            return PacksFound(self._whole(list(self._packs)), dict(self._broken))

    def summaries(self) -> PacksFound[Listed]:
        """What a list shows of every file named like a pack, and those that hold none."""
        with self._looking:
            self._look()
            return PacksFound(tuple(self._packs.values()), dict(self._broken))

    def named(self, name: str) -> PacksFound[Pack]:
        """The packs of one name, and every file that holds none; as up to date as `all`."""
        with self._looking:
            self._look()
            if self._named is None:
                self._named = {}
                for pack in self._packs.values():
                    self._named.setdefault(pack.name, set()).add(pack.id)
            packs = self._whole(sorted(self._named.get(name, ())))
            return PacksFound(packs, dict(self._broken))

    def remember(self, pack: Pack, data: bytes) -> None:
        """Cache what was just written; its file is read again before it is trusted, but not parsed again."""
        self._seen[pack.id] = _SeenPack(None, hashlib.sha256(data).digest(), pack)

    def forget(self, pack_id: str) -> None:
        """Drop what is remembered of a file that was removed."""
        self._seen.pop(pack_id, None)

    def _whole(self, pack_ids: Sequence[str]) -> list[Pack]:
        """These packs of the list, with their sections."""
        short = [pack_id for pack_id in pack_ids if isinstance(self._packs[pack_id], PackSummary)]
        if short:
            with translated("packs"), self._folder.place.held() as folder:
                for pack_id, seen in self._load(folder, dict.fromkeys(short, False), _whole):
                    self._list(pack_id, None if seen is None else seen.value)
        return [pack for pack_id in pack_ids if isinstance(pack := self._packs.get(pack_id), Pack)]

    def _look(self, whole: bool = False) -> None:
        """Update the list: from the folder watch, or by checking every file."""
        changed = None if self._changes is None else self._changes.names()
        if changed is None:
            self._watch()
        elif not changed:
            return
        try:
            if changed is None:
                self._look_at_all(whole)
            else:
                self._look_at([pack_id for name in changed if (pack_id := pack_id_of(name))])
        except BaseException as error:
            # What was told is told once: the next look has to be at everything.
            self._unwatch()
            if isinstance(error, OSError):
                raise io_failure(error, "packs") from error
            raise
        self.was_looked_at = True

    def _watch(self) -> None:
        """Start the folder watch; not at the first listing, which may be this process's only one."""
        self._unwatch()
        if self.was_looked_at and self._seen:
            self._changes = self._begin_watch(self._folder.place)

    def _unwatch(self) -> None:
        if self._changes is not None:
            self._changes.close()
            self._changes = None

    def _look_at(self, pack_ids: Sequence[str]) -> None:
        with self._folder.place.held() as folder:
            for pack_id, seen in self._load(folder, dict.fromkeys(pack_ids, False), _reader(len(pack_ids))):
                self._list(pack_id, None if seen is None else seen.value)

    def _look_at_all(self, whole: bool) -> None:
        self._seen = self._sweep(whole)
        self._packs, self._broken, self._named = {}, {}, None
        for pack_id, (_, _, value) in self._seen.items():
            if isinstance(value, MalformedPackFile):
                self._broken[pack_id] = value
            else:
                self._packs[pack_id] = value

    def _list(self, pack_id: str, value: Listed | MalformedPackFile | None) -> None:
        """Put what a file holds into the list; None if it is gone."""
        before = self._packs.pop(pack_id, None)
        if before is not None and self._named is not None:
            self._named[before.name].discard(pack_id)
        self._broken.pop(pack_id, None)
        if isinstance(value, MalformedPackFile):
            self._broken[pack_id] = value
        elif value is not None:
            self._packs[pack_id] = value
            if self._named is not None:
                self._named.setdefault(value.name, set()).add(pack_id)

    def _sweep(self, whole: bool) -> dict[str, _SeenPack]:
        """Check every pack file, by its signature where that can be trusted."""
        try:
            self._folder.place.identity()  # a project without packs, the usual one, costs no opening
            with self._folder.place.held() as folder:
                return self._sweep_in(folder, whole)
        except FileNotFoundError:
            return {}

    def _sweep_in(self, folder: Handle, whole: bool) -> dict[str, _SeenPack]:
        known = self._seen
        found: dict[str, _SeenPack] = {}
        unread: dict[str, bool] = {}  # by id, and whether it was just called a regular file
        locked: list[str] = []
        left_behind = False
        for entry in scan(folder):
            name = entry.name
            pack_id = name.partition(".")[0]
            if not is_pack_id(pack_id):
                left_behind = left_behind or is_temporary(name)
            elif name == pack_id + SUFFIX:
                seen = known.get(pack_id)
                if seen is not None and seen.signature is not None and _unchanged(entry, seen.signature):
                    found[pack_id] = seen
                else:
                    unread[pack_id] = entry.is_file(follow_symlinks=False)
            elif name == pack_id + LOCK_SUFFIX:
                locked.append(pack_id)
        # Some file systems (tmpfs, btrfs) leave out of a listing what is replaced while it is made. So a file
        # that was known, or has the lock file that every replaced one has, is gone only if opening it fails.
        for pack_id in (*known, *locked):
            if pack_id not in found:
                unread.setdefault(pack_id, False)
        read = _whole if whole else _reader(len(unread))
        for pack_id, seen in self._load(folder, unread, read):
            if seen is not None:
                found[pack_id] = seen
        if left_behind:
            sweep(folder)
        return found

    def _load(
        self, folder: Handle, wanted: Mapping[str, bool], read: Reader
    ) -> Iterator[tuple[str, _SeenPack | None]]:
        """What these files hold, by that reader; None for one that is gone.

        `wanted` says of each whether a list of the folder has just called it a regular file.
        """
        rest = iter(wanted.items())
        while batch := list(islice(rest, BATCH)):
            files = [_file_of(folder, pack_id, listed) for pack_id, listed in batch]
            for (pack_id, _), file in zip(batch, files, strict=True):
                yield pack_id, self._seen_in(pack_id, file, read)

    def _seen_in(
        self, pack_id: str, file: _File | MalformedPackFile | None, read: Reader
    ) -> _SeenPack | None:
        """What a file holds; what is known of it stays if its bytes are the same."""
        if file is None:
            self._seen.pop(pack_id, None)
            return None
        if isinstance(file, MalformedPackFile):
            return _SeenPack(None, b"", file)
        data, signature = file
        known = self._seen.get(pack_id)
        digest = b"" if known is None and read is not _whole else hashlib.sha256(data).digest()
        value = None if known is None or known.digest != digest else known.value
        if value is None or (read is _whole and isinstance(value, PackSummary)):
            value = read(data, pack_id) or _whole(data, pack_id)
        seen = self._seen[pack_id] = _SeenPack(signature, digest, value)
        return seen


def _file_of(folder: Handle, pack_id: str, listed: bool) -> _File | MalformedPackFile | None:
    """The file of a pack, or why it can be none; None if it is gone."""
    before = time.time_ns()
    try:
        data, status = read_file(folder, pack_id + SUFFIX, pack_format.MAX_FILE_BYTES, listed)
    except FileNotFoundError:
        return None
    except NotRegular:
        return _broken(pack_format.broken("it is not a regular file"))
    except TooLarge:
        return _broken(pack_format.broken("it is larger than any pack"))
    except OSError as error:
        raise io_failure(error, pack_id + SUFFIX) from error
    return _File(data, settled_signature(status, before))


def pack_id_of(name: str) -> str | None:
    """The id of the pack that a file of that name holds; None if it is another kind of file."""
    pack_id = name.removesuffix(SUFFIX)
    return pack_id if pack_id != name and is_pack_id(pack_id) else None


def _reader(files: int) -> Reader:
    """The quickest for a list of that many files: of many, summaries where those can be had."""
    if files < MANY:
        return _whole
    from context_pack_adapters.stores.pack_summaries import summary_of

    return summary_of


def _whole(data: bytes, pack_id: str) -> Pack | MalformedPackFile:
    try:
        return pack_format.decode(data, pack_id)
    except Failure as failure:
        return _broken(failure)


def _broken(failure: Failure) -> MalformedPackFile:
    return MalformedPackFile(failure.code, failure.message, failure.details)


def _unchanged(entry: os.DirEntry[str], known: Signature) -> bool:
    try:
        return signature(entry.stat(follow_symlinks=False)) == known
    except FileNotFoundError:
        return False
