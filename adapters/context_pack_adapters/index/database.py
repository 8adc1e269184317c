"""One SQLite file in the user's cache: read by many, written by one, made anew when it cannot be used.

Everything in it is derived, so a file that is damaged, foreign or of another version is removed and an empty
one takes its place; `notices()` tells of it. A file that was deleted or replaced is seen before every use.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.ports import DAMAGED
from context_pack.toolkit.call import check_call
from context_pack_adapters.files.faults import translated
from context_pack_adapters.files.folder import FILE_MODE, PrivateFolder
from context_pack_adapters.files.opening import AnyPlace

T = TypeVar("T")
VERSION = 5
STEPS = 20_000
"""SQLite steps between two looks at whether the call is still wanted: well under a millisecond."""
SLICE_MS = 100
"""How long SQLite waits for another writer between two such looks."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# A whole text stands last in its row: who asks for the columns before it never reads its pages. Ids and
# revisions begin at random, so that what a process or a graph remembers of a file that is gone fits no other.
_TABLES = """
CREATE TABLE state (recipe TEXT NOT NULL, revision INTEGER NOT NULL);
CREATE TABLE corpora (name BLOB PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, corpus BLOB NOT NULL, key BLOB NOT NULL, digest TEXT NOT NULL,
    stamp TEXT NOT NULL, title TEXT NOT NULL, size INTEGER NOT NULL, kind TEXT NOT NULL,
    module TEXT NOT NULL, facts TEXT NOT NULL, count INTEGER NOT NULL, text BLOB NOT NULL,
    UNIQUE (corpus, key));
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    ordinal INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, heading TEXT NOT NULL,
    facts TEXT NOT NULL, digest BLOB NOT NULL, text TEXT NOT NULL, context TEXT NOT NULL,
    names TEXT NOT NULL);
CREATE INDEX pieces_entry ON pieces (entry);
CREATE INDEX pieces_digest ON pieces (digest);
CREATE VIRTUAL TABLE words USING fts5(names, body, tokenize='ascii');
CREATE VIRTUAL TABLE terms USING fts5vocab(words, row);
CREATE TRIGGER forget_words AFTER DELETE ON pieces BEGIN DELETE FROM words WHERE rowid = old.id; END;
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT, embedder TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
    UNIQUE (embedder, digest));
INSERT INTO sqlite_sequence VALUES ('pieces', abs(random()) >> 20), ('vectors', abs(random()) >> 20);
"""


def connect(path: str, timeout: float = 0.1, mode: str = "rw") -> sqlite3.Connection:
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


class IndexFile:
    """The file of an index; safe for threads and processes."""

    def __init__(self, place: AnyPlace, recipe: str, timeout: float) -> None:
        self._folder, self.name = PrivateFolder.around(place)
        self.path = os.path.join(self._folder.path, self.name)
        self._recipe, self._timeout = f"{VERSION} {recipe}", timeout
        self._opening = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._inode: tuple[int, int] | None = None
        self._times_opened = 0
        self._damage = ""
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
        self._times_opened += 1
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

        def read() -> T:
            with self.reading() as connection:
                return ask(connection)

        return _twice(read)

    def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Make a change in one transaction: all of it or, if it raises, nothing."""

        def write() -> T:
            with self._connection() as connection:
                self._begin(connection)
                changed = change(connection)
                connection.execute("UPDATE state SET revision = revision + 1")
                connection.execute("COMMIT")
                return changed

        return _twice(write)

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Become the one writer, as long as the call is wanted and the others do not take too long."""
        end = time.monotonic() + self._timeout
        connection.execute(f"PRAGMA busy_timeout = {SLICE_MS}")
        while not connection.in_transaction:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if _code(error) not in _BUSY or time.monotonic() > end:
                    raise
                check_call()
        connection.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000)}")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """An idle connection, or a new one; what SQLite raises becomes a failure."""
        try:
            connection, opened = self._borrow()
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if opened == self._times_opened:
                    self._idle.append(connection)
                else:  # it sees a file that is gone
                    connection.close()
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _borrow(self) -> tuple[sqlite3.Connection, int]:
        with self._opening:
            if self._inode is None or self._damage or self._inode != _inode(self.path):
                with translated(self.name):
                    self._open()
            return self._idle.pop() if self._idle else connect(self.path, self._timeout), self._times_opened

    def _open(self) -> None:
        """Make sure that the file is there and ours."""
        was_open = self._inode is not None
        self.close()
        self._folder.make()
        with self._folder.lock(f"{self.name}.lock", self._timeout):
            if self._damage:
                self._remove(f"was damaged ({self._damage})")
            elif was_open and not os.path.lexists(self.path):
                self.tell(f"{self.name} was gone; it is built anew")
            if os.path.islink(self.path):
                self._remove("was a link")
            for _ in range(2):
                # Never a file that is there: closing it would drop the locks that SQLite has on it.
                with suppress(FileExistsError):
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
                    self._unlink(
                        "-wal", "-shm"
                    )  # the log of a file that is gone would be read into the new one
                try:
                    with closing(connect(self.path, self._timeout)) as connection:
                        if self._is_ours(connection):
                            break
                    self._remove("is of another version")
                except sqlite3.DatabaseError as error:
                    if _code(error) not in (*_BROKEN, sqlite3.SQLITE_ERROR):  # such as "no such table"
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
        self._unlink("", "-wal", "-shm")
        self._damage = ""
        self.tell(f"{self.name} {why}; it is built anew")

    def _unlink(self, *suffixes: str) -> None:
        for suffix in suffixes:
            with suppress(FileNotFoundError):
                os.unlink(self.path + suffix)

    def _failure(self, error: sqlite3.Error) -> Failure:
        """The failure for what SQLite raised; a file that is damaged is removed at the next use."""
        code = _code(error)
        if code == sqlite3.SQLITE_INTERRUPT:
            check_call()  # raises what made SQLite stop
        if code in _BUSY:
            hint = "another process is writing to the index; wait a moment and try again"
            details = {"lock": self.name, "hint": hint}
            return Failure(Code.LOCK_TIMEOUT, f"{self.name} stayed locked: {hint}", details)
        details = {"file": self.name, "reason": getattr(error, "sqlite_errorname", "unknown")}
        if code in _BROKEN:
            self._damage = str(error)
            details["reason"] = DAMAGED
            return Failure(Code.IO_ERROR, f"{self.name} is damaged and is built anew: ask again", details)
        hint = (
            "free some space on the disk" if code == sqlite3.SQLITE_FULL else "see whether it can be written"
        )
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


def _inode(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
