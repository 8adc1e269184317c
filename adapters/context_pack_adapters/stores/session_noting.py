"""Stores that tell the session what is looked at: the same stores, with a note on the side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from context_pack.code.domain.access import ContextItem
from context_pack.code.ports import AccessLog
from context_pack.kernel.paths import RelativePath
from context_pack.memory.domain.discovery import Discovery
from context_pack.memory.ports import DiscoveryStore, Recorded, SessionLog
from context_pack.packs.domain.model import Pack
from context_pack.packs.ports import PackStore, Waiting, patiently


class NotingAccessLog:
    """An access log that also notes which files the session read."""

    def __init__(self, log: AccessLog, sessions: SessionLog) -> None:
        self._log, self._sessions = log, sessions

    def record(self, path: RelativePath, at: datetime) -> None:
        """One more read of the file."""
        self._sessions.read(path)
        self._log.record(path, at)

    def items(self) -> Sequence[ContextItem]:
        """Every file that was ever read."""
        return self._log.items()


class NotingPackStore:
    """A pack store that notes which packs the session touched; listing all of them touches none."""

    def __init__(self, store: PackStore, sessions: SessionLog) -> None:
        self._store, self._sessions = store, sessions

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting = patiently) -> Pack:
        """Store a new pack."""
        self._sessions.keep()
        return self._touched(self._store.create(make, name, waiting))

    def get(self, pack_id: str) -> Pack:
        """The pack with that id."""
        return self._touched(self._store.get(pack_id))

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""
        return self._touched(self._store.find(name))

    def all(self) -> Sequence[Pack]:
        """Every live pack."""
        return self._store.all()

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """One read-modify-write."""
        self._sessions.keep()
        return self._touched(self._store.update(pack_id, change, waiting))

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Waiting = patiently) -> None:
        """Remove the pack."""
        self._sessions.keep()
        self._store.delete(pack_id, check, waiting)
        self._sessions.touched(pack_id)

    def _touched(self, pack: Pack) -> Pack:
        self._sessions.touched(pack.id)
        return pack


class NotingDiscoveryStore:
    """A discovery store that has the session on disk before a discovery that names it."""

    def __init__(self, store: DiscoveryStore, sessions: SessionLog) -> None:
        self._store, self._sessions = store, sessions

    def record(self, discovery: Discovery) -> Recorded:
        """Keep a discovery."""
        self._sessions.keep()
        return self._store.record(discovery)

    def rehearse(self, discovery: Discovery) -> Recorded:
        """What recording would leave."""
        return self._store.rehearse(discovery)

    def all(self) -> Sequence[Discovery]:
        """Every discovery."""
        return self._store.all()

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove a discovery."""
        return self._store.forget(discovery_id)
