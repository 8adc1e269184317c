"""One state of the shared index: every question of the port `Snapshot`, in one read-only transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, LiteralString

from context_pack.retrieval.model import FoundPiece, IndexEntry, Piece, PieceHit, Progress, Scope, Summary
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.keyword_search import KeywordQuery, asked, clean
from context_pack_adapters.index.values import (
    admits_nothing,
    bounded,
    embedding_text,
    from_content,
    from_facts,
    from_name,
    to_name,
)
from context_pack_adapters.index.vectors import as_vector, cosines, from_blobs, mean
from context_pack_adapters.postgres import piece_rows as sql
from context_pack_adapters.postgres.connection import Link, Row

NARROW = 1_000
"""So many vectors of a scope are compared one by one; more are searched by the graph, if there is one."""
MANY = 1_000
"""Words that stand in so many pieces are looked up by going through all pieces once."""
SECONDS = 60.0


def vector_text(vector: Any) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, as_vector(vector).tolist())) + "]"


def floats_text(data: bytes) -> str:
    """The floats of a stored vector as an array of Postgres."""
    return "{" + ",".join(map(repr, from_blobs([data])[0].tolist())) + "}"


def embedded_body(body: str) -> str:
    """The text of a stored piece that is embedded."""
    piece = piece_of(body)
    return embedding_text(piece.context, piece.text)


def piece_of(body: str) -> Piece:
    """A piece as it was given."""
    return Piece(*json.loads(body))


class PostgresSnapshot:
    """A state as one connection sees it; used by one thread, inside `reading()`."""

    def __init__(self, link: Link, project: str) -> None:
        self._link, self._project = link, project
        self._totals: tuple[int, float] | None = None
        self._counts: dict[str, int] = {}

    def _rows(self, text: LiteralString, **values: Any) -> list[Row]:
        statement = (text, {"project": self._project, **values})
        return self._link.together(statement, besides=SECONDS)[0].fetchall()

    def _hashed_rows(self, text: LiteralString, **values: Any) -> list[Row]:
        """The rows of a statement that is fast only with hash joins."""
        statement = (text, {"project": self._project, **values})
        return self._link.together((sql.HASHED, {}), statement, (sql.LOOPED, {}), besides=SECONDS)[
            1
        ].fetchall()

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""
        query = self._asked(words)
        if not query.weights or limit <= 0 or admits_nothing(scope):
            return []
        factors = [times * query.rarities[word] for word, times in query.weights.items()]
        ask = self._hashed_rows if sum(map(self._counts.__getitem__, query.weights)) > MANY else self._rows
        rows = ask(
            sql.KEYWORD,
            words=[to_name(word) for word in query.weights],
            factors=factors,
            usual=self._total()[1],
            limit=bounded(limit),
            **sql.scope_values(scope),
        )
        return [(piece, score) for piece, score in rows]

    def named(self, names: Sequence[str], scope: Scope, limit: int) -> Sequence[int]:
        """Pieces whose heading is one of these names, or ends in it after a dot, in their order."""
        some = [to_name(name) for name in names if clean(tokens(name))]
        if not some or limit <= 0 or admits_nothing(scope):
            return []
        values = sql.scope_values(scope)
        return [piece for (piece,) in self._rows(sql.NAMED, names=some, limit=bounded(limit), **values)]

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens."""
        return self._asked(words).ideal

    def _asked(self, words: Sequence[str]) -> KeywordQuery:
        return asked(words, self._counted, self._after)

    def _total(self) -> tuple[int, float]:
        if self._totals is None:
            ((count, usual),) = self._rows(sql.TOTALS)
            self._totals = (count, usual)
        return self._totals

    def _counted(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        some = list(dict.fromkeys(words))
        new = [word for word in some if word not in self._counts]
        if new:
            rows = self._hashed_rows(sql.COUNTED, words=[to_name(word) for word in new])
            self._counts |= dict.fromkeys(new, 0) | {from_name(word): count for word, count in rows}
        return self._total()[0], {word: self._counts[word] for word in some if self._counts[word]}

    def _after(self, word: str) -> str:
        rows = self._rows(sql.AFTER, word=to_name(word))
        return from_name(rows[0][0]) if rows else ""

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""
        text, dimension = vector_text(vector), self.dimension(embedder)
        if limit <= 0 or len(vector) != dimension or admits_nothing(scope):
            return []
        values = {"model": embedder, "vector": text, "limit": bounded(limit), **sql.scope_values(scope)}
        near = sql.NEAR.get(dimension)
        if near is None or self._is_narrow(embedder, scope):
            rows = self._rows(sql.EXACT, **values)
        else:
            given = {"project": self._project, **values}
            rows = self._link.together((sql.ITERATIVE, {}), (near, given), besides=SECONDS)[1].fetchall()
        # Computed again, so that a piece has the same cosine whichever way it was found.
        scores = self.cosines(embedder, vector, [piece for piece, _ in rows])
        return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))

    def _is_narrow(self, embedder: str, scope: Scope) -> bool:
        """Whether the scope has few enough vectors to compare them all; no more than that are counted."""
        values = {"model": embedder, "most": NARROW + 1, **sql.scope_values(scope)}
        ((count,),) = self._rows(sql.EMBEDDED, **values)
        return bool(count <= NARROW)

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The true cosine of each of these pieces that has a vector of that embedder."""
        vector = as_vector(vector)
        found = self._vectors(embedder, Scope(), list(pieces)) if len(pieces) else {}
        if not found or len(vector) != self.dimension(embedder):
            return {}
        scores = cosines(from_blobs(list(found.values())), vector)
        return dict(zip(found, scores.tolist(), strict=True))

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors; None when it has none."""
        blobs = list(self._vectors(embedder, Scope(within=(corpus, key)), None).values())
        return mean(from_blobs(blobs)) if blobs else None

    def _vectors(self, embedder: str, scope: Scope, pieces: list[int] | None) -> dict[int, bytes]:
        return dict(self._rows(sql.VECTORS, model=embedder, pieces=pieces, **sql.scope_values(scope)))

    def found(self, pieces: Sequence[int]) -> Sequence[FoundPiece]:
        """These pieces, in that order; those that are gone are left out."""
        rows = {row[0]: _found(row) for row in self._rows(sql.FOUND, pieces=list(pieces))}
        return [rows[piece] for piece in pieces if piece in rows]

    def dimension(self, embedder: str) -> int:
        """How long the vectors of that embedder are; 0 when there never was one."""
        rows = self._rows(sql.MODEL, model=embedder)
        return rows[0][0] if rows else 0

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope."""
        if admits_nothing(scope):
            return Progress(0, 0)
        ((total, done),) = self._rows(sql.COUNT, model=embedder, **sql.scope_values(scope))
        return Progress(done, total)

    def entry(self, corpus: str, key: str) -> IndexEntry | None:
        """One entry with its text and pieces."""
        rows = self._rows(sql.WHOLE, corpus=to_name(corpus), key=to_name(key))
        if not rows:
            return None
        identity, digest, stamp, head, kind, module, facts, content = rows[0]
        title, size = json.loads(head)
        pieces = tuple(piece_of(body) for (body,) in self._rows(sql.PIECES, entry=identity))
        given = (title, size, from_content(content), from_name(kind), from_name(module))
        return IndexEntry(corpus, key, digest, stamp, *given, pieces, from_facts(facts))

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""
        most = None if limit is None else bounded(limit)
        rows = self._rows(sql.SUMMARIES, corpus=to_name(corpus), limit=most, offset=bounded(offset))
        return [_summary(corpus, *row) for row in rows]

    def counts(self) -> Mapping[str, int]:
        """How many entries each corpus has; one that was only noted has none."""
        return {from_name(corpus): count for corpus, count in self._rows(sql.CORPORA)}

    def corpus_facts(self, corpus: str) -> Mapping[str, Any] | None:
        """What was noted of a corpus; None for one that was never noted."""
        rows = self._rows(sql.NOTED, corpus=to_name(corpus))
        return from_facts(rows[0][0]) if rows else None


def _summary(corpus: str, key: bytes, head: str, kind: bytes, module: bytes, facts: str) -> Summary:
    title, size = json.loads(head)
    return Summary(corpus, from_name(key), title, size, from_name(kind), from_name(module), from_facts(facts))


def _found(row: Row) -> FoundPiece:
    piece, corpus, key, kind, module, head, ordinal, total, body, entry_facts = row
    one, (title, _) = piece_of(body), json.loads(head)
    return FoundPiece(
        piece, from_name(corpus), from_name(key), title, ordinal, total, one.text, one.start, one.end,
        one.heading, from_name(kind), from_name(module), one.facts, from_facts(entry_facts),
    )  # fmt: skip
