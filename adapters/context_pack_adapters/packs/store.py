"""Packs in a folder, one file each: `{root}/packs/{id}.md`.

Reads take no lock, because a file is replaced in one step. A write is one read-modify-write under
`{id}.lock`; a name is claimed under `.create.lock`. An expired pack is absent from every answer at once, and
whoever comes across its file moves it into a trash of the user's, where it can be restored for 30 days.
A file that breaks a rule makes everything fail that has to look at all packs, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress

from attrs import evolve

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Clock, IdSource
from context_pack.kernel.text import PACK_ID_BYTES, is_pack_id, pack_id
from context_pack.kernel.times import is_expired
from context_pack.packs.model import Pack
from context_pack.packs.ports import TRASH_KEEPS, last_expired, name_taken, no_free_id, not_expired, not_found
from context_pack.toolkit.call import Check, never_cancelled
from context_pack_adapters.files.events import WRITING, Event, EventKind, Tell
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.files.locking import PathLock, attempt_lock
from context_pack_adapters.files.opening import AnyPlace
from context_pack_adapters.packs import pack_format
from context_pack_adapters.packs.history import FilePackHistory
from context_pack_adapters.packs.pack_files import (
    LOCK_SUFFIX,
    SUFFIX,
    PackFile,
    PackFiles,
    PacksFound,
    pack_id_of,
)

LOCK_SECONDS = 10.0
CREATE_LOCK = ".create.lock"
_SWEEP_SECONDS = 600.0
_MOST_FILES_NAMED = 100
_MOST_DRAWS = 100


class FilePackStore:
    """A `PackStore` on disk; safe to share between threads, and between processes that share the folder."""

    def __init__(
        self,
        root: AnyPlace,
        clock: Clock,
        ids: IdSource,
        lock_timeout: float = LOCK_SECONDS,
        tell: Tell = lambda _: None,
        trash: Folder | None = None,
        history: FilePackHistory | None = None,
    ) -> None:
        self._trash, self._history = trash, history
        self._folder = Folder(root).below("packs")
        self._clock = clock
        self._ids = ids
        self._lock_timeout = lock_timeout
        self._tell = tell
        self._files = PackFiles(self._folder)
        self._swept_at: float | None = None

    def get(self, pack_id: str) -> Pack:
        """The live pack with that id; touches one file."""
        pack = self._read(pack_id).pack
        self._tell(Event(EventKind.SEEN, pack))
        return pack

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""
        live = self._live(self._files.named(name))
        if not live:
            raise not_found("name", name)
        if len(live) > 1:
            same = pack_format.broken("another live pack has the same name")
            raise refusal({pack.id: same for pack in live})
        self._tell(Event(EventKind.SEEN, live[0]))
        return live[0]

    def all(self) -> Sequence[Pack]:
        """Every live pack; fails closed when one file is malformed."""
        return self._live(self._files.all())

    def readable(self) -> tuple[Sequence[Pack], Failure | None]:
        """Every live pack that can be read, and the failure that names the files that cannot."""
        packs, broken = self._files.all()
        return self._live(PacksFound(packs, {})), refusal(broken) if broken else None

    def _live(self, files: PacksFound) -> list[Pack]:
        """The live packs of these files; a malformed one is a failure, an expired one goes into the trash."""
        if files.broken:
            raise refusal(files.broken)
        expired = {pack.id for pack in files.packs if self._is_over(pack)}
        self._purge(expired)
        return [pack for pack in files.packs if pack.id not in expired]

    def _is_over(self, pack: Pack) -> bool:
        return is_expired(pack.expires_at, self._clock.now())

    def expired(self) -> Sequence[Pack]:
        """Every pack whose time is over and whose file is still there, or in the trash."""
        by_id = {pack.id: pack for pack in self._trashed()}
        return list(
            (by_id | {pack.id: pack for pack in self._files.all().packs if self._is_over(pack)}).values()
        )

    def _over(self, handle: str) -> Pack:
        """The expired pack of that id or name; of several of one name, the last that expired."""
        pack = last_expired(self.expired(), handle)
        if pack is None:
            raise not_expired(handle)
        return pack

    def _check_over(self, pack_id: str, handle: str) -> None:
        """Refuse to remove or replace a pack that is live again: somebody put its file back."""
        there = self._files.read(pack_id)
        if isinstance(there, PackFile) and not self._is_over(there.pack):
            raise not_expired(handle)

    def discard(self, handle: str, waiting: Check = never_cancelled) -> Pack:
        """Remove an expired pack for good, from the folder and the trash."""
        self._tell(WRITING)
        pack = self._over(handle)
        with translated("packs"):
            self._folder.make_shared()
        with self._locked(pack.id + LOCK_SUFFIX, waiting) as lock, translated(pack.id + SUFFIX):
            self._check_over(pack.id, handle)
            self._remove(pack.id, lock, durably=True)
            if self._trash is not None:
                with suppress(FileNotFoundError):
                    self._trash.remove(pack.id + SUFFIX)
        if self._history is not None:
            self._history.forget(pack.id)
        return pack

    def restore(self, handle: str, change: Callable[[Pack], Pack], waiting: Check = never_cancelled) -> Pack:
        """Bring an expired pack back, as `change` makes it; of several of one name, the last that expired."""
        self._tell(WRITING)
        with translated("packs"):
            self._folder.make_shared()
        with self._locked(CREATE_LOCK, waiting):
            pack = self._over(handle)
            if pack.name is not None:
                self._check_free(pack.name)
            changed = change(pack)
            data = pack_format.encode(changed)
            with self._locked(pack.id + LOCK_SUFFIX, waiting), translated(pack.id + SUFFIX):
                self._check_over(pack.id, handle)
                self._folder.write(pack.id + SUFFIX, data)
            self._keep(pack.id, {changed.revision: data})
            if self._trash is not None:
                with suppress(OSError):
                    self._trash.remove(pack.id + SUFFIX)
        self._tell(Event(EventKind.MADE, changed))
        return changed

    def _trashed(self) -> Iterator[Pack]:
        """The packs in the trash that can be read."""
        if self._trash is None:
            return
        names: list[str] = []
        with suppress(OSError):
            names = self._trash.names()
        for name in filter(pack_id_of, names):
            with suppress(OSError, Failure):
                data, _ = self._trash.read(name, pack_format.MAX_FILE_BYTES)
                yield pack_format.decode(data, name.removesuffix(SUFFIX))

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Check = never_cancelled) -> Pack:
        """Store the pack that `make` builds for a fresh id, if `name` is free among live packs."""
        self._tell(WRITING)
        with translated("packs"):
            self._folder.make_shared()
        with nullcontext() if name is None else self._locked(CREATE_LOCK, waiting):
            if name is not None:
                self._check_free(name)
            pack = self._create(make)
        self._tell(Event(EventKind.MADE, pack))
        return pack

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Check = never_cancelled) -> Pack:
        """One read-modify-write under the pack's lock; returns what is now stored."""
        self._tell(WRITING)
        with self._locked_pack(pack_id, waiting) as (_, (pack, before)):
            changed = change(pack)
            if changed == pack:
                self._tell(Event(EventKind.CHANGED, pack))
                return pack
            if (changed.id, changed.name) != (pack.id, pack.name):
                raise Failure(Code.INTERNAL, "a change gave the pack another id or name; report this bug")
            data = pack_format.encode(changed)
            if self._is_over(pack):
                raise not_found("id", pack_id)
            with translated(pack_id + SUFFIX):
                mode = self._folder.status(pack_id + SUFFIX).st_mode  # one that vanished is not restored
                self._folder.write(pack_id + SUFFIX, data, mode)
        self._keep(pack_id, {pack.revision: before, changed.revision: data})
        self._tidy()
        self._tell(Event(EventKind.CHANGED, changed))
        return changed

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Check = never_cancelled) -> None:
        """Move the pack into the trash under its lock, after `check` has accepted it."""
        self._tell(WRITING)
        with self._locked_pack(pack_id, waiting) as (lock, (pack, _)):
            check(pack)
            with translated(pack_id + SUFFIX):
                if self._trash is not None:
                    # It ends when it was last changed, and not later (`is_deleted`).
                    now = self._clock.now()
                    deleted = evolve(pack, updated_at=now, expires_at=now)
                    self._trash.make()
                    self._trash.write(pack_id + SUFFIX, pack_format.encode(deleted))
                self._remove(pack_id, lock, durably=True)
        if self._history is not None and self._trash is None:
            self._history.forget(pack_id)
        self._tell(Event(EventKind.REMOVED, pack))

    def _read(self, pack_id: str, lock: PathLock | None = None) -> PackFile:
        """The live pack; whoever holds the lock of a file without one removes the lock file."""
        file = self._files.read(pack_id) if is_pack_id(pack_id) else None
        if lock is not None and not isinstance(file, PackFile):
            lock.retire()
        if isinstance(file, Failure):
            raise refusal({pack_id: file})
        if file is not None and not self._is_over(file.pack):
            return file
        if file is not None and lock is None:
            self._purge([pack_id])
        raise not_found("id", pack_id)

    def _create(self, make: Callable[[str], Pack]) -> Pack:
        for _ in range(_MOST_DRAWS):
            pack = make(pack_id(self._ids(PACK_ID_BYTES)))
            data = pack_format.encode(pack)
            with translated(pack.id + SUFFIX):
                if self._folder.create(pack.id + SUFFIX, data):
                    self._keep(pack.id, {pack.revision: data})
                    self._tidy()
                    return pack
        raise no_free_id()

    def _check_free(self, name: str) -> None:
        """Refuse a name that a live pack has."""
        if live := self._live(self._files.named(name)):
            raise name_taken(name, live[0].id)

    def _keep(self, pack_id: str, files: Mapping[int, bytes]) -> None:
        """Keep revisions of a pack where there is a history."""
        if self._history is not None:
            self._history.keep(pack_id, files)

    def _tidy(self) -> None:
        """From time to time: remove stale temporary files, and what has been in the trash for long."""
        now = time.monotonic()
        if self._swept_at is not None and now - self._swept_at <= _SWEEP_SECONDS:
            return
        self._swept_at = now
        self._folder.sweep()
        if self._trash is not None:
            before = (self._clock.now() - TRASH_KEEPS).timestamp()
            with suppress(OSError):  # the pack is stored already
                for name in filter(pack_id_of, self._trash.written_before(before)):
                    self._trash.remove(name)

    def _purge(self, pack_ids: Iterable[str]) -> None:
        """Move expired packs into the trash; what cannot be moved stays, and is as invisible."""
        if self._trash is None:
            return
        for each in pack_ids:
            with suppress(OSError, Failure):
                self._move_to_trash(each, self._trash)

    def _move_to_trash(self, pack_id: str, trash: Folder) -> None:
        """Move a pack into the trash if its lock is free and it is still expired."""
        lock = attempt_lock(pack_id + LOCK_SUFFIX, self._folder.place.held)
        if lock is None:
            return
        try:
            file = self._files.read(pack_id)
            if isinstance(file, PackFile) and self._is_over(file.pack):
                trash.make()
                trash.write(pack_id + SUFFIX, file.data)
                self._remove(pack_id, lock)
        finally:
            lock.release()

    def _remove(self, pack_id: str, lock: PathLock, durably: bool = False) -> None:
        """Remove a pack and its lock file, holding the lock; a file that has just vanished is no error."""
        with suppress(FileNotFoundError):
            self._folder.remove(pack_id + SUFFIX, durably)
        lock.retire()

    @contextmanager
    def _locked_pack(self, pack_id: str, waiting: Check) -> Iterator[tuple[PathLock, PackFile]]:
        """A live pack, read under its lock; one that was never there gets no lock file."""
        self._read(pack_id)
        with self._locked(pack_id + LOCK_SUFFIX, waiting) as lock:
            yield lock, self._read(pack_id, lock)

    @contextmanager
    def _locked(self, name: str, waiting: Check) -> Iterator[PathLock]:
        lock = self._folder.lock(name, self._lock_timeout)
        with translated(name):
            lock.acquire(waiting)
        try:
            yield lock
        finally:
            lock.release()


def refusal(broken: Mapping[str, Failure]) -> Failure:
    """The failure for files without a readable pack; malformed ones come before other versions."""
    malformed = sorted(key for key, fault in broken.items() if fault.code is not Code.MIGRATION_REQUIRED)
    if not malformed:
        first = min(broken)
        message = f"{first}{SUFFIX}: {broken[first].message}"
        return Failure(Code.MIGRATION_REQUIRED, message, broken[first].details)
    files = [{"file": key + SUFFIX, "reason": _reason(broken[key])} for key in malformed]
    others = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    complaint = f"{malformed[0]}{SUFFIX} is malformed: {files[0]['reason']}{others}"
    details: dict[str, object] = {"files": files[:_MOST_FILES_NAMED]}
    if len(files) > _MOST_FILES_NAMED:
        details["count"] = len(files)
    return Failure(Code.MALFORMED_PACK, f"{complaint}; mend or remove what details.files names", details)


def _reason(failure: Failure) -> str:
    return str(failure.details.get("reason", failure.message))
