"""The vectors of an index in memory, updated to each reader's state by loading only what changed.

Vectors are only ever added at the end of their table or removed. While nothing was removed, a newer state
needs the new rows alone; after removals, and for a reader whose state is older than what is in memory, the
pieces that have a vector are listed and compared. Nothing is loaded before the first search by vector.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import evolve, field, frozen

from context_pack.retrieval.model import Scope
from context_pack_adapters.index.schema import StoredState, vector_table
from context_pack_adapters.index.values import admits_nothing, condition, marks, portions
from context_pack_adapters.vectors.exact import Matrix, from_blobs, rows_within

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

BATCH_ROWS = 256
"""Half a megabyte: small enough to stay in the processor's cache on its way."""
SCOPES_KEPT = 32
PLAIN_VECTORS = 4000
"""So many are compared one by one, over all questions, before numpy and all vectors are worth loading."""


class EmbedderRow(NamedTuple):
    """The row of an embedder in the index file."""

    id: int
    dimension: int


@frozen(eq=False)
class EmbedderVectors:
    """The vectors of one embedder as of one state."""

    generation: object
    state: StoredState
    after: int
    last: int
    matrix: Matrix
    rows: OrderedDict[Scope, Any] = field(factory=OrderedDict)


class VectorSearch:
    """The vectors that all readers of an index share; one thread loads at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[int, EmbedderVectors] = {}
        self._compared = 0

    def holds(self, embedder: EmbedderRow) -> bool:
        """Whether vectors of that embedder are in memory."""
        return embedder.id in self._held

    def is_worth_loading(self, embedder: EmbedderRow, count: int) -> bool:
        """Whether numpy and all vectors are worth loading, instead of comparing so many one by one."""
        self._compared += count
        return embedder.id in self._held or self._compared > PLAIN_VECTORS

    def all_of(self, generation: object, state: StoredState, embedder: EmbedderRow) -> Matrix | None:
        """All vectors of an embedder as of this state, if they are in memory."""
        held = self._held.get(embedder.id)
        if held is None or held.generation is not generation or held.after:
            return None
        return held.matrix if held.state.revision == state.revision else None

    def held(
        self,
        generation: object,
        connection: sqlite3.Connection,
        state: StoredState,
        embedder: EmbedderRow,
        after: int = 0,
    ) -> EmbedderVectors:
        """The vectors of an embedder as this reader's state has them, those that came after a number."""
        with self._lock:
            held = self._held.get(embedder.id)
            if held is None or held.generation is not generation:
                blank = StoredState(-1, state.removals, 0, 0)
                held = EmbedderVectors(generation, blank, after, after, Matrix(embedder.dimension))
            if held.state.revision == state.revision:
                return held
            newer = _brought_to(held, connection, state, embedder)
            if newer.state.revision > held.state.revision:
                self._held[embedder.id] = newer
            return newer

    def forget(self) -> None:
        """Drop the loaded vectors."""
        with self._lock:
            self._held.clear()


def embedder_row(connection: sqlite3.Connection, name: str) -> EmbedderRow | None:
    """The embedder of that id; None if no vector of it was ever kept."""
    row = connection.execute("SELECT id, dimension FROM embedders WHERE name = ?", (name,)).fetchone()
    return None if row is None else EmbedderRow(int(row[0]), int(row[1]))


def last_vector(connection: sqlite3.Connection, embedder: EmbedderRow) -> int:
    """The number of the last vector of an embedder: there are not more than so many."""
    (last,) = connection.execute(f"SELECT MAX(seq) FROM {vector_table(embedder.id)}").fetchone()
    return int(last or 0)


def vectors_of(
    connection: sqlite3.Connection, embedder: EmbedderRow, pieces: Sequence[int]
) -> dict[int, bytes]:
    """The stored vectors of those of these pieces that have one."""
    sql = f"SELECT piece, vector FROM {vector_table(embedder.id)} WHERE piece IN"
    return {
        piece: vector
        for some in portions(pieces)
        for piece, vector in connection.execute(f"{sql} ({marks(some)})", some)
    }


def _brought_to(
    held: EmbedderVectors, connection: sqlite3.Connection, state: StoredState, embedder: EmbedderRow
) -> EmbedderVectors:
    table = vector_table(embedder.id)
    last = max(last_vector(connection, embedder), held.after)
    if state.removals == held.state.removals and last >= held.last:
        if last == held.last and held.matrix.count:
            # Ranges of entries may have changed where vectors did not: another embedder's work, no pieces.
            return evolve(held, state=state, rows=OrderedDict())
        matrix = _loaded(
            held.matrix, connection, f"SELECT piece, vector FROM {table} WHERE seq > ?", held.last
        )
        return EmbedderVectors(held.generation, state, held.after, last, matrix)
    compared = _compared(held.matrix, connection, table, held.after)
    return EmbedderVectors(held.generation, state, held.after, last, compared)


def _compared(matrix: Matrix, connection: sqlite3.Connection, table: str, after: int) -> Matrix:
    """The matrix with exactly the pieces that have a vector now."""
    import numpy

    listed = connection.execute(f"SELECT piece FROM {table}" + (f" WHERE seq > {after}" if after else ""))
    live = numpy.array([piece for (piece,) in listed], dtype=numpy.int64)
    matrix = matrix.only(live)
    missing = numpy.setdiff1d(live, matrix.pieces)
    if len(missing) > len(live) // 4:
        sql = f"SELECT piece, vector FROM {table} WHERE seq > ?"
        return _loaded(Matrix(matrix.dimension), connection, sql, after)
    for piece in missing.tolist():
        matrix = _loaded(matrix, connection, f"SELECT piece, vector FROM {table} WHERE piece = ?", piece)
    return matrix


def _loaded(matrix: Matrix, connection: sqlite3.Connection, sql: str, value: int) -> Matrix:
    """The matrix with the rows of a query, read in batches so that they are in memory once."""
    import numpy

    cursor = connection.execute(sql, (value,))
    reserve = 0
    if matrix.count == 0:
        (expected,) = connection.execute(sql.replace("piece, vector", "COUNT(*)"), (value,)).fetchone()
        reserve = expected + expected // 16
    while rows := cursor.fetchmany(BATCH_ROWS):
        pieces = numpy.array([piece for piece, _ in rows], dtype=numpy.int64)
        matrix = matrix.appended(pieces, from_blobs([blob for _, blob in rows], matrix.dimension), reserve)
    return matrix


def ranges_of(connection: sqlite3.Connection, scope: Scope) -> list[tuple[int, int]]:
    """The pieces that a scope admits, as ranges in order."""
    if admits_nothing(scope):
        return []
    sql, values = condition(scope)
    rows = connection.execute(
        f"SELECT first, first + count - 1 FROM entries WHERE count > 0 AND {sql} ORDER BY first", values
    )
    return joined(rows.fetchall())


def joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, with those that follow on one another made one."""
    result: list[tuple[int, int]] = []
    for first, last in ranges:
        if result and result[-1][1] + 1 == first:
            result[-1] = (result[-1][0], last)
        else:
            result.append((first, last))
    return result


def rows_for(
    held: EmbedderVectors, connection: sqlite3.Connection, scope: Scope
) -> NDArray[numpy.intp] | None:
    """The rows that a scope admits; None for all of them."""
    if scope == Scope():
        return None
    rows = held.rows.get(scope)
    if rows is None:
        rows = rows_within(held.matrix.pieces, ranges_of(connection, scope))
        held.rows[scope] = rows
        while len(held.rows) > SCOPES_KEPT:
            held.rows.popitem(last=False)
    return None if len(rows) == held.matrix.count else rows
