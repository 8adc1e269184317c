"""The index on disk: one SQLite file per kind of thing searched, read and written by many processes.

Implements `retrieval.ports.SearchIndex`. The greater part of indexing is to compute tokens, digests and
vectors: it happens outside of transactions, so that a writer holds the file only while it writes.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from context_pack.retrieval.model import IndexEntry, KnownEntry, Scope
from context_pack.retrieval.ports import OTHER_VECTORS, Embedder, EmbedderFailed, Stop
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
BATCH_PIECES, BATCH_CHARACTERS, BATCH_SECONDS = 1000, 4_000_000, 1.0
EMBED_TEXTS = 256


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
        for batch in _batches(entries):
            prepared = [_prepared(entry) for entry in batch]
            texts = {passage.digest: passage.text for each in prepared for passage in each.passages}
            vectors = self._new_vectors(texts)
            self._database.write(partial(_put, prepared, self._fast.id, vectors))

    def _new_vectors(self, texts: Mapping[str, str]) -> dict[str, bytes]:
        """Vectors by digest, for those of the texts that have none yet and could be embedded."""
        sql = "SELECT digest FROM vectors WHERE embedder = ? AND digest IN (SELECT value FROM json_each(?))"
        values = (self._fast.id, json.dumps(list(texts)))
        known = self._database.read(lambda connection: {row[0] for row in connection.execute(sql, values)})
        missing = [digest for digest in texts if digest not in known]
        vectors: dict[str, bytes] = {}
        for start in range(0, len(missing), EMBED_TEXTS):
            some = missing[start : start + EMBED_TEXTS]
            try:
                made = self._fast.embed([texts[digest] for digest in some], "document")
            except EmbedderFailed:  # they are found by words, and embedded another time
                break
            vectors.update(zip(some, to_blobs(made, self._fast.dimension), strict=True))
        return vectors

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

    def _change_each(self, sql: str, rows: Sequence[Sequence[str]]) -> None:
        # An entry has a dozen pieces as a rule: a portion is written in well under a second.
        for start in range(0, len(rows), BATCH_PIECES // 10):
            some = rows[start : start + BATCH_PIECES // 10]
            self._database.write(lambda connection: connection.executemany(sql, some))  # noqa: B023

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""
        sql = "INSERT OR REPLACE INTO corpora (name, facts) VALUES (?, ?)"
        self._change_each(sql, [(corpus, _json(facts))])

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


class _Passage(NamedTuple):
    """What is written for a piece: the tokens of its names and of its text, and what is embedded of it."""

    names: str
    body: str
    text: str
    digest: str


class _Prepared(NamedTuple):
    """An entry and what is written for each of its pieces."""

    entry: IndexEntry
    passages: list[_Passage]


def _batches(entries: Iterable[IndexEntry]) -> Iterator[list[IndexEntry]]:
    """The entries in portions that are written at once: so many pieces, or what came in a second."""
    batch: list[IndexEntry] = []
    pieces = characters = 0
    begun = time.monotonic()
    for entry in entries:
        batch.append(entry)
        pieces += len(entry.pieces)
        characters += len(entry.text) + sum(len(piece.text) for piece in entry.pieces)
        late = time.monotonic() - begun > BATCH_SECONDS
        if pieces >= BATCH_PIECES or characters >= BATCH_CHARACTERS or late:
            yield batch
            batch, pieces, characters = [], 0, 0
            begun = time.monotonic()
    if batch:
        yield batch


def _prepared(entry: IndexEntry) -> _Prepared:
    passages = []
    for piece in entry.pieces:
        text = embedding_text(piece.context, piece.text)
        names, body = (" ".join(tokens(each)) for each in (piece.names, piece.text))
        passages.append(_Passage(names, body, text, digest_of(text)))
    return _Prepared(entry, passages)


def _json(facts: Mapping[str, Any]) -> str:
    return json.dumps(dict(facts), separators=(",", ":"))


def _put(
    batch: Sequence[_Prepared], embedder: str, vectors: Mapping[str, bytes], connection: sqlite3.Connection
) -> None:
    """Store entries in place of those of the same name, with vectors by digest."""
    for entry, passages in batch:
        connection.execute("DELETE FROM entries WHERE corpus = ? AND key = ?", (entry.corpus, entry.key))
        (number,) = connection.execute(
            "INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (entry.corpus, entry.key, entry.digest, entry.stamp, entry.title, entry.size, entry.kind,
             entry.module, _json(entry.facts), len(entry.pieces), entry.text),
        ).fetchone()  # fmt: skip
        for at, (piece, passage) in enumerate(zip(entry.pieces, passages, strict=True), 1):
            made = connection.execute(
                "INSERT INTO pieces VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, at, piece.start, piece.end, piece.heading, _json(piece.facts), passage.digest,
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
