"""The index on disk: one SQLite file per kind of thing searched, read and written by many processes.

Implements `retrieval.ports.SearchIndex`. Vectors are kept by the digest of the embedded text, so a text that
comes back, or stands in two places, is embedded once.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from context_pack.retrieval.model import IndexEntry, KnownEntry, Scope
from context_pack.retrieval.ports import OTHER_VECTORS, Embedder, Stop
from context_pack.retrieval.words import TOKENS
from context_pack_adapters.files.opening import AnyPlace
from context_pack_adapters.index.database import IndexFile
from context_pack_adapters.index.graph import GRAPH_AT, Graphs
from context_pack_adapters.index.preparing import BATCH_PIECES, Prepared, batches, prepare
from context_pack_adapters.index.snapshot import SqliteSnapshot
from context_pack_adapters.index.values import (
    batched,
    from_facts,
    from_name,
    placeholders,
    to_content,
    to_facts,
    to_name,
)
from context_pack_adapters.index.vectors import HeldVectors, to_blobs

WRITE_SECONDS = 30.0
"""How long a writer waits for the others; each of them is done within about a second."""
UNUSED_VECTORS = 50_000
"""How many vectors without a piece are kept, should their text come back."""


class SqliteIndex:
    """A search index in one file; nothing is opened before it is needed."""

    def __init__(
        self,
        place: AnyPlace,
        fast: Embedder,
        *,
        chunker: str,
        timeout: float = WRITE_SECONDS,
        graph_at: int = GRAPH_AT,
    ) -> None:
        self._database = IndexFile(place, f"{fast.id} {fast.dimension} {chunker} {TOKENS}", timeout)
        self._fast = fast
        self._vectors, self._graphs = HeldVectors(), Graphs(self._database.path, graph_at)
        self._closed = weakref.finalize(self, self._database.close)

    def close(self) -> None:
        """Close the file and give the memory back; the next call opens it again."""
        self._database.close()
        self._vectors.forget()

    @contextmanager
    def reading(self) -> Iterator[SqliteSnapshot]:
        """The newest state, for as long as the context is open."""
        with self._database.reading() as connection:
            yield SqliteSnapshot(connection, self._vectors, self._graphs)

    def known(self, corpus: str) -> Mapping[str, KnownEntry]:
        """Digest and stamp of each entry of a corpus, by key."""
        return self.known_each([corpus])[corpus]

    def known_each(self, corpora: Sequence[str]) -> Mapping[str, Mapping[str, KnownEntry]]:
        """What `known` says of each of these corpora, by corpus, in one state."""

        def ask(connection: sqlite3.Connection) -> Mapping[str, Mapping[str, KnownEntry]]:
            sql = "SELECT key, digest, stamp FROM entries WHERE corpus = ? ORDER BY key"
            return {
                each: {
                    from_name(key): KnownEntry(*rest)
                    for key, *rest in connection.execute(sql, (to_name(each),))
                }
                for each in corpora
            }

        return self._database.read(ask)

    def facts(self, corpus: str) -> Mapping[str, Mapping[str, Any]]:
        """The facts of those entries of a corpus that have some, by key."""
        sql = "SELECT key, facts FROM entries WHERE corpus = ? AND facts <> '{}' ORDER BY key"
        rows = self._database.read(lambda connection: connection.execute(sql, (to_name(corpus),)).fetchall())
        return {from_name(key): from_facts(facts) for key, facts in rows}

    def replace(self, entries: Iterable[IndexEntry]) -> None:
        """Store these entries, each whole or not at all, every piece with a vector of the fast embedder."""
        for batch in batches(entries):
            prepared, vectors = prepare(batch, self._recall, self._fast)
            self._database.write(partial(_put, prepared, self._fast.id, vectors))

    def _recall(self, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """The vectors that the fast embedder once made of texts with these digests."""

        def ask(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            found: dict[bytes, bytes] = {}
            for some in batched(digests):
                within = f"embedder = ? AND digest IN ({placeholders(some)})"
                sql = f"SELECT digest, vector FROM vectors WHERE {within}"
                found.update(connection.execute(sql, (self._fast.id, *some)))
            return found

        return self._database.read(ask)

    def touch(self, corpus: str, stamps: Mapping[str, str]) -> None:
        """New stamps for entries whose content is the same."""
        sql = "UPDATE entries SET stamp = ? WHERE corpus = ? AND key = ?"
        rows = [(stamp, to_name(corpus), to_name(key)) for key, stamp in stamps.items()]
        if rows:
            self._database.write(lambda connection: connection.executemany(sql, rows))

    def forget(self, corpus: str, keys: Iterable[str] | None = None) -> None:
        """Remove these entries; without keys, the whole corpus and what was noted of it."""
        going = [(to_name(corpus), to_name(key)) for key in (self.known(corpus) if keys is None else keys)]
        sql = "DELETE FROM entries WHERE corpus = ? AND key = ?"
        # An entry has a dozen pieces as a rule: a portion is written in well under a second.
        for start in range(0, len(going), BATCH_PIECES // 10):
            some = going[start : start + BATCH_PIECES // 10]
            self._database.write(lambda connection: connection.executemany(sql, some))  # noqa: B023
        if keys is None:
            sql = "DELETE FROM corpora WHERE name = ?"
            self._database.write(lambda connection: connection.execute(sql, (to_name(corpus),)))

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""
        sql = "INSERT OR REPLACE INTO corpora (name, facts) VALUES (?, ?)"
        row = (to_name(corpus), to_facts(facts))
        self._database.write(lambda connection: connection.execute(sql, row))

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder and what to embed: named ones first, then the newest."""
        with self.reading() as snapshot:
            return snapshot.lacking(embedder, scope, limit)

    def keep(self, embedder: str, vectors: Mapping[int, Any]) -> None:
        """Store vectors of pieces; longer or shorter ones than before take the place of all older ones."""
        if not vectors:
            return
        dimension = len(next(iter(vectors.values())))
        blobs = to_blobs(vectors.values(), dimension)
        rows = [(embedder, blob, piece) for piece, blob in zip(vectors, blobs, strict=True)]

        def change(connection: sqlite3.Connection) -> bool:
            renewed = _renew(connection, embedder, dimension)
            sql = "INSERT OR IGNORE INTO vectors (embedder, digest, vector) SELECT ?, digest, ? FROM pieces"
            connection.executemany(f"{sql} WHERE id = ?", rows)
            return renewed

        if self._database.write(change):
            self._database.tell(OTHER_VECTORS)

    def renew(self, embedder: str, dimension: int) -> None:
        """Forget the vectors of that embedder if they have another length than this."""
        self._database.write(lambda connection: _renew(connection, embedder, dimension))

    def tend(self, stop: Stop) -> None:
        """Forget vectors that nobody has used for long, and make graphs of very many."""
        unused = "id <= (SELECT MAX(id) FROM vectors) - ? AND digest NOT IN (SELECT digest FROM pieces)"
        sql = f"DELETE FROM vectors WHERE {unused}"
        self._database.write(lambda connection: connection.execute(sql, (UNUSED_VECTORS,)))
        with self._database.reading() as connection:
            self._graphs.tend(connection, stop)

    def notices(self) -> Sequence[str]:
        """What the user should hear once: an index that was built anew, in one sentence each."""
        return self._database.notices()


def _put(
    batch: Sequence[Prepared], embedder: str, vectors: Mapping[bytes, bytes], connection: sqlite3.Connection
) -> None:
    """Store entries in place of those of the same name, with vectors by digest."""
    for entry, passages in batch:
        name = (to_name(entry.corpus), to_name(entry.key))
        connection.execute("DELETE FROM entries WHERE corpus = ? AND key = ?", name)
        (number,) = connection.execute(
            "INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (*name, entry.digest, entry.stamp, entry.title, entry.size, entry.kind, entry.module,
             to_facts(entry.facts), len(entry.pieces), to_content(entry.text)),
        ).fetchone()  # fmt: skip
        for at, (piece, passage) in enumerate(zip(entry.pieces, passages, strict=True), 1):
            made = connection.execute(
                "INSERT INTO pieces VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, at, piece.start, piece.end, piece.heading, to_facts(piece.facts), passage.digest,
                 piece.text, piece.context, piece.names),
            )  # fmt: skip
            words = (made.lastrowid, passage.names, passage.body)
            connection.execute("INSERT INTO words (rowid, names, body) VALUES (?, ?, ?)", words)
    connection.executemany(
        "INSERT OR IGNORE INTO vectors (embedder, digest, vector) VALUES (?, ?, ?)",
        [(embedder, digest, blob) for digest, blob in vectors.items()],
    )


def _renew(connection: sqlite3.Connection, embedder: str, dimension: int) -> bool:
    """Forget the vectors of an embedder that have another length than this; whether there were any."""
    sql = "DELETE FROM vectors WHERE embedder = ? AND length(vector) <> 4 * ?"
    return connection.execute(sql, (embedder, dimension)).rowcount > 0
