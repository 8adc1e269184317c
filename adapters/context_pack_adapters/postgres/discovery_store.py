"""Discoveries in the table `cp_discoveries`, each body the very text of a discovery's file.

A body that was read is sent and parsed again only if its stamp differs; to parse 300 takes 37 ms of processor
time (`benches/side_by_side/memory.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, LiteralString
from uuid import UUID, uuid4

from attrs import evolve
from psycopg.pq import TransactionStatus

from context_pack.kernel.errors import Failure
from context_pack.memory.domain.discovery import Discovery, is_id
from context_pack.memory.ports import Recorded
from context_pack.packs.ports import patiently
from context_pack_adapters.postgres.connection import Database, Link, Row, locked
from context_pack_adapters.stores.discovery_files import (
    LOCK_SECONDS,
    decoded,
    encoded,
    malformed,
    not_found,
    rehearsed,
)
from context_pack_adapters.stores.events import WRITING, Tell

_LIST: LiteralString = "SELECT id, stamp FROM context_pack.cp_discoveries WHERE project = %(project)s"
_SOME: LiteralString = """
    SELECT id, stamp, body, author FROM context_pack.cp_discoveries
    WHERE project = %(project)s AND id = ANY(%(ids)s)"""
_LOCK: LiteralString = f"{_SOME} FOR UPDATE"
_IS_DONE: LiteralString = """
    SELECT 1 FROM context_pack.cp_history WHERE project = %(project)s AND stamp = %(stamp)s"""
_INSERT: LiteralString = """
    WITH made AS (
      INSERT INTO context_pack.cp_discoveries (project, id, body, stamp, author)
      VALUES (%(project)s, %(id)s, %(body)s, %(stamp)s, %(author)s)
      ON CONFLICT DO NOTHING
      RETURNING project, stamp, id, author)
    INSERT INTO context_pack.cp_history (project, stamp, id, author) SELECT * FROM made"""
_CHANGE: LiteralString = """
    WITH changed AS (
      UPDATE context_pack.cp_discoveries SET body = %(body)s, stamp = %(stamp)s, author = %(author)s
      WHERE project = %(project)s AND id = %(id)s
      RETURNING project, stamp, id, author)
    INSERT INTO context_pack.cp_history (project, stamp, id, author) SELECT * FROM changed"""
_REMOVE: LiteralString = """
    WITH gone AS (
      DELETE FROM context_pack.cp_discoveries WHERE project = %(project)s AND id = %(id)s
      RETURNING project, id)
    INSERT INTO context_pack.cp_history (project, stamp, id, author)
    SELECT project, %(stamp)s, id, %(author)s FROM gone"""


class PostgresDiscoveryStore:
    """A `DiscoveryStore` in a database; safe to share between threads, processes and machines."""

    def __init__(
        self,
        database: Database,
        lock_timeout: float = LOCK_SECONDS,
        tell: Tell = lambda _: None,
        author: str | None = None,
    ) -> None:
        self._database = database
        self._lock_timeout = lock_timeout
        self._tell = tell
        self._author = author
        self._seen: dict[str, tuple[UUID, Discovery]] = {}

    def record(self, discovery: Discovery) -> Recorded:
        """Keep a discovery, or record again the one that says the same."""
        self._tell(WRITING)
        stamp, done = uuid4(), list[Recorded]()

        def attempt(link: Link, again: bool) -> Recorded:
            while True:
                recorded = self._merged(link, discovery, _LOCK)
                # Asked now that the row is ours: an earlier try that was still at work has ended.
                if again and self._is_done(link, stamp):
                    return done[-1]
                done.append(recorded)
                if self._written(link, recorded, stamp):
                    return recorded

        return self._database.attempt(attempt)

    def rehearse(self, discovery: Discovery) -> Recorded:
        """What recording a discovery would leave."""
        return self._database.attempt(lambda link, _: self._merged(link, discovery, _SOME))

    def change(self, discovery_id: str, change: Callable[[Discovery], Discovery]) -> Discovery:
        """Replace a discovery by what `change` makes of it, under its id."""
        self._tell(WRITING)
        if not is_id(discovery_id):
            raise not_found(discovery_id)
        stamp, done = uuid4(), list[Discovery]()

        def attempt(link: Link, again: bool) -> Discovery:
            rows = self._read(link, discovery_id, _LOCK)
            if again and self._is_done(link, stamp):
                return done[-1]
            if not rows:
                raise not_found(discovery_id)
            known = decoded(rows[0][2].encode("utf-8"), discovery_id)
            done.append(change(known))
            if done[-1] != known:
                self._written(link, Recorded(done[-1], merged=True), stamp)
            return done[-1]

        return self._database.attempt(attempt)

    def all(self) -> Sequence[Discovery]:
        """Every discovery, the oldest first; one round trip if nothing has changed."""
        listed: dict[str, UUID] = dict(self._database.rows(_LIST, {}))
        known = {key: seen for key, seen in list(self._seen.items()) if seen[0] == listed.get(key)}
        wanted = list(listed.keys() - known.keys())
        broken: dict[str, str] = {}
        for key, stamp, body, author in self._database.rows(_SOME, {"ids": wanted}) if wanted else ():
            try:
                known[key] = (stamp, evolve(decoded(body.encode("utf-8"), key), author=author))
            except Failure as failure:
                broken[key] = str(failure.details["reason"])
        self._seen = known
        if broken:
            raise malformed(broken)
        return sorted((value for _, value in known.values()), key=lambda one: (one.date, one.id))

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove a discovery and return it, or None when its body held none."""
        if not is_id(discovery_id):
            raise not_found(discovery_id)
        stamp, bodies = uuid4(), list[str]()

        def attempt(link: Link, again: bool) -> None:
            rows = self._read(link, discovery_id, _LOCK)
            if again and self._is_done(link, stamp):
                return
            if not rows:
                raise not_found(discovery_id)
            bodies.append(rows[0][2])
            values = self._values(id=discovery_id, stamp=stamp, author=self._author)
            link.together((_REMOVE, values), ("COMMIT", {}))

        self._database.attempt(attempt)
        try:
            return decoded(bodies[-1].encode("utf-8"), discovery_id)
        except Failure:
            return None

    def _merged(self, link: Link, discovery: Discovery, reading: LiteralString) -> Recorded:
        """The discovery to store, merged with the row that the transaction has read."""

        def load(key: str) -> Discovery | None:
            if link.info.transaction_status != TransactionStatus.IDLE:  # another name was tried
                link.together(("ROLLBACK", {}))
            rows = self._read(link, key, reading)
            return decoded(rows[0][2].encode("utf-8"), key) if rows else None

        return rehearsed(discovery, load)

    def _read(self, link: Link, key: str, reading: LiteralString) -> Sequence[Row]:
        """Begin a transaction by reading one row."""
        statement = (reading, self._values(ids=[key]))
        return locked(link, f"{key}.lock", self._lock_timeout, patiently, statement)[0].fetchall()

    def _written(self, link: Link, recorded: Recorded, stamp: UUID) -> bool:
        """Write and commit; False if another writer was faster."""
        one = recorded.discovery
        body = encoded(one).decode("utf-8")
        values = self._values(id=one.id, body=body, stamp=stamp, author=self._author)
        written, _ = link.together((_CHANGE if recorded.merged else _INSERT, values), ("COMMIT", {}))
        return bool(written.rowcount)

    def _is_done(self, link: Link, stamp: UUID) -> bool:
        return bool(link.together((_IS_DONE, self._values(stamp=stamp)))[0].fetchall())

    def _values(self, **values: Any) -> dict[str, Any]:
        return {"project": self._database.project, **values}
