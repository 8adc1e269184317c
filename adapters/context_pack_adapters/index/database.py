"""One SQLite file in the user's cache: read by many, written by one, made anew when it cannot be used.

Everything in it is derived, so a file that is damaged, foreign or of another version is removed and an empty
one takes its place; `notices()` tells of it. A file that was deleted or replaced is seen before every use.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.ports import DAMAGED
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.opening import AnyPlace
from context_pack_adapters.disk.private import FILE_MODE, PrivateFolder
from context_pack_adapters.serving import check_call

T = TypeVar("T")
VERSION = 4
STEPS = 20_000
"""SQLite steps between two looks at whether the call is still wanted: well under a millisecond."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_TABLES = """
CREATE TABLE state (recipe TEXT NOT NULL, revision INTEGER NOT NULL);
CREATE TABLE corpora (name BLOB PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, corpus BLOB NOT NULL, key BLOB NOT NULL, digest TEXT NOT NULL,
    stamp TEXT NOT NULL, title TEXT NOT NULL, size INTEGER NOT NULL, kind TEXT NOT NULL,
    module TEXT NOT NULL, facts TEXT NOT NULL, count INTEGER NOT NULL, UNIQUE (corpus, key));
CREATE TABLE contents (entry INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE, text BLOB NOT NULL);
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, heading TEXT NOT NULL,
    facts TEXT NOT NULL, digest BLOB NOT NULL, text TEXT NOT NULL, context TEXT NOT NULL, names TEXT NOT NULL);
CREATE INDEX pieces_entry ON pieces (entry);
CREATE INDEX pieces_digest ON pieces (digest);
CREATE VIRTUAL TABLE words USING fts5(names, body, tokenize='ascii');
CREATE VIRTUAL TABLE terms USING fts5vocab(words, row);
CREATE TRIGGER forget_words AFTER DELETE ON pieces BEGIN DELETE FROM words WHERE rowid = old.id; END;
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT, embedder TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
    UNIQUE (embedder, digest));
CREATE TABLE wanted (
    piece INTEGER PRIMARY KEY REFERENCES pieces ON DELETE CASCADE, times INTEGER NOT NULL);
INSERT INTO sqlite_sequence VALUES ('pieces', abs(random()) >> 20);
"""


def connect(path: str, timeout: float, mode: str = "rw") -> sqlite3.Connection:
    """A connection to an index file; what it computes ends with the call that it is for."""
    connection = sqlite3.connect(
        f"{Path(path).absolute().as_uri()}?mode={mode}",
        uri=True, timeout=timeout, isolation_level=None, check_same_thread=False,
    )  # fmt: skip
    connection.set_progress_handler(_is_unwanted, STEPS)
    for setting in (
        "synchronous = NORMAL",
        "foreign_keys = ON",
        "temp_store = MEMORY",
        "cache_size = -16384",
    ):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _is_unwanted() -> bool:
    try:
        check_call()
    except Exception:  # told again when SQLite has stopped
        return True
    return False


def pieces_in(path: Path, embedder: str = "") -> int:
    """How many pieces an index file has, or has embedded; 0 if it is not there or cannot be read."""
    sql = "SELECT COUNT(*) FROM pieces"
    if embedder:
        sql += " WHERE digest IN (SELECT digest FROM vectors WHERE embedder = ?)"
    try:
        with closing(connect(str(path), 0.1, "ro")) as connection:
            return int(connection.execute(sql, (embedder,) if embedder else ()).fetchone()[0])
    except sqlite3.Error:
        return 0


class Database:
    """The file of an index; safe for threads and processes."""

    def __init__(self, place: AnyPlace, recipe: str, timeout: float) -> None:
        self._folder, self.name = PrivateFolder.around(place)
        self.path = os.path.join(self._folder.path, self.name)
        self._recipe, self._timeout = f"{VERSION} {recipe}", timeout
        self._opening, self._writing = Lock(), Lock()
        self._idle: list[sqlite3.Connection] = []
        self._inode: tuple[int, int] | None = None
        self._broken = ""
        self._notices: list[str] = []

    def tell(self, notice: str) -> None:
        """Queue a notice for the user."""
        self._notices.append(notice)

    def notices(self) -> list[str]:
        """The queued notices; each is returned once."""
        notices, self._notices = self._notices, []
        return notices

    def close(self) -> None:
        """Close what is idle; the next use opens the file again."""
        self._inode = None
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees the newest state until the block ends."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            connection.execute("SELECT revision FROM state").fetchone()  # now, not with the first question
            yield connection

    def read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What the newest state answers; asked again where the file proves damaged."""
        return self._again(lambda: self._read(ask))

    def _read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        with self.reading() as connection:
            return ask(connection)

    def write(self, change: Callable[[sqlite3.Connection], T], wait: bool = True) -> T:
        """Make a change in one transaction: all of it or, if it raises, nothing."""
        return self._again(lambda: self._write(change, wait))

    def _write(self, change: Callable[[sqlite3.Connection], T], wait: bool) -> T:
        if not self._writing.acquire(timeout=self._timeout if wait else 0):
            raise self._locked()
        try:
            with self._connection() as connection:
                connection.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000) if wait else 0}")
                connection.execute("BEGIN IMMEDIATE")
                done = change(connection)
                connection.execute("UPDATE state SET revision = revision + 1")
                connection.execute("COMMIT")
                return done
        finally:
            self._writing.release()

    def _again(self, work: Callable[[], T]) -> T:
        """Do the work; once more, on a new file, where this one is damaged."""
        try:
            return work()
        except Failure as failure:
            if failure.details.get("reason") != DAMAGED:
                raise
        return work()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """An idle connection, or a new one; what SQLite raises becomes a failure."""
        try:
            connection = self._borrow()
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._idle.append(connection)
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _borrow(self) -> sqlite3.Connection:
        with self._opening:
            if self._inode is None or self._broken or self._inode != _inode(self.path):
                with translated(self.name):
                    self._open()
            return self._idle.pop() if self._idle else connect(self.path, self._timeout)

    def _open(self) -> None:
        was_open = self._inode is not None
        self.close()
        self._folder.make()
        with self._folder.lock(f"{self.name}.lock", self._timeout):
            if was_open and not os.path.exists(self.path):
                self.tell(f"{self.name} was gone; it is built anew")
            if self._broken:
                self._remove(f"was damaged ({self._broken})")
            for _ in range(2):
                # Never a file that is there: closing it would drop the locks that SQLite has on it.
                with suppress(FileExistsError):
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
                try:
                    with closing(connect(self.path, self._timeout)) as connection:
                        if self._is_ours(connection):
                            break
                    self._remove("is of another version")
                except sqlite3.DatabaseError as error:
                    if _code(error) not in _BROKEN:
                        raise
                    self._remove(f"was damaged ({error})")
            self._inode = _inode(self.path)

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file was made with our recipe; an empty one is made now."""
        if connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] == 0:
            connection.execute("PRAGMA page_size = 16384")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
            connection.execute("INSERT INTO state VALUES (?, abs(random()) >> 20)", (self._recipe,))
        return bool(connection.execute("SELECT recipe FROM state").fetchone() == (self._recipe,))

    def _remove(self, why: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(self.path + suffix)
        self._broken = ""
        self.tell(f"{self.name} {why}; it is built anew")

    def _failure(self, error: sqlite3.Error) -> Failure:
        """The failure for what SQLite raised; a file that is damaged is removed at the next use."""
        code = _code(error)
        if code == sqlite3.SQLITE_INTERRUPT:
            check_call()  # raises what made SQLite stop
        if code in _BUSY:
            return self._locked()
        details = {"file": self.name, "reason": getattr(error, "sqlite_errorname", "unknown")}
        if code in _BROKEN:
            self._broken = str(error)
            details["reason"] = DAMAGED
        return Failure(Code.IO_ERROR, f"{self.name}: {error}", details)

    def _locked(self) -> Failure:
        hint = "another process is writing to the index; wait a moment and try again"
        return Failure(
            Code.LOCK_TIMEOUT, f"{self.name} stayed locked: {hint}", {"lock": self.name, "hint": hint}
        )


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _inode(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
