"""One state of a SQLite index: every question of the port `Snapshot`, answered in one read transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from context_pack.retrieval.model import FoundPiece, IndexEntry, Piece, PieceHit, Progress, Scope, Summary
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.graph import Graphs
from context_pack_adapters.index.keyword_search import (
    KeywordQuery,
    after,
    asked,
    clean,
    counted,
    keyword_hits,
    named_pieces,
)
from context_pack_adapters.index.values import (
    Condition,
    admits_nothing,
    batched,
    bounded,
    condition,
    embedding_text,
    from_content,
    from_facts,
    from_name,
    placeholders,
    to_name,
)
from context_pack_adapters.index.vectors import HeldVectors, as_vector, cosines, loaded, mean

_FOUND = """
SELECT p.id, e.corpus, e.key, e.title, p.ordinal, e.count, p.text, p.start, p.end, p.heading, e.kind,
       e.module, p.facts, e.facts FROM pieces p JOIN entries e ON e.id = p.entry WHERE p.id"""
_HAS_VECTOR = "EXISTS (SELECT 1 FROM vectors v WHERE v.embedder = ? AND v.digest = p.digest)"


class SqliteSnapshot:
    """A state as one connection sees it; used by one thread, inside `reading()`."""

    def __init__(self, connection: sqlite3.Connection, vectors: HeldVectors, graphs: Graphs) -> None:
        self._connection, self._vectors, self._graphs = connection, vectors, graphs
        self._query: tuple[Sequence[str], KeywordQuery] | None = None
        self._within = lru_cache(self._condition)

    def _condition(self, scope: Scope) -> Condition:
        """The condition on a `piece` by which a scope admits it; none where it admits all there are."""
        if admits_nothing(scope):
            return Condition("0")
        sql, values = condition(scope)
        if (
            self._connection.execute(f"SELECT 1 FROM entries WHERE NOT ({sql}) LIMIT 1", values).fetchone()
            is None
        ):
            return Condition()
        pieces = f"SELECT pieces.id FROM pieces JOIN entries ON entries.id = entry WHERE {sql}"
        return Condition(f"piece IN ({pieces})", values)

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""
        return keyword_hits(self._connection, self._asked(words), self._within(scope), bounded(limit))

    def named(self, names: Sequence[str], scope: Scope, limit: int) -> Sequence[int]:
        """Pieces whose heading is one of these names, or ends in it after a dot, in their order."""
        within, found = self._within(scope), set[int]()
        for name in names:
            for word in clean(tokens(name))[:1]:  # the first token of a name is all of it
                found.update(named_pieces(self._connection, name, word, within))
        return sorted(found)[: max(limit, 0)]

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens."""
        return self._asked(words).ideal

    def _asked(self, words: Sequence[str]) -> KeywordQuery:
        if self._query is None or self._query[0] != words:
            look = partial(counted, self._connection), partial(after, self._connection)
            self._query = (words, asked(words, *look))
        return self._query[1]

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""
        vector, within = as_vector(vector), self._within(scope)
        if limit <= 0 or len(vector) != self.dimension(embedder):
            return []
        near = self._graphs.near(self._connection, embedder, vector, limit) if within == Condition() else None
        hits = [] if near is None else loaded(self._connection, embedder, near).nearest(vector, limit)
        if len(hits) == limit:
            return hits
        admitted = None
        if within != Condition():
            rows = self._connection.execute(
                f"SELECT piece FROM (SELECT id AS piece FROM pieces) WHERE {within.sql}", within.values
            )
            admitted = [piece for (piece,) in rows]
        return self._vectors.of(self._connection, embedder, len(vector)).nearest(vector, limit, admitted)

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The cosine of each of these pieces that has a vector of that embedder."""
        if len(vector) != self.dimension(embedder):
            return {}
        having = self._vectors.some(self._connection, embedder, pieces)
        found = dict(zip(having.pieces.tolist(), cosines(having.vectors, vector).tolist(), strict=True))
        return {piece: found[piece] for piece in pieces if piece in found}

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors; None when it has none."""
        rows = self._connection.execute(
            "SELECT p.id FROM pieces p JOIN entries e ON e.id = p.entry WHERE corpus = ? AND key = ?",
            (to_name(corpus), to_name(key)),
        )
        return mean(loaded(self._connection, embedder, [piece for (piece,) in rows]).vectors)

    def dimension(self, embedder: str) -> int:
        """How long the vectors of that embedder are; 0 when there never was one."""
        sql = "SELECT length(vector) / 4 FROM vectors WHERE embedder = ? LIMIT 1"
        row = self._connection.execute(sql, (embedder,)).fetchone()
        return 0 if row is None else int(row[0])

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope; counted once for a state."""
        if admits_nothing(scope):
            return Progress(0, 0)
        (revision,) = self._connection.execute("SELECT revision FROM state").fetchone()
        counted = self._vectors.progress
        if (revision, embedder, scope) in counted:
            return counted[revision, embedder, scope]
        sql, values = condition(scope)
        joined = f"FROM pieces p JOIN entries e ON e.id = p.entry WHERE {sql}"
        (total, lacking) = self._connection.execute(
            f"SELECT COUNT(*), SUM(NOT {_HAS_VECTOR}) {joined}", (embedder, *values)
        ).fetchone()
        progress = Progress(total - (lacking or 0), total)
        counted.clear()
        counted[revision, embedder, scope] = progress
        return progress

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder and what to embed: named ones first, then the newest."""
        within = self._within(scope)
        rows = self._connection.execute(
            "SELECT piece, context, text FROM (SELECT id AS piece, heading, context, text FROM pieces p"
            f" WHERE NOT {_HAS_VECTOR}) WHERE {within.sql} ORDER BY heading = '', piece DESC LIMIT ?",
            (embedder, *within.values, bounded(limit)),
        )
        return {piece: embedding_text(context, text) for piece, context, text in rows}

    def found(self, pieces: Sequence[int]) -> Sequence[FoundPiece]:
        """These pieces, in that order; those that are gone are left out."""
        found: dict[int, FoundPiece] = {}
        for some in batched(pieces):
            for row in self._connection.execute(f"{_FOUND} IN ({placeholders(some)})", some):
                piece, corpus, key, *rest = row[:-2]
                facts = map(from_facts, row[-2:])
                found[piece] = FoundPiece(piece, from_name(corpus), from_name(key), *rest, *facts)
        return [found[piece] for piece in pieces if piece in found]

    def entry(self, corpus: str, key: str) -> IndexEntry | None:
        """One entry with its text and pieces."""
        row = self._connection.execute(
            "SELECT id, digest, stamp, title, size, text, kind, module, facts FROM entries"
            " WHERE corpus = ? AND key = ?",
            (to_name(corpus), to_name(key)),
        ).fetchone()
        if row is None:
            return None
        number, digest, stamp, title, size, content, kind, module, facts = row
        sql = (
            "SELECT text, start, end, heading, context, names, facts FROM pieces WHERE entry = ? ORDER BY id"
        )
        pieces = [
            Piece(text, start, end, heading, context, names, from_facts(told))
            for text, start, end, heading, context, names, told in self._connection.execute(sql, (number,))
        ]
        return IndexEntry(
            corpus, key, digest, stamp, title, size, from_content(content), kind, module, tuple(pieces),
            from_facts(facts),
        )  # fmt: skip

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""
        rows = self._connection.execute(
            "SELECT key, title, size, kind, module, facts FROM entries WHERE corpus = ? ORDER BY key"
            " LIMIT ? OFFSET ?",
            (to_name(corpus), -1 if limit is None else bounded(limit), bounded(offset)),
        )
        return [
            Summary(corpus, from_name(key), title, size, kind, module, from_facts(facts))
            for key, title, size, kind, module, facts in rows
        ]

    def counts(self) -> Mapping[str, int]:
        """How many entries each corpus has; one that was only noted has none."""
        rows = self._connection.execute(
            "SELECT name, (SELECT COUNT(*) FROM entries WHERE corpus = name) FROM"
            " (SELECT name FROM corpora UNION SELECT corpus FROM entries)"
        )
        return {from_name(name): count for name, count in rows}

    def corpus_facts(self, corpus: str) -> Mapping[str, Any] | None:
        """What was noted of a corpus; None for one that was never noted."""
        sql = "SELECT facts FROM corpora WHERE name = ?"
        row = self._connection.execute(sql, (to_name(corpus),)).fetchone()
        return None if row is None else from_facts(row[0])
