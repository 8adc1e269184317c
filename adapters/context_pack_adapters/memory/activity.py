"""What connections did and which files were read: one small SQLite file in the user's state.

A session is written whole when a call ends, once a second at most, and at its own end, so that a killed
server leaves one that lacks little; a read adds to the count of its file at once. Several servers share the
file. Nothing here ever fails a call: what cannot be written in half a second is not kept, nor what comes
within seconds after that, and a damaged file is put aside.
`context_search` finds past sessions, `context://stats` shows the files with the best scores.
"""

from __future__ import annotations

import errno
import json
import math
import os
import sqlite3
import stat
import weakref
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from threading import Lock
from typing import Any

from attrs import evolve

from context_pack.code.access import ContextItem, ranked
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock
from context_pack.kernel.times import format_instant, parse_instant
from context_pack.memory.discovery import Session
from context_pack_adapters.files.events import Event, EventKind, Tell
from context_pack_adapters.files.folder import FILE_MODE, PrivateFolder

FILE, BROKEN, LOCK = "activity.sqlite3", "activity.broken.sqlite3", "activity.lock"
SECONDS = 0.5
KEEP_SECONDS = 1.0
"""How often the session is written at most because of calls: each time costs as much as a short call."""
PAUSE_SECONDS = 5.0
"""How long nothing is tried after a failure: no call is to wait again for a file that is held."""
KEPT = 1000
"""So many sessions are kept, the newest."""
_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, started TEXT, ended TEXT, did TEXT);
CREATE TABLE IF NOT EXISTS reads (path BLOB PRIMARY KEY, count INTEGER, last TEXT);
"""


class Activity:
    """A `SessionLog` and an `AccessLog` on disk; safe to share between threads and processes."""

    def __init__(
        self, state: PrivateFolder, clock: Clock, session_id: str, tell: Tell = lambda _: None
    ) -> None:
        self._folder, self._clock, self._tell = state, clock, tell
        self._lock = Lock()
        self._session = Session(id=session_id, started=clock.now())
        self._is_kept = False
        self._next_keep = self._next_try = -math.inf
        self._connection: sqlite3.Connection | None = None

    # -- this session and the others

    @property
    def id(self) -> str:
        """The id of this connection's session."""
        return self._session.id

    def called(self, tool: str) -> None:
        """A tool was called."""
        with self._lock:
            self._session = self._session.called(tool)
        if self._clock.monotonic() >= self._next_keep:
            self.keep()

    def read(self, path: RelativePath) -> None:
        """A file was read."""
        with self._lock:
            self._session = self._session.read(path.value)

    def touched(self, pack: str) -> None:
        """A pack was read or changed."""
        with self._lock:
            self._session = self._session.touched(pack)

    def keep(self) -> None:
        """Write the session to disk now, because a record that names it is about to be stored."""
        self._is_kept, self._next_keep = True, self._clock.monotonic() + KEEP_SECONDS
        with self._lock:
            one = self._session
            did = json.dumps({"tools": one.tools, "files": one.files, "packs": one.packs})
            ended = None if one.ended is None else format_instant(one.ended)
            row = (one.id, format_instant(one.started), ended, did)
            self._run("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", row)

    def end(self) -> None:
        """Write the end of the session, if anything was noted in it."""
        if not self._is_kept:
            return
        with self._lock:
            self._session = evolve(self._session, ended=self._clock.now())
        self.keep()

    def past(self) -> Sequence[Session]:
        """The other sessions, the oldest first."""
        with self._lock:
            rows = self._run("SELECT * FROM sessions WHERE id != ? ORDER BY started, id", (self.id,))
        sessions = []
        for key, started, ended, did in rows:
            with suppress(ValueError, KeyError, TypeError):  # a row of somebody else
                said = json.loads(did)
                sessions.append(
                    Session(
                        id=key,
                        started=parse_instant(started),
                        ended=None if ended is None else parse_instant(ended),
                        tools=said["tools"],
                        files=tuple(said["files"]),
                        packs=tuple(said["packs"]),
                    )
                )
        return sessions

    # -- the files that were read

    def record(self, path: RelativePath, at: datetime) -> None:
        """Count one more read of the file."""
        self._tell(Event(EventKind.READ, path=path))
        with self._lock:
            self._run(
                "INSERT INTO reads VALUES (?, 1, ?) ON CONFLICT (path) DO UPDATE"
                " SET count = count + 1, last = max(last, excluded.last)",
                (path.value.encode("utf-8", "surrogatepass"), format_instant(at)),
            )

    def items(self) -> Sequence[ContextItem]:
        """Every file that was ever read, the best score first."""
        with self._lock:
            rows = self._run("SELECT * FROM reads")
        items = []
        for path, count, last in rows:
            with suppress(ValueError, TypeError, AttributeError, Failure):
                file = RelativePath(path.decode("utf-8", "surrogatepass"))
                items.append(ContextItem(file, count, parse_instant(last)))
        return ranked(items, self._clock.now())

    # -- the file

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """What a statement answers; nothing where it cannot be run."""
        if self._clock.monotonic() < self._next_try:
            return []
        for _ in range(2):
            try:
                if self._connection is None:
                    self._connection = self._opened()
                return self._connection.execute(statement, values).fetchall()
            except (OSError, sqlite3.OperationalError, Failure):
                break
            except sqlite3.Error:
                self._put_aside()
        self._next_try = self._clock.monotonic() + PAUSE_SECONDS
        return []

    def _put_aside(self) -> None:
        """Give a damaged file another name; the next call makes a new one."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        with suppress(OSError, Failure), self._folder.lock(LOCK, SECONDS):
            for suffix in ("-wal", "-shm"):  # the log of a file that is gone would be read into the new one
                with suppress(FileNotFoundError):
                    self._folder.remove(FILE + suffix)
            self._folder.move(FILE, BROKEN)

    def _opened(self) -> sqlite3.Connection:
        """A connection to the file, made if need be; one that is damaged is put aside."""
        self._folder.make()
        path = os.path.join(self._folder.path, FILE)
        with self._folder.lock(LOCK, SECONDS):
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
            if not stat.S_ISREG(os.lstat(path).st_mode):
                raise OSError(errno.EINVAL, "it is no file of ours")
            connection = sqlite3.connect(path, timeout=SECONDS, isolation_level=None, check_same_thread=False)
            try:
                connection.executescript(_TABLES)
                newest = f"SELECT id FROM sessions ORDER BY started DESC LIMIT {KEPT}"
                connection.execute(f"DELETE FROM sessions WHERE id NOT IN ({newest})")
            except sqlite3.Error:
                connection.close()
                raise
        weakref.finalize(self, connection.close)  # whoever opens the ports need not close them
        return connection
