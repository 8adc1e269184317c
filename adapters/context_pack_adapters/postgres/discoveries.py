"""Discoveries in the table `cp_discoveries`, each body the very text of a discovery's file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import LiteralString

from attrs import evolve, frozen

from context_pack.kernel.errors import Failure
from context_pack.memory.discovery import Discovery, is_id
from context_pack.memory.ports import Recorded
from context_pack_adapters.files.events import WRITING, Tell
from context_pack_adapters.memory.discoveries import (
    LOCK_SECONDS,
    decoded,
    encoded,
    malformed,
    merged,
    not_found,
)
from context_pack_adapters.postgres.connection import Database, Link, Row

_ALL: LiteralString = "SELECT id, body, author FROM context_pack.cp_discoveries WHERE project = %(project)s"
_GET: LiteralString = f"{_ALL} AND id = %(id)s"
_LOCK: LiteralString = f"{_GET} FOR UPDATE"
_ALONE: LiteralString = "SELECT pg_advisory_xact_lock(hashtextextended(%(project)s || ' discoveries', 0))"
_WRITE: LiteralString = """
    INSERT INTO context_pack.cp_discoveries (project, id, body, author)
    VALUES (%(project)s, %(id)s, %(body)s, %(author)s)
    ON CONFLICT (project, id) DO UPDATE
    SET body = excluded.body, author = excluded.author, stamp = gen_random_uuid()"""
_REMOVE: LiteralString = "DELETE FROM context_pack.cp_discoveries WHERE project = %(project)s AND id = %(id)s"


@frozen(eq=False)
class PostgresDiscoveryStore:
    """A `DiscoveryStore` in a database; safe to share between threads, processes and machines."""

    _database: Database
    _lock_timeout: float = LOCK_SECONDS
    _tell: Tell = lambda _: None
    _author: str | None = None

    def record(self, discovery: Discovery) -> Recorded:
        """Keep a discovery, or record again the one that says the same."""
        self._tell(WRITING)

        def work(link: Link) -> Recorded:
            link.run(_ALONE)  # of two that say the same, the second finds the first
            recorded = merged(discovery, lambda key: self._read(link, _LOCK, key))
            self._write(link, recorded.discovery)
            return recorded

        return self._database.change(work, f"{discovery.id}.lock", self._lock_timeout)

    def change(self, discovery_id: str, change: Callable[[Discovery], Discovery]) -> Discovery:
        """Replace a discovery by what `change` makes of it, under its id."""
        self._tell(WRITING)

        def work(link: Link) -> Discovery:
            known = self._read(link, _LOCK, discovery_id) if is_id(discovery_id) else None
            if known is None:
                raise not_found(discovery_id)
            changed = change(known)
            if changed != known:
                self._write(link, changed)
            return changed

        return self._database.change(work, f"{discovery_id}.lock", self._lock_timeout)

    def all(self) -> Sequence[Discovery]:
        """Every discovery, the oldest first."""
        discoveries, failure = self.readable()
        if failure is not None:
            raise failure
        return discoveries

    def readable(self) -> tuple[Sequence[Discovery], Failure | None]:
        """Every discovery that can be read, and the failure that names those that cannot."""
        discoveries: list[Discovery] = []
        broken: dict[str, str] = {}
        for key, body, author in self._database.rows(_ALL):
            try:
                discoveries.append(evolve(decoded(body.encode("utf-8"), key), author=author))
            except Failure as failure:
                broken[key] = str(failure.details["reason"])
        discoveries.sort(key=lambda one: (one.date, one.id))
        return discoveries, malformed(broken) if broken else None

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove a discovery and return it, or None when its body held none."""
        if not is_id(discovery_id):
            raise not_found(discovery_id)

        def work(link: Link) -> str:
            rows = link.run(_LOCK, id=discovery_id).fetchall()
            if not rows:
                raise not_found(discovery_id)
            link.run(_REMOVE, id=discovery_id)
            body: str = rows[0][1]
            return body

        body = self._database.change(work, f"{discovery_id}.lock", self._lock_timeout)
        try:
            return decoded(body.encode("utf-8"), discovery_id)
        except Failure:
            return None

    def _read(self, link: Link, statement: LiteralString, key: str) -> Discovery | None:
        return _discovery(link.run(statement, id=key).fetchall())

    def _write(self, link: Link, discovery: Discovery) -> None:
        body = encoded(discovery).decode("utf-8")
        link.run(_WRITE, id=discovery.id, body=body, author=self._author)


def _discovery(rows: Sequence[Row]) -> Discovery | None:
    return decoded(rows[0][1].encode("utf-8"), rows[0][0]) if rows else None
