"""The connections to one index file as it was opened: idle readers, one writer, and what the names meant.

A connection is used by one thread at a time but belongs to none, so that threads come and go. Once the file
has been replaced the connections are closed as they come back.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TypeVar

from context_pack_adapters.index.schema import state_of

T = TypeVar("T")
Identity = tuple[int, int] | None
IDLE_READERS = 8
_SETTINGS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA cache_size = -16384",
)


def identity_of(path: str) -> Identity:
    """Which file has a name now."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


class Opened:
    """An index file that was checked and found good."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._address = Path(path).absolute().as_uri() + "?mode=rw"
        self._timeout = timeout
        self._process = os.getpid()
        self._lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._retired = False
        self.fault = ""
        self.identity: Identity = None
        self._logs: tuple[Identity, Identity] = (None, None)

    def remember(self) -> None:
        """Note which files the names mean, now that SQLite has all of them open."""
        self.identity = identity_of(self._path)
        self._logs = self._named_logs()

    def _named_logs(self) -> tuple[Identity, Identity]:
        return identity_of(self._path + "-wal"), identity_of(self._path + "-shm")

    def is_current(self) -> bool:
        """Whether this is still what the names on the disk mean, and nothing is wrong with it."""
        return (
            not self.fault
            and not self._retired
            and identity_of(self._path) == self.identity
            and not self.lost_its_log()
            # A forked child must not use its parent's connections.
            and os.getpid() == self._process
        )

    def lost_its_log(self) -> bool:
        """Whether SQLite's log was taken away while it was open, and committed changes with it."""
        return identity_of(self._path) == self.identity and self._named_logs() != self._logs

    def condemn(self, fault: str) -> None:
        """Note what is wrong with the file, so that the next call replaces it."""
        self.fault = fault or "unreadable"

    def borrow(self) -> sqlite3.Connection:
        """A connection at the beginning of a transaction that sees the newest state."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._connect()
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
            self._writer = self._connect()
        writer = self._writer
        if not wait:
            writer.execute("PRAGMA busy_timeout = 0")
        try:
            writer.execute("BEGIN IMMEDIATE")
            done = action(writer)
            writer.execute("COMMIT")
        except BaseException:
            self._undo(writer)
            raise
        finally:
            if not wait and self._writer is not None:
                writer.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000)}")
        return done

    def _undo(self, writer: sqlite3.Connection) -> None:
        try:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
        except sqlite3.Error:
            self._writer = None
            writer.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._address, uri=True, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
        except BaseException:
            connection.close()
            raise
        return connection

    def retire(self) -> None:
        """Close what nobody uses; what is in use is closed when it comes back."""
        with self._lock:
            self._retired = True
            idle, self._idle = self._idle, []
            writer, self._writer = self._writer, None
        for connection in idle:
            connection.close()
        if writer is not None:
            writer.close()
