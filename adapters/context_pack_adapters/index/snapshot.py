"""One state of a SQLite index: every question of the port `Snapshot`, answered in one read transaction."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from context_pack.retrieval.model import FoundPiece, PieceHit, Progress, Scope
from context_pack.retrieval.ports import Embedder, Stop
from context_pack_adapters.index.catalogue import CatalogueReader, range_of
from context_pack_adapters.index.connections import CheckedIndex
from context_pack_adapters.index.graph_search import GraphSearch
from context_pack_adapters.index.keyword_search import (
    KeywordQuery,
    Ranges,
    asked,
    keyword_hits,
    named_pieces,
    ranges_within,
)
from context_pack_adapters.index.postings import PieceLengths, PostingRow, count_of, next_word, rows_of
from context_pack_adapters.index.remembering import StateCache
from context_pack_adapters.index.schema import StoredState, state_of, vector_table
from context_pack_adapters.index.values import (
    admits_nothing,
    bounded,
    condition,
    embedded,
    marks,
    portions,
)
from context_pack_adapters.index.vector_search import (
    EmbedderRow,
    VectorSearch,
    embedder_row,
    last_vector,
    ranges_of,
    rows_for,
    vectors_of,
)
from context_pack_adapters.vectors.exact import as_vector, cosines, from_blobs, matrix_of, mean
from context_pack_adapters.vectors.plain import cosine_with, is_plain, plain_nearest

T = TypeVar("T")
KEPT_VALUES = 256
KEPT_PIECES, KEPT_CHARACTERS = 4000, 4_000_000
"""How many pieces, or characters of them, are kept for the next question."""
FEW_PIECES = 2000
"""So few admitted vectors are fetched one by one rather than loading all of them."""


class Shared(NamedTuple):
    """What the readers of an index share: vectors in memory, and what a state was asked for before."""

    vectors: VectorSearch
    graphs: GraphSearch
    values: StateCache[Hashable, Any]
    pieces: StateCache[int, FoundPiece]

    @classmethod
    def of(cls, graphs: GraphSearch) -> Shared:
        """Empty caches over these graphs."""
        per_piece = KEPT_CHARACTERS // KEPT_PIECES
        pieces: StateCache[int, FoundPiece] = StateCache(
            KEPT_CHARACTERS, lambda piece: max(per_piece, len(piece.text))
        )
        return cls(VectorSearch(), graphs, StateCache(KEPT_VALUES), pieces)


class SqliteSnapshot(CatalogueReader):
    """A state as one connection sees it; used by one thread, inside `reading()`."""

    def __init__(
        self, name: str, opened: CheckedIndex, connection: sqlite3.Connection, shared: Shared
    ) -> None:
        super().__init__(name, opened, connection)
        self._shared = shared
        self._state: StoredState | None = None
        self._query: tuple[Sequence[str], KeywordQuery] | None = None
        self._rows: dict[str, list[PostingRow]] = {}

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""
        with self._guarded():
            query, ranges = self._asked(words), self._within(scope)
            return keyword_hits(query, self._rows, self._lengths(), ranges, bounded(limit))

    def found(self, pieces: Sequence[int]) -> Sequence[FoundPiece]:
        """These pieces, in that order; those that are gone are left out."""
        kept = self._shared.pieces.several(self._here(), pieces, self._found)
        return [kept[piece] for piece in pieces if piece in kept]

    def _within(self, scope: Scope) -> Ranges:
        return self._kept(("within", scope), lambda: ranges_within(self._connection, scope))

    def _lengths(self) -> PieceLengths:
        return self._kept("lengths", lambda: PieceLengths(self._connection))

    def _rows_of(self, words: Iterable[str]) -> dict[str, list[PostingRow]]:
        """The rows of these words; each is read once for a question."""
        missing = [word for word in dict.fromkeys(words) if word and word not in self._rows]
        found = rows_of(self._connection, self._lengths().blocks, missing)
        self._rows.update((word, found.get(word, [])) for word in missing)
        return self._rows

    def _kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached value of a key in this state, made by this reader or another."""
        value: T = self._shared.values.one(self._here(), key, make)
        return value

    def named(self, names: Sequence[str], scope: Scope, limit: int) -> Sequence[int]:
        """Pieces whose heading is one of these names, or ends in it after a dot, in their order."""
        with self._guarded() as connection:
            ranges = self._within(scope)
            return named_pieces(
                connection,
                names,
                lambda word: self._rows_of([word])[word],
                self._lengths(),
                ranges,
                bounded(limit),
            )

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens."""
        with self._guarded():
            return self._asked(words).ideal

    def _asked(self, words: Sequence[str]) -> KeywordQuery:
        if self._query is None or self._query[0] != words:
            self._query = (words, asked(words, self._counted, self._after))
        return self._query[1]

    def _counted(self, words: Iterable[str]) -> tuple[int, dict[str, int]]:
        """How many pieces there are, and how many have each of these words that stands anywhere."""
        some = [word for word in words if word]
        rows = self._rows_of(some)
        return self._lengths().count, {word: count_of(rows[word]) for word in some if rows[word]}

    def _after(self, word: str) -> str:
        """The next word of the index in alphabetical order, or nothing."""
        return next_word(self._connection, self._lengths().blocks, word)

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""
        if not is_plain(vector):
            vector = as_vector(vector)  # here: what is no vector is the caller's fault, not the file's
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            if known is None or limit <= 0 or len(vector) != known.dimension:
                return []
            if (hits := self._by_graph(known, embedder, vector, scope, limit)) is not None:
                return hits
            held = self._shared.vectors
            last = last_vector(connection, known)
            plain = is_plain(vector) and not held.is_worth_loading(known, last)
            few = None if held.holds(known) else self._few(known, scope, last, plain)
            if few is None:
                all_of = held.held(self._opened, connection, self._here(), known)
                return all_of.matrix.nearest(vector, limit, rows_for(all_of, connection, scope))
            if plain:
                return plain_nearest(vector, few, limit)
            return matrix_of(dict(few), known.dimension).nearest(vector, limit, None)

    def _by_graph(
        self, known: EmbedderRow, name: str, vector: Any, scope: Scope, limit: int
    ) -> list[tuple[int, float]] | None:
        """The hits of a graph; None where there are too few vectors for one, or none was built yet."""
        graphs, state = self._shared.graphs, self._here()
        if not graphs.is_worth(self._opened, self._connection, state, known):
            return None
        graph = graphs.graph(state.birth, name, known)
        if graph is None:
            return None
        return graphs.nearest(graph, self._opened, self._connection, state, known, vector, scope, limit)

    def make_graphs(self, fast: Embedder, stop: Stop) -> None:
        """Make the graphs that are worth having and missing or too old, of this state's vectors."""
        with self._guarded() as connection:
            for name, *row in connection.execute("SELECT name, id, dimension FROM embedders").fetchall():
                embed = fast.embed if name == fast.id else None
                self._shared.graphs.tend(self._opened, connection, name, EmbedderRow(*row), embed, stop)

    def _few(
        self, known: EmbedderRow, scope: Scope, last: int, plain: bool
    ) -> Iterable[tuple[int, bytes]] | None:
        """The admitted pieces and their vectors, when they are too few to load all for them."""
        ranges, read = ranges_of(self._connection, scope), self._connection.execute
        sql = f"SELECT piece, vector FROM {vector_table(known.id)}"
        few = sum(last - first + 1 for first, last in ranges)
        # Most of them are better loaded once and kept.
        if few <= FEW_PIECES and len(ranges) <= FEW_PIECES // 10 and few * 4 <= last:
            return (row for bounds in ranges for row in read(f"{sql} WHERE piece BETWEEN ? AND ?", bounds))
        if not plain:
            return None
        admitted = {piece for first, last in ranges for piece in range(first, last + 1)}
        return (row for row in read(sql) if row[0] in admitted)

    def _here(self) -> StoredState:
        if self._state is None:
            self._state = state_of(self._connection)
        return self._state

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The true cosine of each of these pieces that has a vector of that embedder."""
        plain = is_plain(vector) and "numpy" not in sys.modules
        vector = vector if plain else as_vector(vector)
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            if known is None or not pieces or len(vector) != known.dimension:
                return {}
            if plain:
                cosine = cosine_with(vector)
                return {piece: cosine(blob) for piece, blob in vectors_of(connection, known, pieces).items()}
            held = self._shared.vectors.all_of(self._opened, self._here(), known)
            if held is not None:
                having, vectors = held.of(pieces)
            else:
                blobs = vectors_of(connection, known, pieces)
                having, vectors = list(blobs), from_blobs(list(blobs.values()), known.dimension)
            return dict(zip(having, cosines(vectors, vector).tolist(), strict=True))

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors; None when it has none."""
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            if known is None:
                return None
            rows = connection.execute(
                f"SELECT vector FROM {vector_table(known.id)} WHERE piece BETWEEN ? AND ?",
                range_of(connection, corpus, key),
            )
            blobs = [blob for (blob,) in rows]
            return mean(from_blobs(blobs, known.dimension)) if blobs else None

    def unembedded(self, embedder: str, pieces: Sequence[int]) -> Mapping[int, str]:
        """The texts to embed for those of these pieces that have no vector yet."""
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            texts: dict[int, str] = {}
            for some in portions(pieces):
                sql = f"SELECT id, context, text FROM pieces WHERE id IN ({marks(some)})"
                if known is not None:
                    sql += (
                        f" AND id NOT IN (SELECT piece FROM {vector_table(known.id)} WHERE piece = pieces.id)"
                    )
                for piece, context, text in connection.execute(sql, some):
                    texts[piece] = embedded(context, text)
            return {piece: texts[piece] for piece in dict.fromkeys(pieces) if piece in texts}

    def dimension(self, embedder: str) -> int:
        """How long the vectors of that embedder are; 0 when there never was one."""
        with self._guarded() as connection:
            known = embedder_row(connection, embedder)
            return 0 if known is None else known.dimension

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope; counted once for a state."""
        with self._guarded() as connection:
            return self._kept((embedder, scope), lambda: counted(connection, embedder, scope))


def counted(connection: sqlite3.Connection, embedder: str, scope: Scope) -> Progress:
    """How many pieces a scope admits, and how many of them have a vector of an embedder."""
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
        f"SELECT COUNT(*) FROM entries CROSS JOIN {table}"
        f" ON piece BETWEEN first AND first + count - 1 WHERE {sql}",
        values,
    ).fetchone()
    return Progress(int(done), int(total))
