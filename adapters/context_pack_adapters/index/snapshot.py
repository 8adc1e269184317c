"""One state of a SQLite index: every question of the port `Snapshot`, answered in one read transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from context_pack.retrieval.model import FoundPiece, IndexEntry, PieceHit, Progress, Scope, Summary
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.graph import Graphs
from context_pack_adapters.index.keyword_search import keyword_hits, prepared
from context_pack_adapters.index.vectors import (
    HeldVectors,
    as_vector,
    cosines,
    embedding_text,
    loaded,
    mean,
)

LARGEST = 2**62
"""A number above every count and id that SQLite still takes."""
_FOUND = """
SELECT p.id, e.corpus, e.key, e.title, p.ordinal, e.count, p.text, p.start, p.end, p.heading, e.kind,
       e.module, p.facts, e.facts FROM pieces p JOIN entries e ON e.id = p.entry
WHERE p.id IN (SELECT value FROM json_each(?))"""
_HAS_VECTOR = "EXISTS (SELECT 1 FROM vectors v WHERE v.embedder = ? AND v.digest = p.digest)"


class Damaged(sqlite3.DatabaseError):
    """A stored value is not what was stored: the file is damaged, though SQLite does not see it."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def from_facts(value: str) -> dict[str, Any]:
    """Facts as they were given."""
    try:
        facts: dict[str, Any] = json.loads(value)
    except ValueError:
        raise Damaged("a stored value cannot be read") from None
    return facts


class Condition(NamedTuple):
    """What stands behind a WHERE, and what its question marks stand for."""

    sql: str = "1"
    values: tuple[object, ...] = ()


def condition(scope: Scope) -> Condition:
    """The rows of `entries` that a scope admits."""
    parts: list[str] = []
    values: list[object] = []
    for column, names in (("corpus", scope.corpora), ("kind", scope.kinds)):
        if names is not None:
            parts.append(f"{column} IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(names))
    if scope.module:
        parts.append("module = ?")
        values.append(scope.module)
    if scope.without is not None:
        parts.append("NOT (corpus = ? AND key = ?)")
        values += scope.without
    return Condition(" AND ".join(parts) or "1", tuple(values))


class SqliteSnapshot:
    """A state as one connection sees it; used by one thread, inside `reading()`."""

    def __init__(self, connection: sqlite3.Connection, vectors: HeldVectors, graphs: Graphs) -> None:
        self._connection, self._vectors, self._graphs = connection, vectors, graphs
        self._within = lru_cache(self._condition)
        # A question's words are counted once, for its hits and for the best score that they could reach.
        self._prepared = lru_cache(partial(prepared, connection))

    def _condition(self, scope: Scope) -> Condition:
        """The condition on a `piece` by which a scope admits it; none where it admits all there are."""
        sql, values = condition(scope)
        others = self._connection.execute(f"SELECT 1 FROM entries WHERE NOT ({sql}) LIMIT 1", values)
        if others.fetchone() is None:
            return Condition()
        pieces = f"SELECT pieces.id FROM pieces JOIN entries ON entries.id = entry WHERE {sql}"
        return Condition(f"piece IN ({pieces})", values)

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""
        query = self._prepared(tuple(words))
        return keyword_hits(self._connection, query, *self._within(scope), limit)

    def named(self, names: Sequence[str], scope: Scope, limit: int) -> Sequence[int]:
        """Pieces whose heading is one of these names, or ends in it after a dot, in their order."""
        (within, values), pieces = self._within(scope), set[int]()
        for name in names:
            for word in tokens(name)[:1]:  # the first token of a name is all of it
                rows = self._connection.execute(
                    "SELECT id AS piece FROM pieces WHERE (heading = ? OR substr(heading, ?) = ?)"
                    f" AND id IN (SELECT rowid FROM words WHERE words MATCH ?) AND {within}",
                    (name, -len(name) - 1, f".{name}", f'names : "{word}"', *values),
                )
                pieces.update(piece for (piece,) in rows)
        return sorted(pieces)[:limit]

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens."""
        return self._prepared(tuple(words)).ideal

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""
        vector, within = as_vector(vector), self._within(scope)
        if len(vector) != self.dimension(embedder):
            return []
        near = self._graphs.near(self._connection, embedder, vector, limit) if within == Condition() else None
        hits = [] if near is None else loaded(self._connection, embedder, near).nearest(vector, limit)
        if len(hits) == limit:
            return hits
        admitted = None
        if within != Condition():
            sql = f"SELECT piece FROM (SELECT id AS piece FROM pieces) WHERE {within.sql}"
            admitted = [piece for (piece,) in self._connection.execute(sql, within.values)]
        return self._vectors.of(self._connection, embedder, len(vector)).nearest(vector, limit, admitted)

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The cosine of each of these pieces that has a vector of that embedder."""
        if len(vector) != self.dimension(embedder):
            return {}
        having = loaded(self._connection, embedder, pieces)
        return dict(zip(having.pieces.tolist(), cosines(having.vectors, vector).tolist(), strict=True))

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors; None when it has none."""
        rows = self._connection.execute(
            "SELECT p.id FROM pieces p JOIN entries e ON e.id = p.entry WHERE corpus = ? AND key = ?",
            (corpus, key),
        )
        return mean(loaded(self._connection, embedder, [piece for (piece,) in rows]).vectors)

    def dimension(self, embedder: str) -> int:
        """How long the vectors of that embedder are; 0 when there never was one."""
        sql = "SELECT length(vector) / 4 FROM vectors WHERE embedder = ? LIMIT 1"
        row = self._connection.execute(sql, (embedder,)).fetchone()
        return 0 if row is None else int(row[0])

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope; counted once for a state."""
        (revision,) = self._connection.execute("SELECT revision FROM state").fetchone()
        state = (revision, embedder, scope)
        if (progress := self._vectors.progress.get(state)) is None:
            sql, values = condition(scope)
            joined = f"FROM pieces p JOIN entries e ON e.id = p.entry WHERE {sql}"
            counts = f"SELECT COUNT(*), SUM({_HAS_VECTOR}) {joined}"
            total, done = self._connection.execute(counts, (embedder, *values)).fetchone()
            progress = Progress(done or 0, total)
            self._vectors.progress = {state: progress}
        return progress

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder and what to embed: named ones first, then the newest."""
        within = self._within(scope)
        rows = self._connection.execute(
            "SELECT piece, context, text FROM (SELECT id AS piece, heading, context, text FROM pieces p"
            f" WHERE NOT {_HAS_VECTOR}) WHERE {within.sql} ORDER BY heading = '', piece DESC LIMIT ?",
            (embedder, *within.values, limit),
        )
        return {piece: embedding_text(context, text) for piece, context, text in rows}

    def found(self, pieces: Sequence[int]) -> Sequence[FoundPiece]:
        """These pieces, in that order; those that are gone are left out."""
        rows = self._connection.execute(_FOUND, (json.dumps(pieces),))
        by_id = {row[0]: FoundPiece(*row[:-2], *map(from_facts, row[-2:])) for row in rows}
        return [by_id[piece] for piece in pieces if piece in by_id]

    def entry(self, corpus: str, key: str) -> IndexEntry | None:
        """One entry with its text, without its pieces."""
        row = self._connection.execute(
            "SELECT digest, stamp, title, size, text, kind, module, facts FROM entries"
            " WHERE corpus = ? AND key = ?",
            (corpus, key),
        ).fetchone()
        if row is None:
            return None
        digest, stamp, title, size, text, kind, module, facts = row
        return IndexEntry(
            corpus, key, digest, stamp, title, size, text, kind, module, facts=from_facts(facts)
        )

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""
        rows = self._connection.execute(
            "SELECT key, title, size FROM entries WHERE corpus = ? ORDER BY key LIMIT ? OFFSET ?",
            (corpus, -1 if limit is None else limit, min(offset, LARGEST)),
        )
        return [Summary(corpus, *row) for row in rows]

    def counts(self) -> Mapping[str, int]:
        """How many entries each corpus has; one that was only noted has none."""
        rows = self._connection.execute(
            "SELECT name, (SELECT COUNT(*) FROM entries WHERE corpus = name) FROM"
            " (SELECT name FROM corpora UNION SELECT corpus FROM entries)"
        )
        return dict(rows.fetchall())

    def corpus_facts(self, corpus: str) -> Mapping[str, Any] | None:
        """What was noted of a corpus; None for one that was never noted."""
        row = self._connection.execute("SELECT facts FROM corpora WHERE name = ?", (corpus,)).fetchone()
        return None if row is None else from_facts(row[0])
