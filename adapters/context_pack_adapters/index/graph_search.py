"""The graphs beside an index file: when one is worth having, and how it answers within a reader's state.

A graph knows the vectors up to some number. What came later is in a small matrix and compared exactly; what
went is dropped, because every candidate's vector is read again from the reader's own state. So a graph
that is somewhat old gives right answers, and is made anew only when too much of it is old.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from context_pack.retrieval.model import Scope
from context_pack.retrieval.ports import Kind
from context_pack_adapters.disk.locking import attempt_lock
from context_pack_adapters.disk.private import FILE_MODE
from context_pack_adapters.index.schema import StoredState, state_of, vector_table
from context_pack_adapters.index.vector_search import (
    EmbedderRow,
    VectorSearch,
    last_vector,
    ranges_of,
    rows_for,
    vectors_of,
)
from context_pack_adapters.vectors.exact import GATHER_ROWS, as_vector, best, from_blobs, rows_within

if TYPE_CHECKING:
    from context_pack_adapters.vectors import graph as graphs
    from context_pack_adapters.vectors.exact import Floats, Ids

Embed = Callable[[Sequence[str], Kind], Any]
GRAPH_AT = 100_000
"""Up to so many vectors comparing all of them takes a few milliseconds and needs no graph."""
OLD_SHARE = 0.2
"""A graph is made anew when such a share of the vectors is not in it, or of it is gone."""
SPARE = 32
QUESTIONS = 64
BUILD_ROWS = 2048


class GraphSearch:
    """The graphs of one index file, loaded when they are first needed."""

    def __init__(self, path: str, threshold: int) -> None:
        self._path = path
        self._threshold = threshold
        self._lock = Lock()
        self._loaded: dict[int, tuple[object, graphs.Graph | None]] = {}
        self._newer: dict[int, tuple[graphs.Graph, VectorSearch]] = {}
        self._worth: dict[int, tuple[object, int, bool]] = {}

    def path(self, embedder: EmbedderRow) -> str:
        """Where the graph of an embedder is."""
        return f"{self._path}.graph-{embedder.id}"

    def is_worth(
        self, generation: object, connection: sqlite3.Connection, state: StoredState, embedder: EmbedderRow
    ) -> bool:
        """Whether there are so many vectors that a graph is worth it, and hnswlib to make one."""
        if last_vector(connection, embedder) <= self._threshold:
            return False
        from context_pack_adapters.vectors import graph as graphs

        if not graphs.is_available():
            return False
        known, revision, worth = self._worth.get(embedder.id, (None, -1, False))
        if known is not generation or revision != state.revision:
            (count,) = connection.execute(f"SELECT COUNT(*) FROM {vector_table(embedder.id)}").fetchone()
            worth = int(count) > self._threshold
            self._worth[embedder.id] = (generation, state.revision, worth)
        return worth

    def graph(self, origin: int, name: str, embedder: EmbedderRow) -> graphs.Graph | None:
        """The graph of an embedder as the disk has it now; None when there is none that can be trusted."""
        from context_pack_adapters.vectors import graph as graphs

        path = self.path(embedder)
        mark = _mark(graphs.card_path(path))
        with self._lock:
            known, graph = self._loaded.get(embedder.id, (None, None))
            if mark is None or (mark, origin) != known:
                graph = None if mark is None else graphs.load(path, origin, name, embedder.dimension)
                self._loaded[embedder.id] = ((mark, origin), graph)
            return graph

    def nearest(
        self,
        graph: graphs.Graph,
        generation: object,
        connection: sqlite3.Connection,
        state: StoredState,
        embedder: EmbedderRow,
        vector: Any,
        scope: Scope,
        limit: int,
    ) -> list[tuple[int, float]]:
        """The nearest pieces of a reader's state, from the graph and from what is newer than it."""
        asked = as_vector(vector)
        held = self._tail(graph, embedder).held(generation, connection, state, embedder, graph.card.last)
        found = held.matrix.nearest(asked, limit, rows_for(held, connection, scope))
        admitted = None if scope == Scope() else graph.pieces[
            rows_within(graph.pieces, ranges_of(connection, scope))
        ]  # fmt: skip
        for pieces in _portions(graph, asked, admitted, limit):
            old = _best_of(connection, embedder, pieces, asked, limit)
            if len(old) >= limit:
                break
        return sorted([*old, *found], key=lambda hit: (-hit[1], hit[0]))[:limit]

    def _tail(self, graph: graphs.Graph, embedder: EmbedderRow) -> VectorSearch:
        """The vectors that are newer than the graph."""
        with self._lock:
            known = self._newer.get(embedder.id)
            if known is None or known[0] is not graph:
                known = self._newer[embedder.id] = (graph, VectorSearch())
            return known[1]

    def forget(self) -> None:
        """Drop the loaded graphs."""
        with self._lock:
            self._loaded.clear()
            self._newer.clear()

    def tend(
        self,
        generation: object,
        connection: sqlite3.Connection,
        name: str,
        embedder: EmbedderRow,
        embed: Embed | None,
        stop: Callable[[], bool],
    ) -> bool:
        """Rebuild the graph of an embedder if it is worth it and no other process does; whether it was built.

        Raises:
            OSError: it could not be written.
        """
        from context_pack_adapters.vectors import graph as graphs

        path, state = self.path(embedder), state_of(connection)
        if not self.is_worth(generation, connection, state, embedder):
            graphs.remove(path)
            return False
        lock = attempt_lock(path + ".lock", mode=FILE_MODE)
        if lock is None:
            return False
        try:
            graphs.sweep(path)
            if self._good(connection, state.birth, name, embedder):
                return False
            (count,) = connection.execute(f"SELECT COUNT(*) FROM {vector_table(embedder.id)}").fetchone()
            rows, asked = _rows(connection, embedder), _questions(connection, embedder, embed)
            return graphs.build(path, state.birth, name, embedder.dimension, int(count), rows, asked, stop)
        finally:
            lock.release()

    def _good(self, connection: sqlite3.Connection, origin: int, name: str, embedder: EmbedderRow) -> bool:
        """Whether the graph on the disk can be trusted and is new enough."""
        from context_pack_adapters.vectors import graph as graphs

        card = graphs.read_card(self.path(embedder))
        if card is None or (card.origin, card.embedder) != (origin, name):
            return False
        if card.effort and self.graph(origin, name, embedder) is None:
            return False
        table = vector_table(embedder.id)
        (count,) = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
        (newer,) = connection.execute(f"SELECT COUNT(*) FROM {table} WHERE seq > ?", (card.last,)).fetchone()
        gone = card.size - (count - newer)
        return bool(newer <= OLD_SHARE * count and 0 <= gone <= OLD_SHARE * card.size)


def _mark(path: str) -> object:
    """Inode and time of a file: they change when it is replaced."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)


def _rows(connection: sqlite3.Connection, embedder: EmbedderRow) -> Iterator[Any]:
    """Every vector, in portions, with the number of the last."""
    import numpy

    cursor = connection.execute(f"SELECT seq, piece, vector FROM {vector_table(embedder.id)} ORDER BY seq")
    while rows := cursor.fetchmany(BUILD_ROWS):
        pieces = numpy.array([piece for _, piece, _ in rows], dtype=numpy.int64)
        yield pieces, from_blobs([blob for *_, blob in rows], embedder.dimension), int(rows[-1][0])


def _questions(connection: sqlite3.Connection, embedder: EmbedderRow, embed: Embed | None) -> Floats:
    """Sample queries to measure recall: first words of some pieces embedded, or noisy copies of vectors."""
    import numpy

    table = vector_table(embedder.id)
    (first, last) = connection.execute(f"SELECT MIN(seq), MAX(seq) FROM {table}").fetchone()
    texts, blobs = [], []
    for at in range(QUESTIONS):
        row = connection.execute(
            f"SELECT substr(text, 1, 80), vector FROM {table} JOIN pieces ON id = piece"
            " WHERE seq >= ? LIMIT 1",
            (first + (last - first) * at // QUESTIONS,),
        ).fetchone()
        if row is not None:
            texts.append(row[0])
            blobs.append(row[1])
    if embed is not None:
        return numpy.stack([as_vector(vector) for vector in embed(texts, "query")])
    vectors = from_blobs(blobs, embedder.dimension)
    # As far from a vector as a question is from its answer: a cosine of about 0.7.
    noise = numpy.random.default_rng(1).normal(size=vectors.shape) / embedder.dimension**0.5
    mixed = vectors + noise
    asked: Floats = (mixed / numpy.linalg.norm(mixed, axis=1, keepdims=True)).astype(numpy.float32)
    return asked


def _portions(graph: graphs.Graph, asked: Any, admitted: Ids | None, limit: int) -> Iterator[Ids]:
    """Candidates from the graph, more with each try; in the end, all that there are."""
    import numpy

    if admitted is not None and len(admitted) <= GATHER_ROWS:
        yield _ranked(graph, asked, admitted, limit)
        return
    share = 1.0 if admitted is None else len(admitted) / graph.card.size
    count = int(limit * 1.25 / share) + SPARE
    while count < graph.card.size // 4:
        found = graph.candidates(asked, count)
        yield found if admitted is None else found[numpy.isin(found, admitted)]
        count *= 4
    yield _ranked(graph, asked, graph.pieces if admitted is None else admitted, limit)


def _ranked(graph: graphs.Graph, asked: Any, pieces: Ids, limit: int) -> Ids:
    """The best of these pieces by comparing all of them, with as many to spare: some may be gone."""
    import numpy

    kept: list[tuple[int, float]] = []
    for start in range(0, len(pieces), GATHER_ROWS):
        some = pieces[start : start + GATHER_ROWS]
        vectors = graph.vectors(some)
        kept += best(some, vectors, vectors @ asked, asked, 2 * limit + SPARE)
    kept.sort(key=lambda hit: (-hit[1], hit[0]))
    return numpy.array([piece for piece, _ in kept[: 2 * limit + SPARE]], dtype=numpy.int64)


def _best_of(
    connection: sqlite3.Connection, embedder: EmbedderRow, pieces: Ids, asked: Any, limit: int
) -> list[tuple[int, float]]:
    """The best of these candidates that this reader's state has, by their true cosines."""
    import numpy

    found = vectors_of(connection, embedder, pieces.tolist())
    if not found:
        return []
    vectors = from_blobs(list(found.values()), embedder.dimension)
    return best(numpy.array(list(found), dtype=numpy.int64), vectors, vectors @ asked, asked, limit)
