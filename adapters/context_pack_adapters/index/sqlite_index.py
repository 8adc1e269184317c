"""The index on disk: one SQLite file per kind of thing searched, read and written by many processes.

Implements `retrieval.ports.SearchIndex`. The greater part of indexing is to compute tokens, digests and
vectors: it happens outside of transactions, so that a writer holds the file only while it writes, and writes
are portioned, so that writers take turns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from context_pack.retrieval.model import IndexEntry, KnownEntry, Piece, Scope
from context_pack.retrieval.ports import OTHER_VECTORS, Embedder, Stop
from context_pack.retrieval.words import TOKENS, tokens
from context_pack_adapters.files.opening import AnyPlace
from context_pack_adapters.index.database import IndexFile
from context_pack_adapters.index.graph import GRAPH_AT, Graphs
from context_pack_adapters.index.snapshot import SqliteSnapshot, from_facts
from context_pack_adapters.index.vectors import HeldVectors, digest_of, embedding_text, to_blobs

WRITE_SECONDS = 30.0
"""How long a writer waits for the others; each of them is done within about a second."""
UNUSED_VECTORS = 50_000
"""How many vectors without a piece are kept, should their text come back."""
BATCH_ENTRIES = 100
"""Entries that are written at once: one has a dozen pieces as a rule, which takes well under a second."""


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
        self.notices = self._database.notices

    def close(self) -> None:
        """Give the memory back."""
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
                each: {key: KnownEntry(*rest) for key, *rest in connection.execute(sql, (each,))}
                for each in corpora
            }

        return self._database.read(ask)

    def facts(self, corpus: str) -> Mapping[str, Mapping[str, Any]]:
        """The facts of those entries of a corpus that have some, by key."""
        sql = "SELECT key, facts FROM entries WHERE corpus = ? AND facts <> '{}' ORDER BY key"
        rows = self._database.read(lambda connection: connection.execute(sql, (corpus,)).fetchall())
        return {key: from_facts(facts) for key, facts in rows}

    def replace(self, entries: Iterable[IndexEntry]) -> None:
        """Store these entries, each whole or not at all, every piece with a vector of the fast embedder."""
        rest = iter(entries)
        while batch := list(islice(rest, BATCH_ENTRIES)):
            prepared = [(entry, [_passage_of(piece) for piece in entry.pieces]) for entry in batch]
            texts = {passage.digest: passage.text for _, passages in prepared for passage in passages}
            self._database.write(partial(_put, prepared, self._fast.id, self._new_vectors(texts)))

    def _new_vectors(self, texts: Mapping[str, str]) -> dict[str, bytes]:
        """Vectors by digest, for those of the texts that have none yet."""
        sql = "SELECT digest FROM vectors WHERE embedder = ? AND digest IN (SELECT value FROM json_each(?))"
        values = (self._fast.id, json.dumps(list(texts)))
        stored = self._database.read(lambda connection: {row[0] for row in connection.execute(sql, values)})
        missing = [digest for digest in texts if digest not in stored]
        vectors = self._fast.embed([texts[digest] for digest in missing], "document") if missing else []
        return dict(zip(missing, to_blobs(vectors, self._fast.dimension), strict=True))

    def touch(self, corpus: str, stamps: Mapping[str, str]) -> None:
        """New stamps for entries whose content is the same."""
        self._change_each(
            "UPDATE entries SET stamp = ? WHERE corpus = ? AND key = ?",
            [(stamp, corpus, key) for key, stamp in stamps.items()],
        )

    def forget(self, corpus: str, keys: Iterable[str] | None = None) -> None:
        """Remove these entries; without keys, the whole corpus and what was noted of it."""
        going = [(corpus, key) for key in (self.known(corpus) if keys is None else keys)]
        self._change_each("DELETE FROM entries WHERE corpus = ? AND key = ?", going)
        if keys is None:
            self._change_each("DELETE FROM corpora WHERE name = ?", [(corpus,)])

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""
        sql = "INSERT OR REPLACE INTO corpora (name, facts) VALUES (?, ?)"
        self._change_each(sql, [(corpus, _json(facts))])

    def _change_each(self, sql: str, rows: Sequence[Sequence[str]]) -> None:
        for start in range(0, len(rows), BATCH_ENTRIES):
            some = rows[start : start + BATCH_ENTRIES]
            self._database.write(lambda connection: connection.executemany(sql, some))  # noqa: B023

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


class _Passage(NamedTuple):
    """A piece, the tokens of its names and of its text, and what is embedded of it."""

    piece: Piece
    names: str
    body: str
    text: str
    digest: str


def _passage_of(piece: Piece) -> _Passage:
    text = embedding_text(piece.context, piece.text)
    names, body = (" ".join(tokens(words)) for words in (piece.names, piece.text))
    return _Passage(piece, names, body, text, digest_of(text))


def _json(facts: Mapping[str, Any]) -> str:
    return json.dumps(dict(facts), separators=(",", ":"))


def _put(
    prepared: Sequence[tuple[IndexEntry, Sequence[_Passage]]],
    embedder: str,
    vectors: Mapping[str, bytes],
    connection: sqlite3.Connection,
) -> None:
    """Store entries in place of those of the same name, with vectors by digest."""
    for entry, passages in prepared:
        connection.execute("DELETE FROM entries WHERE corpus = ? AND key = ?", (entry.corpus, entry.key))
        (number,) = connection.execute(
            "INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (entry.corpus, entry.key, entry.digest, entry.stamp, entry.title, entry.size, entry.kind,
             entry.module, _json(entry.facts), len(passages), entry.text),
        ).fetchone()  # fmt: skip
        for at, (piece, names, body, _, digest) in enumerate(passages, 1):
            row = connection.execute(
                "INSERT INTO pieces VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, at, piece.start, piece.end, piece.heading, _json(piece.facts), digest, piece.text,
                 piece.context),
            )  # fmt: skip
            words = (row.lastrowid, names, body)
            connection.execute("INSERT INTO words (rowid, names, body) VALUES (?, ?, ?)", words)
    connection.executemany(
        "INSERT OR IGNORE INTO vectors (embedder, digest, vector) VALUES (?, ?, ?)",
        [(embedder, digest, blob) for digest, blob in vectors.items()],
    )


def _renew(connection: sqlite3.Connection, embedder: str, dimension: int) -> bool:
    """Forget the vectors of an embedder that have another length than this; whether there were any."""
    sql = "DELETE FROM vectors WHERE embedder = ? AND length(vector) <> 4 * ?"
    return connection.execute(sql, (embedder, dimension)).rowcount > 0
