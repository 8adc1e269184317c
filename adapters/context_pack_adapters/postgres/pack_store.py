"""Packs in the table `cp_packs`, each body the very text of a pack's file.

A write is one transaction in two round trips: lock the row and read it, then write it and commit. A commit
whose answer was lost is looked up by its stamp in `cp_history` before anything is done again. The expiry is
judged by the database's clock. A body that was read is sent and parsed again only if its stamp differs: of
100 packs that saves most of a look at all of them (`benches/side_by_side/team.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString, NamedTuple
from uuid import UUID, uuid4

from attrs import evolve
from psycopg.errors import UniqueViolation

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ids import PACK_ID_BYTES, is_pack_id, pack_id
from context_pack.kernel.ports import Clock, IdSource
from context_pack.packs.domain.model import Listed, Pack
from context_pack.packs.ports import (
    KEPT_REVISIONS,
    Waiting,
    name_taken,
    no_free_id,
    not_expired,
    not_found,
    patiently,
)
from context_pack_adapters.postgres import pack_rows as sql
from context_pack_adapters.postgres.connection import Database, Link, Row, Statement, locked
from context_pack_adapters.stores import pack_format
from context_pack_adapters.stores.events import WRITING, Event, EventKind, Tell
from context_pack_adapters.stores.pack_files import LOCK_SUFFIX, MalformedPackFile
from context_pack_adapters.stores.pack_store import CREATE_LOCK, LOCK_SECONDS, refusal

_MOST_DRAWS = 100


class _SeenRow(NamedTuple):
    """The pack in one version of a row."""

    stamp: UUID
    value: Pack | MalformedPackFile


class PostgresPackStore:
    """A `PackStore` in a database; safe to share between threads, processes and machines.

    Without a clock the database's own is asked; tests give one.
    """

    def __init__(
        self,
        database: Database,
        ids: IdSource,
        lock_timeout: float = LOCK_SECONDS,
        tell: Tell = lambda _: None,
        author: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._database = database
        self._ids = ids
        self._lock_timeout = lock_timeout
        self._tell = tell
        self._author = author
        self._clock = clock
        self._seen: dict[str, _SeenRow] = {}

    def get(self, pack_id: str) -> Pack:
        """The live pack with that id."""
        if not is_pack_id(pack_id):
            raise not_found("id", pack_id)
        seen = self._seen.get(pack_id)
        rows = self._database.rows(sql.GET, self._values(id=pack_id, known=_stamp(seen)))
        if not rows:
            raise not_found("id", pack_id)
        return self._reported(EventKind.SEEN, self._pack(rows[0], seen))

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""
        same = (seen for seen in list(self._seen.values()) if getattr(seen.value, "name", None) == name)
        seen = next(same, None)
        values = self._values(name=name, known=_stamp(seen))
        rows = [] if "\0" in name else self._database.rows(sql.FIND, values)
        if not rows:
            raise not_found("name", name)
        return self._reported(EventKind.SEEN, self._pack(rows[0], seen))

    def all(self) -> Sequence[Pack]:
        """Every live pack; one round trip if nothing has changed. Fails closed on a malformed one."""
        listed: dict[str, UUID] = dict(self._database.rows(sql.LIST, self._values()))
        known = {key: seen for key, seen in list(self._seen.items()) if seen.stamp == listed.get(key)}
        wanted = list(listed.keys() - known.keys())
        fresh = self._database.rows(sql.SOME, self._values(ids=wanted, known=[])) if wanted else ()
        found = {key: seen.value for key, seen in known.items()}
        found |= {row[0]: self._value(row, None) for row in fresh}
        for gone in self._seen.keys() - listed.keys():
            self._seen.pop(gone, None)
        broken = {key: value for key, value in found.items() if isinstance(value, MalformedPackFile)}
        if broken:
            raise refusal(broken)
        return [value for value in found.values() if isinstance(value, Pack)]

    def summaries(self) -> Sequence[Listed]:
        """Every live pack."""
        return self.all()

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting = patiently) -> Pack:
        """Store the pack that `make` builds for a fresh id, if `name` is free among live packs."""
        self._tell(WRITING)
        for _ in range(_MOST_DRAWS):
            made = evolve(make(pack_id(self._ids.token(PACK_ID_BYTES))), author=self._author)
            if self._inserted(made, name, waiting):
                return self._reported(EventKind.MADE, made)
        raise no_free_id()

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """One read-modify-write under the row's lock; returns what is now stored."""
        self._tell(WRITING)
        results: list[Pack] = []

        def work(pack: Pack, stamp: UUID, link: Link) -> None:
            changed = change(pack)
            if (changed.id, changed.name) != (pack.id, pack.name):
                raise Failure(Code.INTERNAL, "a change gave the pack another id or name; report this bug")
            results.append(pack if changed == pack else evolve(changed, author=self._author))
            if changed != pack:
                values = self._row(changed, stamp)
                written, _ = link.together((sql.CHANGE, values), ("COMMIT", {}))
                if not written.rowcount:
                    raise not_found("id", pack_id)
                self._seen[pack_id] = _SeenRow(stamp, results[-1])

        self._under_lock(pack_id, work, waiting)
        return self._reported(EventKind.CHANGED, results[-1])

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Waiting = patiently) -> None:
        """Remove the pack under its row's lock, after `check` has accepted it."""
        self._tell(WRITING)
        packs: list[Pack] = []

        def work(pack: Pack, stamp: UUID, link: Link) -> None:
            packs.append(pack)
            check(pack)
            self._remove(pack, stamp, link)

        self._under_lock(pack_id, work, waiting)
        self._reported(EventKind.REMOVED, packs[-1])

    def discard(self, handle: str, waiting: Waiting = patiently) -> Pack:
        """Remove an expired pack for good."""
        self._tell(WRITING)
        packs: list[Pack] = []

        def work(pack: Pack, stamp: UUID, link: Link) -> None:
            packs.append(pack)
            self._remove(pack, stamp, link)

        self._locked(sql.LOCK_EXPIRED, handle, not_expired(handle), work, waiting)
        return packs[-1]

    def _remove(self, pack: Pack, stamp: UUID, link: Link) -> None:
        """Remove a row that is locked."""
        values = self._values(id=pack.id, stamp=stamp, author=self._author)
        gone, _ = link.together((sql.REMOVE, values), ("COMMIT", {}))
        if not gone.rowcount:
            raise not_found("id", pack.id)
        self._seen.pop(pack.id, None)

    def expired(self) -> Sequence[Pack]:
        """Every pack whose time is over and which can be restored."""
        rows = self._database.rows(sql.EXPIRED, self._values(kept=sql.KEPT))
        found = (_decoded(body, key, author) for key, _, body, author in rows)
        return [pack for pack in found if isinstance(pack, Pack)]

    def restore(self, handle: str, change: Callable[[Pack], Pack], waiting: Waiting = patiently) -> Pack:
        """Bring an expired pack back, as `change` makes it; of several of one name, the last that expired."""
        self._tell(WRITING)
        results: list[Pack] = []

        def work(pack: Pack, stamp: UUID, link: Link) -> None:
            results.append(evolve(change(pack), author=self._author))
            values = {**self._row(results[-1], stamp), "name": pack.name}
            try:
                link.together((sql.FREE_NAME, values), (sql.RESTORE, values), ("COMMIT", {}))
            except UniqueViolation:
                rollback: Statement = ("ROLLBACK", {})
                ((taken,),) = link.together(rollback, (sql.TAKEN, values))[1].fetchall()
                raise name_taken(str(pack.name), taken) from None
            self._seen[pack.id] = _SeenRow(stamp, results[-1])

        self._locked(sql.LOCK_EXPIRED, handle, not_expired(handle), work, waiting)
        return self._reported(EventKind.MADE, results[-1])

    def _under_lock(self, key: str, work: Callable[[Pack, UUID, Link], None], waiting: Waiting) -> None:
        """Lock the live pack, read it and do the work; none that was done is done again."""
        missing = not_found("id", key)
        if not is_pack_id(key):
            raise missing
        self._locked(sql.LOCK, key, missing, work, waiting)

    def _locked(
        self,
        lock: LiteralString,
        key: str,
        missing: Failure,
        work: Callable[[Pack, UUID, Link], None],
        waiting: Waiting,
    ) -> None:
        """Lock a row, read it and do the work; none that was done is done again."""
        stamp = uuid4()

        def attempt(link: Link, again: bool) -> None:
            seen = self._seen.get(key)
            statement = (lock, self._values(id=key, known=_stamp(seen)))
            (read,) = locked(link, key + LOCK_SUFFIX, self._lock_timeout, waiting, statement)
            rows = read.fetchall()
            # Asked now that the row is ours: an earlier try that was still at work has ended.
            if again and self._is_done(link, stamp):
                return
            if not rows:
                raise missing
            work(self._pack(rows[0], seen), stamp, link)

        self._database.attempt(attempt)

    def _inserted(self, made: Pack, name: str | None, waiting: Waiting) -> bool:
        """Insert a pack; False if its id is taken."""
        stamp = uuid4()
        values = {**self._row(made, stamp), "name": name, "kept": sql.KEPT}

        def attempt(link: Link, again: bool) -> bool:
            statements = [(sql.PURGE, values), (sql.FORGET, values), (sql.INSERT, values), ("COMMIT", {})]
            if name is not None:
                statements.insert(0, (sql.FREE_NAME, values))
            inserted = locked(link, CREATE_LOCK, self._lock_timeout, waiting, *statements)[-2]
            if inserted.rowcount or (again and self._is_done(link, stamp)):
                return True
            taken = link.together((sql.TAKEN, values))[0].fetchall() if name is not None else []
            if taken:
                raise name_taken(str(name), taken[0][0])
            return False

        done = self._database.attempt(attempt)
        if done:
            self._seen[made.id] = _SeenRow(stamp, made)
        return done

    def _is_done(self, link: Link, stamp: UUID) -> bool:
        return bool(link.together((sql.IS_DONE, self._values(stamp=stamp)))[0].fetchall())

    def _values(self, **values: Any) -> dict[str, Any]:
        now: datetime | None = None if self._clock is None else self._clock.now()
        return {"project": self._database.project, "now": now, **values}

    def _row(self, pack: Pack, stamp: UUID) -> dict[str, Any]:
        # A NUL can only be in the summary below the front matter, which nobody reads back.
        body = pack_format.encode(pack).decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
        expires = pack.expires_at
        return self._values(
            id=pack.id,
            revision=pack.revision,
            revisions=KEPT_REVISIONS,
            expires=expires,
            body=body,
            stamp=stamp,
            author=self._author,
        )

    def _pack(self, row: Row, seen: _SeenRow | None) -> Pack:
        found = self._value(row, seen)
        if isinstance(found, MalformedPackFile):
            raise refusal({row[0]: found})
        return found

    def _value(self, row: Row, seen: _SeenRow | None) -> Pack | MalformedPackFile:
        """The pack of a row; the body is not sent if its stamp is the cached one."""
        key, stamp, body, author = row
        if body is None:
            assert seen is not None
            return seen.value
        self._seen[key] = found = _SeenRow(stamp, _decoded(body, key, author))
        return found.value

    def _reported(self, kind: EventKind, pack: Pack) -> Pack:
        self._tell(Event(kind, pack))
        return pack


def _stamp(seen: _SeenRow | None) -> list[UUID]:
    return [] if seen is None else [seen.stamp]


def _decoded(body: str, key: str, author: str | None) -> Pack | MalformedPackFile:
    try:
        return evolve(pack_format.decode(body.encode("utf-8"), key), author=author)
    except Failure as failure:
        details: Mapping[str, object] = failure.details
        return MalformedPackFile(failure.code, failure.message, details)
