"""The connections to one opened index file: idle readers, one writer, and the inodes of its files.

`connect` is the one place where a file is opened: nothing runs because a schema says so, and whatever SQLite
computes stops with the call that it is for. A connection is used by one thread at a time but belongs to none,
so that threads come and go. Once the file has been replaced the connections are closed as they come back.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import TypeVar

from context_pack_adapters.index.faults import Damaged, is_busy
from context_pack_adapters.index.schema import check_schema, state_of, vector_table
from context_pack_adapters.serving import check_call

T = TypeVar("T")
Identity = tuple[int, int] | None
IDLE_READERS = 8
DEFENSIVE = 1010
"""`SQLITE_DBCONFIG_DEFENSIVE`: no statement can change the schema or SQLite's own tables but by its rules."""
LOGS = ("-wal", "-shm", "-journal")
STEPS = 20_000
"""SQLite steps between two checks for cancellation: well under a millisecond."""
BUSY_SECONDS = 0.1
"""How long SQLite waits for other writers between two checks for cancellation."""
_SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA cache_size = -16384",
)


def connect(path: str, timeout: float, mode: str = "rw") -> sqlite3.Connection:
    """A connection to an index file that is there.

    Raises:
        Damaged: a log of the file is no file; SQLite would wait for what it reads there.
    """
    for suffix in LOGS:
        try:
            if not stat.S_ISREG(os.lstat(path + suffix).st_mode):
                raise Damaged(f"its {suffix[1:]} was no file")
        except (FileNotFoundError, NotADirectoryError):
            continue
    address = f"{Path(path).absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    try:
        connection.set_progress_handler(_unwanted, STEPS)
        if hasattr(connection, "setconfig"):  # from Python 3.12 on
            connection.setconfig(DEFENSIVE, True)
        for setting in _SETTINGS:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


def _unwanted() -> bool:
    """Whether the call that this thread serves was cancelled."""
    try:
        check_call()
    except Exception:  # told again when SQLite has stopped
        return True
    return False


def pieces_in(path: Path, embedder: str = "") -> int:
    """How many pieces an index file has, or has embedded; 0 if it is not there or cannot be read."""
    try:
        with closing(connect(str(path), BUSY_SECONDS, "ro")) as connection:
            check_schema(connection)
            table = "pieces"
            if embedder:
                row = connection.execute("SELECT id FROM embedders WHERE name = ?", (embedder,)).fetchone()
                if row is None:
                    return 0
                table = vector_table(int(row[0]))
            return int(connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])
    except (sqlite3.Error, Damaged):
        return 0


class CheckedIndex:
    """An index file that was checked and found good."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._process = os.getpid()
        self._lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._retired = False
        self.fault = ""
        self._names: tuple[Identity, ...] = (None, None, None)

    def remember(self) -> None:
        """Remember the inodes of the index and its log, now that SQLite has them open."""
        self._names = self._named()

    def _named(self) -> tuple[Identity, ...]:
        """Device and inode that the index and its log have on disk now."""
        found: list[Identity] = []
        for suffix in ("", "-wal", "-shm"):
            try:
                status = os.lstat(self._path + suffix)
                found.append((status.st_dev, status.st_ino))
            except OSError:
                found.append(None)
        return tuple(found)

    def is_current(self) -> bool:
        """Whether the open files are still those on disk, and undamaged."""
        # A forked child must not use its parent's connections.
        usable = not self.fault and not self._retired and os.getpid() == self._process
        return usable and self._named() == self._names

    def is_named(self) -> bool:
        """Whether the open index is still the file on disk, regardless of its log."""
        return self._named()[0] == self._names[0]

    def lost_its_log(self) -> bool:
        """Whether SQLite's log was removed while open, which loses committed changes."""
        return self.is_named() and self._named() != self._names

    def condemn(self, fault: str) -> None:
        """Note what is wrong with the file, so that the next call replaces it."""
        self.fault = fault or "unreadable"

    def borrow(self) -> sqlite3.Connection:
        """A connection at the beginning of a transaction that sees the newest state."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = connect(self._path, self._timeout)
            connection.execute("PRAGMA query_only = ON")
        try:
            connection.execute("BEGIN")
            state_of(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def give_back(self, connection: sqlite3.Connection) -> None:
        """End the transaction; keep the connection for the next reader."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            connection.close()
            return
        with self._lock:
            if not self._retired and len(self._idle) < IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    def write(self, action: Callable[[sqlite3.Connection], T], wait: bool) -> T:
        """Carry out the action in one transaction: all of it or, if it raises, nothing."""
        if self._writer is None:
            self._writer = connect(self._path, BUSY_SECONDS)
        writer = self._writer
        end = time.monotonic() + (self._timeout if wait else 0)
        try:
            while not writer.in_transaction:
                is_last = time.monotonic() >= end
                try:
                    writer.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    if is_last or not is_busy(error):
                        raise
                    check_call()
            done = action(writer)
            writer.execute("COMMIT")
        except BaseException:
            self._undo(writer)
            raise
        return done

    def _undo(self, writer: sqlite3.Connection) -> None:
        try:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
        except sqlite3.Error:
            self._writer = None
            writer.close()

    def retire(self) -> None:
        """Close idle connections; those in use are closed when they are returned."""
        with self._lock:
            self._retired = True
            idle, self._idle = self._idle, []
            writer, self._writer = self._writer, None
        for connection in idle:
            connection.close()
        if writer is not None:
            writer.close()
