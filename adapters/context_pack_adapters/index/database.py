"""One SQLite file in the user's cache: read by many, written by one, made anew when it cannot be used.

Everything in it is derived, so a file that is damaged, foreign or of another version is removed and an empty
one takes its place; `notices()` tells of it. Every use opens the file again, which takes a millisecond: so a
file that was deleted or replaced meanwhile is seen, and nothing is shared between threads.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.ports import DAMAGED
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import FILE_MODE, PrivateFolder
from context_pack_adapters.files.opening import AnyPlace

T = TypeVar("T")
VERSION = 7
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# A whole text stands last in its row: who asks for the columns before it never reads its pages. Ids and
# revisions begin at random, so that what a process or a graph remembers of a file that is gone fits no other.
_TABLES = """
CREATE TABLE state (recipe TEXT NOT NULL, revision INTEGER NOT NULL);
CREATE TABLE corpora (name TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, corpus TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL,
    stamp TEXT NOT NULL, title TEXT NOT NULL, size INTEGER NOT NULL, kind TEXT NOT NULL,
    module TEXT NOT NULL, facts TEXT NOT NULL, count INTEGER NOT NULL, text TEXT NOT NULL,
    UNIQUE (corpus, key));
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, heading TEXT NOT NULL,
    facts TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL, context TEXT NOT NULL);
CREATE INDEX pieces_entry ON pieces (entry);
CREATE INDEX pieces_digest ON pieces (digest);
CREATE VIRTUAL TABLE words USING fts5(names, body, tokenize='ascii');
CREATE VIRTUAL TABLE terms USING fts5vocab(words, row);
CREATE TRIGGER forget_words AFTER DELETE ON pieces BEGIN DELETE FROM words WHERE rowid = old.id; END;
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT, embedder TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL,
    UNIQUE (embedder, digest));
INSERT INTO sqlite_sequence VALUES ('pieces', abs(random()) >> 20), ('vectors', abs(random()) >> 20);
"""


def connect(path: str, timeout: float = 0.1, mode: str = "rw") -> sqlite3.Connection:
    """A connection to an index file."""
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
    try:
        for setting in ("synchronous = NORMAL", "foreign_keys = ON", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {setting}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class IndexFile:
    """The file of an index; safe for threads and processes."""

    def __init__(self, place: AnyPlace, recipe: str, timeout: float) -> None:
        self._folder, self.name = PrivateFolder.around(place)
        self.path = os.path.join(self._folder.path, self.name)
        self._recipe, self._timeout = f"{VERSION} {recipe}", timeout
        self._was_there = False
        self._damage = ""
        self._notices: list[str] = []

    def tell(self, notice: str) -> None:
        """Queue a notice for the user."""
        self._notices.append(notice)

    def notices(self) -> list[str]:
        """The queued notices; each is returned once."""
        notices, self._notices = self._notices, []
        return notices

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees the newest state until the block ends."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT revision FROM state").fetchone()  # now, not with the first question
            yield connection

    def read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What the newest state answers; asked again where the file proves damaged."""

        def read() -> T:
            with self.reading() as connection:
                return ask(connection)

        return _twice(read)

    def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Make a change in one transaction: all of it or, if it raises, nothing."""

        def write() -> T:
            with self._connection() as connection:
                connection.execute("BEGIN IMMEDIATE")
                changed = change(connection)
                connection.execute("UPDATE state SET revision = revision + 1")
                connection.execute("COMMIT")
                return changed

        return _twice(write)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection to our file; closing it ends what was begun, and what SQLite raises is a failure."""
        try:
            with closing(self._opened()) as connection:
                yield connection
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _opened(self) -> sqlite3.Connection:
        """A connection to the file, which is made unless it is there and ours."""
        connection, _ = self._checked()
        if connection is None:
            with translated(self.name):
                self._folder.make()
                with self._folder.lock(f"{self.name}.lock", self._timeout):
                    connection, fault = self._checked()  # another process may have made it meanwhile
                    if connection is None:
                        connection = self._made(fault)
        self._was_there = True
        return connection

    def _checked(self) -> tuple[sqlite3.Connection | None, str]:
        """A connection if the file is there and ours, else what is wrong with it."""
        if self._damage:
            return None, f"was damaged ({self._damage})"
        if os.path.islink(self.path):
            return None, "was a link"
        if not os.path.exists(self.path):
            return None, "was gone" if self._was_there else ""
        with ExitStack() as opened:
            try:
                connection = opened.enter_context(closing(connect(self.path, self._timeout)))
                if connection.execute("SELECT recipe FROM state").fetchone() == (self._recipe,):
                    opened.pop_all()
                    return connection, ""
                fault = "is of another version"
            except sqlite3.DatabaseError as error:
                if _code(error) not in (*_BROKEN, sqlite3.SQLITE_ERROR):  # such as "no such table"
                    raise
                fault = f"was damaged ({error})" if os.path.getsize(self.path) else ""
        return None, fault

    def _made(self, fault: str) -> sqlite3.Connection:
        """A connection to an empty file in the place of what is there; the lock is held."""
        for suffix in ("", "-wal", "-shm"):  # the log of a file that is gone would be read into the new one
            with suppress(FileNotFoundError):
                os.unlink(self.path + suffix)
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
        connection = connect(self.path, self._timeout)
        connection.execute("PRAGMA page_size = 16384")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN; {_TABLES}")
        connection.execute("INSERT INTO state VALUES (?, abs(random()) >> 20)", (self._recipe,))
        connection.execute("COMMIT")
        self._damage = ""
        if fault:
            self.tell(f"{self.name} {fault}; it is built anew")
        return connection

    def _failure(self, error: sqlite3.Error) -> Failure:
        """The failure for what SQLite raised; a file that is damaged is removed at the next use."""
        code = _code(error)
        if code in _BUSY:
            hint = "another process is writing to the index; wait a moment and try again"
            details = {"lock": self.name, "hint": hint}
            return Failure(Code.LOCK_TIMEOUT, f"{self.name} stayed locked: {hint}", details)
        details = {"file": self.name, "reason": getattr(error, "sqlite_errorname", "unknown")}
        if code in _BROKEN:
            self._damage = str(error)
            details["reason"] = DAMAGED
            return Failure(Code.IO_ERROR, f"{self.name} is damaged and is built anew: ask again", details)
        full = code == sqlite3.SQLITE_FULL
        hint = "free some space on the disk" if full else "see whether it can be written"
        return Failure(Code.IO_ERROR, f"{self.name}: {error}; {hint}", details)


def _twice(work: Callable[[], T]) -> T:
    """Do the work; once more, on a new file, where the old one is damaged."""
    try:
        return work()
    except Failure as failure:
        if failure.details.get("reason") != DAMAGED:
            raise
    return work()


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; a text that is no UTF-8 has none, and is damage."""
    unknown = sqlite3.SQLITE_CORRUPT if isinstance(error, sqlite3.OperationalError) else 0
    return int(getattr(error, "sqlite_errorcode", unknown)) & 0xFF
