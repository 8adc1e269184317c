"""One state of a SQLite index: every question of the port `Snapshot`, answered inside one read transaction."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from typing import TYPE_CHECKING, Any

from context_pack.retrieval.model import Entry, Found, Hit, Piece, Progress, Scope, Summary
from context_pack_adapters.index.connections import Opened
from context_pack_adapters.index.faults import Damaged, damaged, judging
from context_pack_adapters.index.schema import K1, WEIGHTS, State, state_of, vector_table
from context_pack_adapters.index.scopes import admits_nothing, condition, match_filter, match_words
from context_pack_adapters.index.values import (
    embedded,
    from_content,
    from_facts,
    from_name,
    from_text,
    to_name,
    to_tokens,
)
from context_pack_adapters.index.vector_leg import EmbedderRow, VectorLeg, embedder_row, ranges_of, rows_for
from context_pack_adapters.vectors.exact import Matrix, as_vector, cosines, from_blobs, mean

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_WORDS = 64
"""Of a longer query only so many different words are looked up, the rarest; time grows with each."""
FEW_PIECES = 2000
"""So few admitted vectors are fetched one by one rather than loading all of them."""
VARIABLES = 500
_FOUND = (
    "SELECT p.id, e.corpus, e.key, e.title, p.ordinal, e.count, p.text, p.start, p.end, p.heading, e.kind,"
    " e.module, p.facts, e.facts FROM pieces p JOIN entries e ON e.id = p.entry WHERE p.id"
)


class SqliteSnapshot:
    """A state as one connection sees it; used by one thread, inside `reading()`."""

    def __init__(self, name: str, opened: Opened, connection: sqlite3.Connection, leg: VectorLeg) -> None:
        self._name = name
        self._opened = opened
        self._connection = connection
        self._leg = leg
        self._state: State | None = None

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """The connection; damage that shows condemns the file and becomes a failure."""
        try:
            with judging(self._name):
                yield self._connection
        except Damaged as error:
            self._opened.condemn(str(error))
            raise damaged(self._name) from error

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[Hit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""
        with self._guarded() as connection:
            asked = self._worth_asking(_clean(words))
            if not asked or limit <= 0 or admits_nothing(scope):
                return []
            match = f"({match_words(asked)})"
            if only := match_filter(scope):
                match = f"{only} AND {match}"
            sql, values = self._beyond_tokens(scope)
            rows = connection.execute(
                f"SELECT rowid, -bm25(words, {WEIGHTS}) AS score FROM words WHERE words MATCH ?{sql}"
                " ORDER BY score DESC, rowid LIMIT ?",
                (match, *values, limit),
            )
            return [Hit(int(piece), float(score)) for piece, score in rows]

    def _beyond_tokens(self, scope: Scope) -> tuple[str, list[int]]:
        """What the tokens of a scope do not say: one entry, or all but one."""
        sql, values = "", []
        if scope.within is not None:
            sql += " AND rowid BETWEEN ? AND ?"
            values += self._range_of(*scope.within)
        if scope.without is not None:
            sql += " AND rowid NOT BETWEEN ? AND ?"
            values += self._range_of(*scope.without)
        return sql, values

    def _range_of(self, corpus: str, key: str) -> tuple[int, int]:
        row = self._connection.execute(
            "SELECT first, first + count - 1 FROM entries WHERE corpus = ? AND key = ?",
            (to_name(corpus), to_name(key)),
        ).fetchone()
        return (0, -1) if row is None else (int(row[0]), int(row[1]))

    def _worth_asking(self, words: Sequence[str]) -> Sequence[str]:
        """The words themselves, or of too many the rarest ones, each as often as it was said."""
        counted = Counter(words)
        if len(counted) <= MOST_WORDS:
            return words
        rarity = self._rarities(counted)
        chosen = sorted(counted, key=lambda word: (-rarity[word] * counted[word], word))[:MOST_WORDS]
        kept = set(chosen)
        return [word for word in words if word in kept]

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens."""
        with self._guarded():
            asked = self._worth_asking(_clean(words))
            rarity = self._rarities(asked)
            return sum(rarity[word] * (K1 + 1) for word in asked)

    def _rarities(self, words: Iterable[str]) -> dict[str, float]:
        """The weight BM25 gives each word; that of a word nobody wrote is 0, for it can add nothing."""
        (total,) = self._connection.execute("SELECT COUNT(*) FROM pieces").fetchone()
        rarities: dict[str, float] = {}
        for word in words:
            if word not in rarities:
                row = self._connection.execute("SELECT doc FROM terms WHERE term = ?", (word,)).fetchone()
                rarities[word] = 0.0 if row is None else rarity(total, row[0])
        return rarities

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[Hit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            if known is None or limit <= 0 or len(vector) != known.dimension:
                return []
            few = None if self._leg.holds(known) else self._few(known, scope)
            if few is not None:
                return [Hit(*hit) for hit in few.nearest(vector, limit, None)]
            held = self._leg.held(self._opened, connection, self._here(), known)
            rows = rows_for(held, connection, scope)
            return [Hit(*hit) for hit in held.matrix.nearest(vector, limit, rows)]

    def _few(self, known: EmbedderRow, scope: Scope) -> Matrix | None:
        """The admitted vectors, when they are too few to load all for them."""
        ranges = ranges_of(self._connection, scope)
        if sum(last - first + 1 for first, last in ranges) > FEW_PIECES or len(ranges) > FEW_PIECES // 10:
            return None
        import numpy

        matrix = Matrix(known.dimension)
        for bounds in ranges:
            rows = self._connection.execute(
                f"SELECT piece, vector FROM {vector_table(known.id)} WHERE piece BETWEEN ? AND ?", bounds
            ).fetchall()
            pieces = numpy.array([piece for piece, _ in rows], dtype=numpy.int64)
            matrix = matrix.appended(pieces, from_blobs([blob for _, blob in rows], known.dimension))
        return matrix

    def _here(self) -> State:
        if self._state is None:
            self._state = state_of(self._connection)
        return self._state

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The true cosine of each of these pieces that has a vector of that embedder."""
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            if known is None or not pieces or len(vector) != known.dimension:
                return {}
            blobs: dict[int, bytes] = {}
            for some in _portions(pieces):
                blobs.update(
                    connection.execute(
                        f"SELECT piece, vector FROM {vector_table(known.id)} WHERE piece IN ({_marks(some)})", some
                    )
                )
            if not blobs:
                return {}
            scores = cosines(from_blobs(list(blobs.values()), known.dimension), as_vector(vector))
            return dict(zip(blobs, scores.tolist(), strict=True))

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors; None when it has none."""
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            if known is None:
                return None
            rows = connection.execute(
                f"SELECT vector FROM {vector_table(known.id)} WHERE piece BETWEEN ? AND ?",
                self._range_of(corpus, key),
            )
            blobs = [blob for (blob,) in rows]
            return mean(from_blobs(blobs, known.dimension)) if blobs else None

    def found(self, pieces: Sequence[int]) -> Sequence[Found]:
        """These pieces, in that order; those that are gone are left out."""
        with self._guarded() as connection:
            rows: dict[int, Found] = {}
            for some in _portions(pieces):
                for row in connection.execute(f"{_FOUND} IN ({_marks(some)})", some):
                    rows[row[0]] = _found(row)
            return [rows[piece] for piece in pieces if piece in rows]

    def unembedded(self, embedder: str, pieces: Sequence[int]) -> Mapping[int, str]:
        """What is to be embedded for those of these pieces that have no vector yet."""
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            texts: dict[int, str] = {}
            for some in _portions(pieces):
                sql = f"SELECT id, context, text FROM pieces WHERE id IN ({_marks(some)})"
                if known is not None:
                    sql += f" AND id NOT IN (SELECT piece FROM {vector_table(known.id)} WHERE piece = pieces.id)"
                for piece, context, text in connection.execute(sql, some):
                    texts[piece] = embedded(from_text(context), from_text(text))
            return {piece: texts[piece] for piece in dict.fromkeys(pieces) if piece in texts}

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope."""
        with self._guarded() as connection:
            if admits_nothing(scope):
                return Progress(0, 0)
            sql, values = condition(scope)
            (total,) = connection.execute(f"SELECT TOTAL(count) FROM entries WHERE {sql}", values).fetchone()
            known = embedder_row(connection, embedder)
            if known is None or not total:
                return Progress(0, int(total))
            table = vector_table(known.id)
            (every,) = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
            (pieces,) = connection.execute("SELECT COUNT(*) FROM pieces").fetchone()
            if every == pieces:
                return Progress(int(total), int(total))
            (done,) = connection.execute(
                f"SELECT COUNT(*) FROM entries CROSS JOIN {table} ON piece BETWEEN first AND first + count - 1"
                f" WHERE {sql}",
                values,
            ).fetchone()
            return Progress(int(done), int(total))

    def entry(self, corpus: str, key: str) -> Entry | None:
        """One entry with its text and pieces."""
        with self._guarded() as connection:
            row = connection.execute(
                "SELECT id, digest, stamp, title, size, kind, module, facts, first, count, text FROM entries"
                " LEFT JOIN contents ON entry = id WHERE corpus = ? AND key = ?",
                (to_name(corpus), to_name(key)),
            ).fetchone()
            if row is None:
                return None
            identity, digest, stamp, title, size, kind, module, facts, first, count, text = row
            rows = connection.execute(
                "SELECT text, start, end, heading, context, names, facts FROM pieces"
                " WHERE id BETWEEN ? AND ? AND entry = ? ORDER BY id",
                (first, first + count - 1, identity),
            )
            return Entry(
                corpus=corpus,
                key=key,
                digest=from_text(digest),
                stamp=from_text(stamp),
                title=from_text(title),
                size=size,
                text="" if text is None else from_content(text),
                kind=from_text(kind),
                module=from_text(module),
                pieces=tuple(_piece(row) for row in rows),
                facts=from_facts(facts),
            )

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""
        with self._guarded() as connection:
            rows = connection.execute(
                "SELECT key, title, size, kind, module, facts FROM entries WHERE corpus = ? ORDER BY key"
                " LIMIT ? OFFSET ?",
                (to_name(corpus), -1 if limit is None else limit, offset),
            )
            return [
                Summary(
                    corpus, from_name(key), from_text(title), size, from_text(kind), from_text(module),
                    from_facts(facts),
                )
                for key, title, size, kind, module, facts in rows
            ]  # fmt: skip

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
            row = connection.execute("SELECT facts FROM corpora WHERE name = ?", (to_name(corpus),)).fetchone()
            return None if row is None else from_facts(row[0])


def rarity(total: int, having: int) -> float:
    """The inverse document frequency that FTS5's BM25 uses."""
    value = log((total - having + 0.5) / (having + 0.5))
    return value if value > 0 else 1e-6


def _clean(words: Sequence[str]) -> list[str]:
    return [clean for word in words if (clean := to_tokens([word]).strip())]


def _portions(pieces: Sequence[int]) -> Iterator[Sequence[int]]:
    """As many at a time as a statement takes."""
    for start in range(0, len(pieces), VARIABLES):
        yield tuple(pieces[start : start + VARIABLES])


def _marks(values: Sequence[int]) -> str:
    return ", ".join("?" * len(values))


def _found(row: Sequence[Any]) -> Found:
    piece, corpus, key, title, ordinal, total, text, start, end, heading, kind, module, facts, entry_facts = row
    return Found(
        piece, from_name(corpus), from_name(key), from_text(title), ordinal, total, from_text(text), start, end,
        from_text(heading), from_text(kind), from_text(module), from_facts(facts), from_facts(entry_facts),
    )  # fmt: skip


def _piece(row: Sequence[Any]) -> Piece:
    text, start, end, heading, context, names, facts = row
    return Piece(
        from_text(text), start, end, from_text(heading), from_text(context), from_text(names), from_facts(facts)
    )
