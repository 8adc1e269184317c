"""The tables of an index file, and the checks that a file is ours and usable.

The file says who made it (`application_id`), in which shape (`user_version`), and with which fast embedder,
dimension, chunker and tokens (`state`). Anything else about it is derived from the entries that were stored.

Pieces have ids that are never used twice: an entry's pieces are one run of ids, so that an entry is a range,
and a new file begins at another number than the last one, so that what was meant for a piece of the old file
never hits one of the new. In the keyword index a piece goes by its slot, which a later version of it takes
over. Its words are taken out by counting them again, so an index made with other tokens is made anew.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from functools import lru_cache
from typing import NamedTuple

from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.words import TOKENS
from context_pack_adapters.index.faults import Damaged

OLDEST_SQLITE = (3, 35, 0)
APPLICATION_ID = 0x63704978
SCHEMA_VERSION = 3
PAGE_BYTES = 16384
"""A vector of 512 numbers takes 2 KiB: pages of 4 KiB would stay half empty."""
CHECKED_BYTES = 32 * 1024 * 1024
"""A file of at most this size is looked at everywhere when it is opened: it takes some milliseconds."""
K1, B = 1.2, 0.75
NAMES_WEIGHT = 3
"""What a word of a name counts, in words of the text."""

_TABLES = """
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    fast TEXT NOT NULL, dimension INTEGER NOT NULL, chunker TEXT NOT NULL, tokens TEXT NOT NULL,
    revision INTEGER NOT NULL, removals INTEGER NOT NULL, next_piece INTEGER NOT NULL,
    birth INTEGER NOT NULL);
CREATE TABLE corpora (name BLOB PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, corpus BLOB NOT NULL, key BLOB NOT NULL, digest TEXT NOT NULL,
    stamp TEXT NOT NULL, title TEXT NOT NULL, size INTEGER NOT NULL, kind TEXT NOT NULL,
    module TEXT NOT NULL, facts TEXT NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL,
    UNIQUE (corpus, key));
CREATE TABLE contents (entry INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY, entry INTEGER NOT NULL, ordinal INTEGER NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, heading TEXT NOT NULL, facts TEXT NOT NULL, text TEXT NOT NULL,
    context TEXT NOT NULL, names TEXT NOT NULL, digest BLOB NOT NULL, slot INTEGER NOT NULL);
CREATE INDEX pieces_digest ON pieces (digest);
CREATE TABLE blocks (block INTEGER PRIMARY KEY, pieces BLOB NOT NULL);
CREATE TABLE postings (
    block INTEGER NOT NULL, word TEXT NOT NULL, pairs BLOB NOT NULL, PRIMARY KEY (block, word)) WITHOUT ROWID;
CREATE TABLE embedders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL);
CREATE TABLE retired (
    id INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
    UNIQUE (embedder, digest));
CREATE TABLE wanted (piece INTEGER PRIMARY KEY, times INTEGER NOT NULL);
"""


_SEQUENCE = ("table", "sqlite_sequence", "sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)")
Schema = frozenset[tuple[str, str, str, str | None]]


class IndexRecipe(NamedTuple):
    """The embedder, the chunker and the tokens that an index was made with; others need a new index."""

    fast: str
    dimension: int
    chunker: str
    tokens: str = TOKENS


class StoredState(NamedTuple):
    """Counters of an index: `revision` counts its changes, `removals` the removed pieces.

    `birth` is the first piece's id, which no two files share.
    """

    revision: int
    removals: int
    next_piece: int
    birth: int


def create(connection: sqlite3.Connection, maker: IndexRecipe) -> None:
    """Make an empty index in an empty file."""
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    _create_tables(connection)
    first = first_piece()
    connection.execute("INSERT INTO state VALUES (1, ?, ?, ?, ?, 0, 0, ?, ?)", (*maker, first, first))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _create_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def lacking(version: tuple[int, ...]) -> str | None:
    """What SQLite of that version lacks for an index, in words; None for nothing."""
    if version >= OLDEST_SQLITE:
        return None
    return f"SQLite {'.'.join(map(str, version))} is too old, it must be {'.'.join(map(str, OLDEST_SQLITE))}"


def check_library() -> None:
    """Look whether this Python's SQLite can hold an index at all.

    Raises:
        Failure: it cannot.
    """
    lacks = lacking(sqlite3.sqlite_version_info)
    if lacks is not None:
        hint = "use a Python from python.org, a distribution or conda"
        raise Failure(Code.IO_ERROR, f"no index can be made: {lacks}; {hint}", {"reason": "sqlite"})


def first_piece() -> int:
    """The first piece id of a new file: random, with room for four million before the next such start."""
    return int.from_bytes(os.urandom(3), "big") << 22 | 1


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether the file has no tables."""
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    return bool(tables == 0)


def mismatch(connection: sqlite3.Connection, maker: IndexRecipe) -> str | None:
    """Why this index must be built anew although it is whole; None when it can be used.

    Raises:
        Damaged: it is no index of ours.
    """
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    if owner != APPLICATION_ID:
        raise Damaged("another program's file")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA_VERSION:
        return f"its format is version {version}, not {SCHEMA_VERSION}"
    check_schema(connection)
    row = connection.execute("SELECT fast, dimension, chunker, tokens FROM state WHERE one = 1").fetchone()
    if row is None:
        raise Damaged("its first row is missing")
    found = IndexRecipe(*row)
    if found.chunker != maker.chunker:
        return f"its texts were cut by {found.chunker}, not {maker.chunker}"
    if found.tokens != maker.tokens:
        return f"its words are those of {found.tokens}, not {maker.tokens}"
    if found != maker:
        return f"its vectors are of {found.fast}, not {maker.fast}"
    return None


def check_schema(connection: sqlite3.Connection) -> None:
    """Look whether the file has exactly our tables, before any of them is asked.

    Raises:
        Damaged: something is missing, else, or too much: a view or a trigger could compute without end.
    """
    found = _schema_of(connection)
    numbers = (name.removeprefix("vectors_") for kind, name, *_ in found if kind == "table")
    embedders = frozenset(number for number in numbers if number.isascii() and number.isdigit())
    if found != _own_schema(frozenset(map(int, embedders))):
        raise Damaged("its tables are not ours")


@lru_cache(maxsize=4)
def _own_schema(embedders: frozenset[int]) -> Schema:
    """The schema of an index with vectors of these embedders, as this SQLite writes it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        _create_tables(connection)
        for embedder in embedders:
            create_vectors(connection, embedder)
        return _schema_of(connection)


def _schema_of(connection: sqlite3.Connection) -> Schema:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    # The table of the largest numbers comes with the first of the vectors and stays.
    return frozenset(rows) - {_SEQUENCE}


def check_structure(connection: sqlite3.Connection) -> None:
    """Look at the structure of a whole file.

    Raises:
        Damaged: something in it does not fit.
    """
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise Damaged("its structure is broken")


def state_of(connection: sqlite3.Connection) -> StoredState:
    """The counters of the index, as this connection sees them."""
    row = connection.execute(
        "SELECT revision, removals, next_piece, birth FROM state WHERE one = 1"
    ).fetchone()
    if row is None or not all(isinstance(number, int) for number in row):
        raise Damaged("its state does not decode")
    return StoredState(*row)


def vector_table(embedder: int) -> str:
    """The table of an embedder's vectors: `seq` counts them as they came, and no number comes twice."""
    return f"vectors_{embedder}"


def create_vectors(connection: sqlite3.Connection, embedder: int) -> None:
    """Make the table of an embedder's vectors."""
    connection.execute(
        f"CREATE TABLE {vector_table(embedder)} (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
        " piece INTEGER NOT NULL UNIQUE, vector BLOB NOT NULL)"
    )
