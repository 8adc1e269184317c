"""Packs in the table `cp_packs`, each body the very text of a pack's file, and their last revisions.

A write is one transaction: lock the row, read it, write it. The expiry is judged by the database's clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, LiteralString

from attrs import evolve, frozen
from psycopg.errors import UniqueViolation

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Clock, IdSource
from context_pack.kernel.text import PACK_ID_BYTES, is_pack_id, pack_id
from context_pack.packs.model import Pack
from context_pack.packs.ports import (
    KEPT_REVISIONS,
    TRASH_KEEPS,
    name_taken,
    no_free_id,
    not_expired,
    not_found,
)
from context_pack.toolkit.call import Check, never_cancelled
from context_pack_adapters.files.events import WRITING, Event, EventKind, Tell
from context_pack_adapters.packs import pack_format
from context_pack_adapters.packs.pack_files import LOCK_SUFFIX
from context_pack_adapters.packs.store import CREATE_LOCK, LOCK_SECONDS, refusal
from context_pack_adapters.postgres.connection import Database, Link, Row

_MOST_DRAWS = 100

# `now` is NULL but in tests: then the database's own clock judges.
_LIVE: LiteralString = (
    "project = %(project)s AND expires_at > coalesce(%(now)s::timestamptz, clock_timestamp())"
)
_OVER: LiteralString = (
    "project = %(project)s AND expires_at <= coalesce(%(now)s::timestamptz, clock_timestamp())"
)
_ALL: LiteralString = f"SELECT id, body, author FROM context_pack.cp_packs WHERE {_LIVE}"
_GET: LiteralString = f"{_ALL} AND id = %(id)s"
_FIND: LiteralString = f"{_ALL} AND name = %(name)s"
_LOCK: LiteralString = f"{_GET} FOR UPDATE"
_WRITE: LiteralString = """
    UPDATE context_pack.cp_packs
    SET name = %(name)s, former_name = NULL, revision = %(revision)s, expires_at = %(expires)s,
        body = %(body)s, author = %(author)s, stamp = gen_random_uuid()
    WHERE project = %(project)s AND id = %(id)s"""
_WRITE_LIVE: LiteralString = f"{_WRITE} AND {_LIVE}"
_INSERT: LiteralString = """
    INSERT INTO context_pack.cp_packs (project, id, name, revision, expires_at, body, author)
    VALUES (%(project)s, %(id)s, %(name)s, %(revision)s, %(expires)s, %(body)s, %(author)s)"""
_REMEMBER: LiteralString = """
    INSERT INTO context_pack.cp_history (project, id, revision, author, body)
    VALUES (%(project)s, %(id)s, %(revision)s, %(author)s, %(body)s)"""
_FORGET: LiteralString = """
    DELETE FROM context_pack.cp_history
    WHERE project = %(project)s AND id = %(id)s AND revision <= %(revision)s - %(revisions)s"""
_REMOVE: LiteralString = "DELETE FROM context_pack.cp_packs WHERE project = %(project)s AND id = %(id)s"
_FREE_NAME: LiteralString = f"""
    UPDATE context_pack.cp_packs SET name = NULL, former_name = name WHERE {_OVER} AND name = %(name)s"""
_TAKEN: LiteralString = (
    "SELECT id, name = %(name)s FROM context_pack.cp_packs WHERE project = %(project)s"
    " AND (name = %(name)s OR id = %(id)s)"
)
_PURGE: LiteralString = f"""
    DELETE FROM context_pack.cp_packs WHERE project = %(project)s AND id IN (
      SELECT id FROM context_pack.cp_packs
      WHERE {_OVER} AND expires_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(kept)s
      LIMIT 100 FOR UPDATE SKIP LOCKED)"""
_EXPIRED: LiteralString = f"""
    SELECT id, body, author FROM context_pack.cp_packs
    WHERE {_OVER} AND expires_at > coalesce(%(now)s::timestamptz, clock_timestamp()) - %(kept)s"""
_LOCK_EXPIRED: LiteralString = f"""
    SELECT id, body, author FROM context_pack.cp_packs
    WHERE {_OVER} AND (id = %(id)s OR name = %(id)s OR former_name = %(id)s)
    ORDER BY expires_at DESC LIMIT 1 FOR UPDATE"""
_REVISIONS: LiteralString = """
    SELECT DISTINCT revision FROM context_pack.cp_history
    WHERE project = %(project)s AND id = %(id)s AND body IS NOT NULL ORDER BY revision"""
_REVISION: LiteralString = """
    SELECT body FROM context_pack.cp_history
    WHERE project = %(project)s AND id = %(id)s AND revision = %(revision)s AND body IS NOT NULL"""
_TOKEN: LiteralString = """
    SELECT md5(coalesce((
        SELECT string_agg(stamp::text, ' ' ORDER BY id) FROM context_pack.cp_packs
        WHERE project = %(project)s AND expires_at > clock_timestamp()), '')
      || '/' || coalesce((
        SELECT string_agg(stamp::text, ' ' ORDER BY id) FROM context_pack.cp_discoveries
        WHERE project = %(project)s), ''))"""


def change_token(database: Database) -> str:
    """A text that differs when a live pack or a discovery has changed, come or gone.

    Raises:
        Failure: the database cannot be reached.
    """
    ((token,),) = database.rows(_TOKEN)
    return f"{database.project} {token}"


@frozen(eq=False)
class PostgresPackStore:
    """A `PackStore` in a database; safe to share between threads, processes and machines.

    Without a clock the database's own is asked; tests give one.
    """

    _database: Database
    _ids: IdSource
    _lock_timeout: float = LOCK_SECONDS
    _tell: Tell = lambda _: None
    _author: str | None = None
    _clock: Clock | None = None

    def get(self, pack_id: str) -> Pack:
        """The live pack with that id."""
        rows = self._database.rows(_GET, **self._values(id=pack_id)) if is_pack_id(pack_id) else ()
        return self._seen(rows, not_found("id", pack_id))

    def find(self, name: str) -> Pack:
        """The live pack with exactly that name."""
        rows = () if "\0" in name else self._database.rows(_FIND, **self._values(name=name))
        return self._seen(rows, not_found("name", name))

    def _seen(self, rows: Sequence[Row], missing: Failure) -> Pack:
        if not rows:
            raise missing
        return self._reported(EventKind.SEEN, _pack(rows[0]))

    def all(self) -> Sequence[Pack]:
        """Every live pack; fails closed on a malformed one."""
        packs, failure = self.readable()
        if failure is not None:
            raise failure
        return packs

    def readable(self) -> tuple[Sequence[Pack], Failure | None]:
        """Every live pack that can be read, and the failure that names those that cannot."""
        packs = {row[0]: _decoded(*row) for row in self._database.rows(_ALL, **self._values())}
        broken = {key: pack for key, pack in packs.items() if isinstance(pack, Failure)}
        live = [pack for pack in packs.values() if isinstance(pack, Pack)]
        return live, refusal(broken) if broken else None

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Check = never_cancelled) -> Pack:
        """Store the pack that `make` builds for a fresh id, if `name` is free among live packs."""
        self._tell(WRITING)
        for _ in range(_MOST_DRAWS):
            pack = evolve(make(pack_id(self._ids(PACK_ID_BYTES))), author=self._author)
            values = {**self._row(pack), "name": name, "kept": TRASH_KEEPS}
            try:
                self._changed(CREATE_LOCK, lambda link: _insert(link, values), waiting)  # noqa: B023
            except UniqueViolation:
                taken = self._database.rows(_TAKEN, **values)
                named = [key for key, same_name in taken if same_name]
                if named:
                    raise name_taken(str(name), named[0]) from None
                continue
            return self._reported(EventKind.MADE, pack)
        raise no_free_id()

    def update(self, pack_id: str, change: Callable[[Pack], Pack], waiting: Check = never_cancelled) -> Pack:
        """One read-modify-write under the row's lock; returns what is now stored."""
        self._tell(WRITING)

        def work(link: Link) -> Pack:
            pack = self._locked(link, _LOCK, pack_id, not_found("id", pack_id))
            changed = change(pack)
            if (changed.id, changed.name) != (pack.id, pack.name):
                raise Failure(Code.INTERNAL, "a change gave the pack another id or name; report this bug")
            return pack if changed == pack else self._write(link, changed, _WRITE_LIVE)

        return self._reported(EventKind.CHANGED, self._changed(pack_id + LOCK_SUFFIX, work, waiting))

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Check = never_cancelled) -> None:
        """Remove the pack under its row's lock, after `check` has accepted it."""
        self._tell(WRITING)

        def work(link: Link) -> Pack:
            pack = self._locked(link, _LOCK, pack_id, not_found("id", pack_id))
            check(pack)
            return self._remove(link, pack)

        self._reported(EventKind.REMOVED, self._changed(pack_id + LOCK_SUFFIX, work, waiting))

    def discard(self, handle: str, waiting: Check = never_cancelled) -> Pack:
        """Remove an expired pack for good."""
        self._tell(WRITING)

        def work(link: Link) -> Pack:
            return self._remove(link, self._locked(link, _LOCK_EXPIRED, handle, not_expired(handle)))

        pack: Pack = self._changed(handle + LOCK_SUFFIX, work, waiting)
        return pack

    def expired(self) -> Sequence[Pack]:
        """Every pack whose time is over and which can be restored."""
        rows = self._database.rows(_EXPIRED, **self._values(kept=TRASH_KEEPS))
        return [pack for pack in (_decoded(*row) for row in rows) if isinstance(pack, Pack)]

    def restore(self, handle: str, change: Callable[[Pack], Pack], waiting: Check = never_cancelled) -> Pack:
        """Bring an expired pack back, as `change` makes it; of several of one name, the last that expired."""
        self._tell(WRITING)
        packs: list[Pack] = []

        def work(link: Link) -> Pack:
            pack = self._locked(link, _LOCK_EXPIRED, handle, not_expired(handle))
            packs.append(pack)
            link.run(_FREE_NAME, **self._values(name=pack.name))
            return self._write(link, change(pack))

        try:
            restored = self._changed(handle + LOCK_SUFFIX, work, waiting)
        except UniqueViolation:
            ((taken, _),) = self._database.rows(_TAKEN, name=packs[-1].name, id="")
            raise name_taken(str(packs[-1].name), taken) from None
        return self._reported(EventKind.MADE, restored)

    def _changed(self, name: str, work: Callable[[Link], Any], waiting: Check) -> Any:
        return self._database.change(work, name, self._lock_timeout, waiting)

    def _locked(self, link: Link, lock: LiteralString, key: str, missing: Failure) -> Pack:
        """The pack of a row, which nobody else changes before this transaction ends."""
        if "\0" in key:
            raise missing
        rows = link.run(lock, **self._values(id=key)).fetchall()
        if not rows:
            raise missing
        return _pack(rows[0])

    def _remove(self, link: Link, pack: Pack) -> Pack:
        """Remove a row that is locked, and its revisions."""
        link.run(_REMOVE, id=pack.id)
        link.run(_FORGET, id=pack.id, revision=pack.revision, revisions=0)
        return pack

    def _write(self, link: Link, pack: Pack, statement: LiteralString = _WRITE) -> Pack:
        """Write a pack in place of what its row has; it may have expired while we waited for the row."""
        values = self._row(pack)
        if not link.run(statement, **values).rowcount:
            raise not_found("id", pack.id)
        for after in (_REMEMBER, _FORGET):
            link.run(after, **values)
        return evolve(pack, author=self._author)

    def _values(self, **values: Any) -> dict[str, Any]:
        now: datetime | None = None if self._clock is None else self._clock.now()
        return {"now": now, **values}

    def _row(self, pack: Pack) -> dict[str, Any]:
        return self._values(
            id=pack.id,
            name=pack.name,
            revision=pack.revision,
            revisions=KEPT_REVISIONS,
            expires=pack.expires_at,
            body=pack_format.encode(pack).decode("utf-8"),
            author=self._author,
        )

    def _reported(self, kind: EventKind, pack: Pack) -> Pack:
        self._tell(Event(kind, pack))
        return pack


def _insert(link: Link, values: dict[str, Any]) -> None:
    """Insert a pack; an expired one gives its name up, and one that expired long ago goes."""
    if values["name"] is not None:
        link.run(_FREE_NAME, **values)
    for statement in (_PURGE, _INSERT, _REMEMBER):
        link.run(statement, **values)


def _pack(row: Row) -> Pack:
    pack = _decoded(*row)
    if isinstance(pack, Failure):
        raise refusal({row[0]: pack})
    return pack


def _decoded(key: str, body: str, author: str | None) -> Pack | Failure:
    try:
        return evolve(pack_format.decode(body.encode("utf-8"), key), author=author)
    except Failure as failure:
        return failure


@frozen(eq=False)
class PostgresPackHistory:
    """A `PackHistory` in a database: the store writes each revision together with the change."""

    _database: Database

    def get(self, pack_id: str, revision: int) -> Pack | None:
        """A kept revision."""
        rows = self._database.tried(_REVISION, id=pack_id, revision=revision)
        packs = (_decoded(pack_id, body, None) for (body,) in rows)
        return next((pack for pack in packs if isinstance(pack, Pack)), None)

    def revisions(self, pack_id: str) -> Sequence[int]:
        """The kept revisions of a pack, the oldest first."""
        return [revision for (revision,) in self._database.tried(_REVISIONS, id=pack_id)]
