"""Reports packs that are made, changed, removed or expire in the team's database.

While somebody listens, one connection of its own waits for notifications; they only say which rows to look
at, and what is told is what the rows say. After a lost connection everything is compared with what was
known, so that nothing is missed and nothing wrong is told.
"""

from __future__ import annotations

import os
import select
import threading
import time
from typing import LiteralString
from uuid import UUID

import psycopg
from attrs import frozen
from psycopg import sql

from context_pack.kernel.errors import Failure
from context_pack.packs.domain.model import Pack
from context_pack_adapters.postgres.connection import Database, Link
from context_pack_adapters.postgres.faults import NoAnswer
from context_pack_adapters.stores.pack_news import LONGEST_WAIT, News, Tell, handles_of

_AGAIN_SECONDS = 1.0
_CHANNEL: LiteralString = "SELECT context_pack.cp_channel(%(project)s)"
_ROWS: LiteralString = """
    SELECT id, stamp, name, extract(epoch FROM expires_at - clock_timestamp())::float8
    FROM context_pack.cp_packs
    WHERE project = %(project)s AND expires_at > clock_timestamp()
      AND (%(ids)s::text[] IS NULL OR id = ANY(%(ids)s::text[]))"""


@frozen
class _KnownPack:
    """The cached facts of a live pack; `ends` is on the monotonic clock."""

    stamp: UUID
    name: str | None
    ends: float


class PostgresNews:
    """News of the packs of one project, for one listener."""

    def __init__(self, database: Database, tell: Tell) -> None:
        self._database = database
        self._tell = tell
        self._lock = threading.Lock()
        self._attention: _NewsListener | None = None

    def listen(self, wanted: bool) -> None:
        """Start or stop listening; idempotent, and does not wait for the database."""
        with self._lock:
            if wanted and self._attention is None:
                self._attention = _NewsListener(self._database, self._tell)
                self._attention.start()
                return
            ended, self._attention = (None, self._attention) if wanted else (self._attention, None)
        if ended is not None:
            ended.stop()

    def came_or_went(self, pack: Pack) -> None:
        """Report a pack that this process made or removed, unless the database reports it."""
        if self._attention is None:
            self._tell(News(handles_of(pack.id, pack.name), listed=True))


class _NewsListener(threading.Thread):
    """One listening connection, and what it knows of the packs."""

    def __init__(self, database: Database, tell: Tell) -> None:
        super().__init__(name="team news", daemon=True)
        self._database = database
        self._tell = tell
        self._known: dict[str, _KnownPack] | None = None
        self._wakes, self._stops = os.pipe()

    def stop(self) -> None:
        """Stop; nothing is reported afterwards."""
        os.write(self._stops, b"\0")
        if threading.current_thread() is not self:
            self.join()
            os.close(self._stops)
            os.close(self._wakes)

    def run(self) -> None:
        """Listen until stopped; reconnect after every lost connection."""
        while True:
            try:
                link = self._database.connect()
                try:
                    self._attend(link)
                    return
                finally:
                    link.close()
            except (Failure, psycopg.Error, NoAnswer, OSError):
                if self._ended(_AGAIN_SECONDS):
                    return

    def _attend(self, link: Link) -> None:
        """Listen on one connection until stopped."""
        ((channel,),) = link.together((_CHANNEL, {"project": self._database.project}))[0].fetchall()
        noticed: set[str] = set()
        link.add_notify_handler(lambda notice: noticed.add(notice.payload))
        link.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        self._look(link, None)
        _drain(link, noticed)
        while not self._ended(0.0 if noticed else self._due(), link.fileno()):
            _drain(link, noticed)
            ids = set(noticed)
            noticed.clear()
            self._look(link, ids)
            _drain(link, noticed)

    def _ended(self, seconds: float, *also: int) -> bool:
        """Wait for the stop signal or for data; whether it was the stop signal."""
        ready, _, _ = select.select([self._wakes, *also], [], [], seconds)
        return self._wakes in ready

    def _due(self) -> float:
        ends = [known.ends for known in (self._known or {}).values()]
        return max(0.0, min([LONGEST_WAIT, *(end - time.monotonic() for end in ends)]))

    def _look(self, link: Link, ids: set[str] | None) -> None:
        """Read the rows of these packs, or of all, and report the differences."""
        now = time.monotonic()
        known = self._known or {}
        if ids is not None:
            ids |= {key for key, one in known.items() if one.ends <= now}
        asked = list(known.keys()) if ids is None else list(ids)
        if ids is not None and not asked:
            return
        values = {"project": self._database.project, "ids": None if ids is None else asked}
        rows = link.together((_ROWS, values))[0].fetchall()
        found = {key: _KnownPack(stamp, name, now + left) for key, stamp, name, left in rows}
        changed = {
            key
            for key in found.keys() | set(asked)
            if (known[key].stamp if key in known else None) != (found[key].stamp if key in found else None)
        }
        first, gone = self._known is None, set(asked) - found.keys()
        self._known = {key: one for key, one in {**known, **found}.items() if key not in gone}
        if changed and not first:
            handles = (handles_of(key, (found.get(key) or known[key]).name) for key in changed)
            listed = any(key not in known or key not in found for key in changed)
            self._tell(News(frozenset().union(*handles), listed))


def _drain(link: Link, noticed: set[str]) -> None:
    """Return arrived notifications, including those that came with the answer to a query."""
    link.pgconn.consume_input()
    while notice := link.pgconn.notifies():
        noticed.add(notice.extra.decode("utf-8"))
