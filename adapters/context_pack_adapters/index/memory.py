"""The index in memory: the tables and queries of the one on disk, in an SQLite database without a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from context_pack.retrieval.ports import Embedder
from context_pack_adapters.index.connections import CheckedIndex
from context_pack_adapters.index.faults import translating_errors
from context_pack_adapters.index.file import IndexFile
from context_pack_adapters.index.schema import PAGE_BYTES, IndexRecipe, check_library, create
from context_pack_adapters.index.sqlite_index import SqliteIndex

T = TypeVar("T")
NEVER = 2**62
"""A threshold that is never reached: in memory there are no graph files."""


class MemoryFile(IndexFile):
    """One database that is written, and copies that are read: a reader keeps the state it began with."""

    def __init__(self, maker: IndexRecipe) -> None:
        self.name = "the index in memory"
        self._opening, self._writing = Lock(), Lock()
        self._notices = []
        self._opened = CheckedIndex(self.name, 0.0)
        self._maker = maker
        self._database: sqlite3.Connection | None = None
        self._copies: list[sqlite3.Connection] = []
        self._writes = 0

    def close(self) -> None:
        """Close all connections."""
        for connection in filter(None, (self._database, *self._copies)):
            connection.close()

    def _made(self) -> sqlite3.Connection:
        """The database, made when it is first needed."""
        if self._database is None:
            made = _database()
            check_library()
            create(made, self._maker)
            self._database = made
        return self._database

    @contextmanager
    def reading(self) -> Iterator[tuple[CheckedIndex, sqlite3.Connection]]:
        """A copy of the newest state; one that is still the newest serves the next reader."""
        assert self._opened is not None
        with self._writing:
            written = self._writes
            copy = self._copies.pop() if self._copies else _database(self._made())
        try:
            yield self._opened, copy
        finally:
            with self._writing:
                if written == self._writes:
                    self._copies.append(copy)
                else:
                    copy.close()

    def read(self, action: Callable[[sqlite3.Connection], T]) -> T:
        """The result of the action on the newest state."""
        with self.reading() as (_, connection), translating_errors(self.name):
            return action(connection)

    def write(self, action: Callable[[sqlite3.Connection], T], wait: bool = True) -> T:  # noqa: ARG002
        """Carry the action out: all of it or, if it raises, nothing."""
        with self._writing, translating_errors(self.name):
            database = self._made()
            database.execute("BEGIN")
            try:
                done = action(database)
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
            self._writes += 1
            while self._copies:
                self._copies.pop().close()
            return done


class MemoryIndex(SqliteIndex):
    """A search index in memory, for library callers and tests."""

    def __init__(self, fast: Embedder) -> None:
        self._begin(MemoryFile(IndexRecipe(fast.id, fast.dimension, "memory")), fast, "", NEVER)

    def close(self) -> None:
        """Does nothing: the data lives as long as the object."""


def _database(copied: sqlite3.Connection | None = None) -> sqlite3.Connection:
    """An empty database, or a copy of one."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    if copied is not None:
        copied.backup(connection)
    return connection
