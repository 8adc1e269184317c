"""Reads stored entries and pieces: rows become the values of the core.

`CatalogueReader` is the half of a snapshot that ranks nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from context_pack.retrieval.model import FoundPiece, IndexEntry, Piece, Summary
from context_pack_adapters.index.connections import CheckedIndex
from context_pack_adapters.index.faults import Damaged, damaged, translating_errors
from context_pack_adapters.index.values import (
    bounded,
    from_content,
    from_facts,
    from_name,
    marks,
    portions,
    to_name,
)

_PIECES = "SELECT entry, id, ordinal, text, start, end, heading, facts FROM pieces WHERE id"
_ENTRIES = "SELECT id, corpus, key, title, count, kind, module, facts FROM entries WHERE id"


def range_of(connection: sqlite3.Connection, corpus: str, key: str) -> tuple[int, int]:
    """The first and the last piece of an entry; a range with nothing in it when there are none."""
    row = connection.execute(
        "SELECT first, first + count - 1 FROM entries WHERE corpus = ? AND key = ?",
        (to_name(corpus), to_name(key)),
    ).fetchone()
    return (0, -1) if row is None else (int(row[0]), int(row[1]))


class CatalogueReader:
    """Reads entries and pieces through one connection in one state; used by one thread."""

    def __init__(self, name: str, opened: CheckedIndex, connection: sqlite3.Connection) -> None:
        self._name = name
        self._opened = opened
        self._connection = connection

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """The connection; damage that shows condemns the file and becomes a failure."""
        try:
            with translating_errors(self._name):
                yield self._connection
        except Damaged as error:
            self._opened.condemn(str(error))
            raise damaged(self._name) from error

    def _found(self, pieces: Sequence[int]) -> dict[int, FoundPiece]:
        """These pieces by their numbers; those that are gone are left out."""
        rows: list[Sequence[Any]] = []
        entries: dict[int, Sequence[Any]] = {}
        with self._guarded() as connection:
            for some in portions(pieces):
                rows += connection.execute(f"{_PIECES} IN ({marks(some)})", some)
            # Many pieces are of the same entries: each of those is read once.
            for some in portions(list({row[0] for row in rows})):
                for entry, corpus, key, *rest, facts in connection.execute(
                    f"{_ENTRIES} IN ({marks(some)})", some
                ):
                    entries[entry] = (from_name(corpus), from_name(key), *rest, from_facts(facts))
            return {row[1]: _found(row, entries[row[0]]) for row in rows if row[0] in entries}

    def entry(self, corpus: str, key: str) -> IndexEntry | None:
        """One entry with its text and pieces."""
        with self._guarded() as connection:
            row = connection.execute(
                "SELECT id, digest, stamp, title, size, kind, module, facts, first, count, text FROM entries"
                " JOIN contents ON entry = id WHERE corpus = ? AND key = ?",
                (to_name(corpus), to_name(key)),
            ).fetchone()
            if row is None:
                return None
            identity, digest, stamp, title, size, kind, module, facts, first, count, text = row
            pieces = connection.execute(
                "SELECT text, start, end, heading, context, names, facts FROM pieces"
                " WHERE id BETWEEN ? AND ? AND entry = ? ORDER BY id",
                (first, first + count - 1, identity),
            )
            return IndexEntry(
                corpus=corpus,
                key=key,
                digest=digest,
                stamp=stamp,
                title=title,
                size=size,
                text=from_content(text),
                kind=kind,
                module=module,
                pieces=tuple(_piece(row) for row in pieces),
                facts=from_facts(facts),
            )

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""
        with self._guarded() as connection:
            rows = connection.execute(
                "SELECT key, title, size, kind, module, facts FROM entries WHERE corpus = ? ORDER BY key"
                " LIMIT ? OFFSET ?",
                (to_name(corpus), -1 if limit is None else bounded(limit), bounded(offset)),
            )
            return [_summary(corpus, row) for row in rows]

    def counts(self) -> Mapping[str, int]:
        """How many entries each corpus has; one that was only noted has none."""
        with self._guarded() as connection:
            counts = {from_name(name): 0 for (name,) in connection.execute("SELECT name FROM corpora")}
            for name, count in connection.execute("SELECT corpus, COUNT(*) FROM entries GROUP BY corpus"):
                counts[from_name(name)] = count
            return counts

    def corpus_facts(self, corpus: str) -> Mapping[str, Any] | None:
        """What was noted of a corpus; None for one that was never noted."""
        with self._guarded() as connection:
            sql = "SELECT facts FROM corpora WHERE name = ?"
            row = connection.execute(sql, (to_name(corpus),)).fetchone()
            return None if row is None else from_facts(row[0])


def _found(row: Sequence[Any], entry: Sequence[Any]) -> FoundPiece:
    _, piece, ordinal, text, start, end, heading, facts = row
    corpus, key, title, total, kind, module, entry_facts = entry
    return FoundPiece(
        piece, corpus, key, title, ordinal, total, text, start,
        end, heading, kind, module, from_facts(facts), entry_facts,
    )  # fmt: skip


def _piece(row: Sequence[Any]) -> Piece:
    text, start, end, heading, context, names, facts = row
    return Piece(text, start, end, heading, context, names, from_facts(facts))


def _summary(corpus: str, row: Sequence[Any]) -> Summary:
    key, title, size, kind, module, facts = row
    return Summary(corpus, from_name(key), title, size, kind, module, from_facts(facts))
