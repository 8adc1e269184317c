"""Packs in a dictionary, with the locks, the expiry and the refusals of the store on disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Clock, IdSource
from context_pack.kernel.text import PACK_ID_BYTES, pack_id
from context_pack.kernel.times import is_expired
from context_pack.packs.model import Pack
from context_pack.packs.ports import (
    Waiting,
    last_expired,
    name_taken,
    no_free_id,
    not_expired,
    not_found,
    patiently,
)
from inmemory.pack_history import MemoryPackHistory

LOCK_SECONDS = 10.0
_ASK_SECONDS = 0.02
_CREATE = ".create"
_MOST_DRAWS = 100


class MemoryPackStore:
    """A `PackStore` in memory; safe to share between threads."""

    def __init__(self, clock: Clock, ids: IdSource, lock_timeout: float = LOCK_SECONDS) -> None:
        self._clock = clock
        self._ids = ids
        self._lock_timeout = lock_timeout
        self.history = MemoryPackHistory()
        self._packs: dict[str, Pack] = {}
        self._locks: dict[str, threading.Lock] = {}

    def get(self, pack_id: str) -> Pack:
        """The live pack with that id."""
        pack = self._packs.get(pack_id)
        if pack is None or is_expired(pack.expires_at, self._clock.now()):
            raise not_found("id", pack_id)
        return pack

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""
        found = next((pack for pack in self.all() if pack.name == name), None)
        if found is None:
            raise not_found("name", name)
        return found

    def all(self) -> Sequence[Pack]:
        """Every live pack."""
        now = self._clock.now()
        return [pack for pack in list(self._packs.values()) if not is_expired(pack.expires_at, now)]

    def readable(self) -> tuple[Sequence[Pack], None]:
        """Every live pack: none is malformed."""
        return self.all(), None

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting = patiently) -> Pack:
        """Store the pack that `make` builds for a fresh id, if `name` is free among live packs."""
        with self._locked(_CREATE, waiting):
            self._settle(name, waiting)
            self._check_free(name)
            for _ in range(_MOST_DRAWS):
                fresh = pack_id(self._ids.token(PACK_ID_BYTES))
                if fresh not in self._packs:
                    return self._put(make(fresh))
            raise no_free_id()

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """One read-modify-write under the pack's lock; returns what is now stored."""
        self.get(pack_id)
        with self._locked(pack_id, waiting):
            pack = self.get(pack_id)
            changed = change(pack)
            if (changed.id, changed.name) != (pack.id, pack.name):
                raise Failure(Code.INTERNAL, "a change gave the pack another id or name; report this bug")
            return self._put(changed)

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Waiting = patiently) -> None:
        """Remove the pack under its lock, after `check` has accepted it."""
        self.get(pack_id)
        with self._locked(pack_id, waiting):
            check(self.get(pack_id))
            del self._packs[pack_id]
            self.history.forget(pack_id)

    def expired(self) -> Sequence[Pack]:
        """Every pack whose time is over."""
        now = self._clock.now()
        return [pack for pack in list(self._packs.values()) if is_expired(pack.expires_at, now)]

    def discard(self, handle: str, waiting: Waiting = patiently) -> Pack:
        """Remove an expired pack for good."""
        with self._locked(_CREATE, waiting):
            pack = last_expired(self.expired(), handle)
            if pack is None:
                raise not_expired(handle)
            del self._packs[pack.id]
            self.history.forget(pack.id)
            return pack

    def restore(self, handle: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """Bring an expired pack back, as `change` makes it; of several of one name, the last that expired."""
        with self._locked(_CREATE, waiting):
            pack = last_expired(self.expired(), handle)
            if pack is None:
                raise not_expired(handle)
            self._check_free(pack.name)
            return self._put(change(pack))

    def _put(self, pack: Pack) -> Pack:
        self._packs[pack.id] = pack
        self.history.keep(pack)
        return pack

    def _check_free(self, name: str | None) -> None:
        taken = next((pack for pack in self.all() if name is not None and pack.name == name), None)
        if taken is not None:
            raise name_taken(str(name), taken.id)

    def _settle(self, name: str | None, waiting: Waiting) -> None:
        """Wait for writers that were just in time to extend an expired pack of that name."""
        for pack in self.expired():
            if name is not None and pack.name == name:
                with self._locked(pack.id, waiting):
                    pass

    @contextmanager
    def _locked(self, name: str, waiting: Waiting) -> Iterator[None]:
        # Locks stay when their pack is gone: one that somebody waits for must not be replaced.
        lock = self._locks.setdefault(name, threading.Lock())
        deadline = time.monotonic() + self._lock_timeout
        while not lock.acquire(timeout=max(0.0, min(_ASK_SECONDS, deadline - time.monotonic()))):
            waiting()
            if time.monotonic() < deadline:
                continue
            hint = "another call is writing; wait a moment, read the pack again and retry"
            message = f"{name}.lock stayed locked for {self._lock_timeout:g} s: {hint}"
            details = {"lock": f"{name}.lock", "timeout_seconds": self._lock_timeout, "hint": hint}
            raise Failure(Code.LOCK_TIMEOUT, message, details)
        try:
            yield
        finally:
            lock.release()
