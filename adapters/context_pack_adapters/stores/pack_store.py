"""Packs in a folder, one file each: `{root}/packs/{id}.md`.

Reads take no lock, because a file is replaced in one step. A write is one read-modify-write under
`{id}.lock`; a name is claimed under `.create.lock`. An expired pack is absent from every answer at once;
its file goes when a read meets it and its lock is free, or when its name is wanted. A file that breaks a
rule makes everything fail that has to look at all packs, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ids import PACK_ID_BYTES, is_pack_id, pack_id
from context_pack.kernel.ports import Clock, IdSource
from context_pack.kernel.ttl import is_expired
from context_pack.packs.domain.model import Pack
from context_pack.packs.ports import Waiting, patiently
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.locking import PathLock, attempt_lock
from context_pack_adapters.disk.opening import AnyPlace
from context_pack_adapters.stores import pack_format
from context_pack_adapters.stores.events import WRITING, Event, Tell, What, nobody
from context_pack_adapters.stores.pack_files import LOCK_SUFFIX, SUFFIX, Broken, PackFiles, Shelf

LOCK_SECONDS = 10.0
CREATE_LOCK = ".create.lock"
_SWEEP_SECONDS = 600.0
_BURY_SECONDS = 1.0
_PURGE_SECONDS = 0.25
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
        tell: Tell = nobody,
    ) -> None:
        self._folder = Folder(root).below("packs")
        self._clock = clock
        self._ids = ids
        self._lock_timeout = lock_timeout
        self._tell = tell
        self._files = PackFiles(self._folder)
        self._swept_at: float | None = None

    def get(self, pack_id: str) -> Pack:
        """The live pack with that id; touches one file."""
        return self._told(What.SEEN, self._get(pack_id))

    def _told(self, what: What, pack: Pack) -> Pack:
        self._tell(Event(what, pack))
        return pack

    def _get(self, pack_id: str) -> Pack:
        pack = self._read(pack_id)
        if is_expired(pack.expires_at, self._clock.now()):
            self._purge(pack_id)
            raise not_found("id", pack_id)
        return pack

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""
        live = self._live(self._files.named(name))
        if not live:
            raise not_found("name", name)
        if len(live) > 1:
            same = Broken(Code.MALFORMED_PACK, "", {"reason": "another live pack has the same name"})
            raise refusal({pack.id: same for pack in live})
        return self._told(What.SEEN, live[0])

    def all(self) -> Sequence[Pack]:
        """Every live pack; fails closed when one file is malformed."""
        return self._live(self._files.all())

    def _live(self, found: Shelf) -> list[Pack]:
        """The live ones of what was found; the expired ones are purged, and a malformed file is a failure."""
        live, expired = _sorted_out(found.packs, self._clock.now())
        self._purge_some(expired)
        if found.broken:
            raise refusal(found.broken)
        return live

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting = patiently) -> Pack:
        """Store the pack that `make` builds for a fresh id, if `name` is free among live packs."""
        self._tell(WRITING)
        return self._told(What.MADE, self._created(make, name, waiting))

    def _created(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting) -> Pack:
        with translated("packs"):
            self._folder.make()
        if name is None:
            return self._create(make)
        if not self._files.was_looked_at:
            # Parsing everything takes long; done here, it is not done while others wait for the lock.
            self._files.all()
        with self._locked(CREATE_LOCK, waiting):
            self._check_free(name, waiting)
            return self._create(make)

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """One read-modify-write under the pack's lock; returns what is now stored."""
        self._tell(WRITING)
        return self._told(What.CHANGED, self._updated(pack_id, change, waiting))

    def _updated(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Waiting) -> Pack:
        self._get(pack_id)
        with self._locked(pack_id + LOCK_SUFFIX, waiting) as lock:
            pack = self._read_locked(pack_id, lock)
            changed = change(pack)
            if changed == pack:
                return pack
            if (changed.id, changed.name) != (pack.id, pack.name):
                raise Failure(Code.INTERNAL, "a change gave the pack another id or name; report this bug")
            data = pack_format.encode(changed)
            if is_expired(pack.expires_at, self._clock.now()):
                raise not_found("id", pack_id)
            with translated(pack_id + SUFFIX):
                mode = self._folder.status(pack_id + SUFFIX).st_mode
                self._folder.write(pack_id + SUFFIX, data, mode)
            self._files.remember(changed, data)
        self._sweep_temporaries()
        return changed

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Waiting = patiently) -> None:
        """Remove the pack under its lock, after `check` has accepted it."""
        self._tell(WRITING)
        self._get(pack_id)
        with self._locked(pack_id + LOCK_SUFFIX, waiting) as lock:
            pack = self._read_locked(pack_id, lock)
            check(pack)
            with translated(pack_id + SUFFIX):
                self._remove(pack_id, lock, durably=True)
        self._told(What.REMOVED, pack)

    def _read(self, pack_id: str) -> Pack:
        """What the file holds, expired or not."""
        found = self._files.read(pack_id) if is_pack_id(pack_id) else None
        if found is None:
            raise not_found("id", pack_id)
        if isinstance(found, Broken):
            raise refusal({pack_id: found})
        return found

    def _read_locked(self, pack_id: str, lock: PathLock) -> Pack:
        """The live pack, now that nobody else can change it; if there is none, its lock file goes too."""
        try:
            pack = self._read(pack_id)
        except Failure as failure:
            if failure.code is Code.NOT_FOUND:
                lock.retire()
            raise
        if is_expired(pack.expires_at, self._clock.now()):
            with suppress(OSError):
                self._remove(pack_id, lock)
            raise not_found("id", pack_id)
        return pack

    def _create(self, make: Callable[[str], Pack]) -> Pack:
        for _ in range(_MOST_DRAWS):
            fresh = pack_id(self._ids.token(PACK_ID_BYTES))
            pack = make(fresh)
            data = pack_format.encode(pack)
            with translated(fresh + SUFFIX):
                if self._folder.create(fresh + SUFFIX, data):
                    self._files.remember(pack, data)
                    self._sweep_temporaries()
                    return pack
        raise Failure(Code.INTERNAL, "no free pack id was drawn; check the source of random numbers")

    def _check_free(self, name: str, waiting: Waiting) -> None:
        """Refuse a name that a live pack has."""
        found = self._files.named(name)
        if found.broken:
            raise refusal(found.broken)
        live, expired = _sorted_out(found.packs, self._clock.now())
        # A writer that read an expired one just in time could still extend it: its lock settles it.
        taken = live or [pack for pack in expired if not self._bury(pack.id, waiting)]
        if taken:
            raise name_taken(name, taken[0].id)

    def _bury(self, pack_id: str, waiting: Waiting) -> bool:
        """Remove an expired pack, waiting a moment for its lock; False if it turns out to live.

        A writer holds the lock for far less than that, and looks at the expiry again before it writes: who
        holds it longer will not bring the pack back.
        """
        try:
            with self._locked(pack_id + LOCK_SUFFIX, waiting, _BURY_SECONDS) as lock:
                return self._remove_expired(pack_id, lock)
        except Failure as failure:
            if failure.code is not Code.LOCK_TIMEOUT:
                raise
            return True

    def _remove_expired(self, pack_id: str, lock: PathLock) -> bool:
        found = self._files.read(pack_id)
        if isinstance(found, Pack) and not is_expired(found.expires_at, self._clock.now()):
            return False
        if isinstance(found, Pack):
            with translated(pack_id + SUFFIX):
                self._remove(pack_id, lock)
        elif found is None:
            lock.retire()
        return True

    def _purge(self, pack_id: str) -> None:
        """Remove an expired pack if its lock is free; what cannot be removed now is removed another time."""
        lock = attempt_lock(pack_id + LOCK_SUFFIX, self._folder.place.held)
        if lock is not None:
            with suppress(Failure):
                try:
                    self._remove_expired(pack_id, lock)
                finally:
                    lock.release()

    def _purge_some(self, expired: Sequence[Pack]) -> None:
        """Purge for a moment: a reader does not pay for thousands of dead packs at once."""
        end = time.monotonic() + _PURGE_SECONDS
        for pack in expired:
            self._purge(pack.id)
            if time.monotonic() > end:
                break

    def _remove(self, pack_id: str, lock: PathLock, durably: bool = False) -> None:
        """Remove a pack and its lock file, holding the lock; a file that has just vanished is no error."""
        with suppress(FileNotFoundError):
            self._folder.remove(pack_id + SUFFIX, durably)
        self._files.forget(pack_id)
        lock.retire()

    @contextmanager
    def _locked(self, name: str, waiting: Waiting, seconds: float | None = None) -> Iterator[PathLock]:
        lock = self._folder.lock(name, self._lock_timeout if seconds is None else seconds)
        with translated(name):
            lock.acquire(waiting)
        try:
            yield lock
        finally:
            lock.release()

    def _sweep_temporaries(self) -> None:
        """Now and then, remove what killed writers left behind."""
        now = time.monotonic()
        if self._swept_at is None or now - self._swept_at > _SWEEP_SECONDS:
            self._swept_at = now
            self._folder.sweep()


def _sorted_out(packs: Sequence[Pack], now: datetime) -> tuple[list[Pack], list[Pack]]:
    """The live packs and the expired ones."""
    live: list[Pack] = []
    expired: list[Pack] = []
    for pack in packs:
        (expired if is_expired(pack.expires_at, now) else live).append(pack)
    return live, expired


def refusal(broken: Mapping[str, Broken]) -> Failure:
    """What to say about files that hold no readable pack; malformed ones come before other versions."""
    malformed = sorted(key for key, found in broken.items() if found.code is not Code.MIGRATION_REQUIRED)
    if not malformed:
        first = min(broken)
        message = f"{first}{SUFFIX}: {broken[first].message}"
        return Failure(Code.MIGRATION_REQUIRED, message, broken[first].details)
    files = [{"file": key + SUFFIX, "reason": broken[key].reason} for key in malformed]
    others = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
    complaint = f"{malformed[0]}{SUFFIX} is malformed: {files[0]['reason']}{others}"
    details: dict[str, object] = {"files": files[:_MOST_FILES_NAMED]}
    if len(files) > _MOST_FILES_NAMED:
        details["count"] = len(files)
    return Failure(Code.MALFORMED_PACK, f"{complaint}; mend or remove what details.files names", details)


def not_found(field: str, value: str) -> Failure:
    """No live pack has that id or name."""
    message = f"no live pack has that {field}; list the packs to see them"
    return Failure(Code.NOT_FOUND, message, {field: value})


def name_taken(name: str, pack_id: str) -> Failure:
    """The live pack with that id has the name already."""
    message = "a live pack already has that name; choose another or use that pack"
    return Failure(Code.NAME_CONFLICT, message, {"name": name, "id": pack_id})
