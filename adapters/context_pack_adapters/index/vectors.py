"""The vectors of an index: one matrix in memory for each embedder, and exact search in it.

A piece that its embedder would not take has a vector of zeros: it is near to nothing, and found by its words.
Vectors are kept by the digest of the embedded text, so a text that comes back, or stands in two places, is
embedded once.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Hashable, Iterable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from context_pack.retrieval.model import Progress

Floats = NDArray[numpy.float32]
Ids = NDArray[numpy.int64]

_ROUNDING = 4e-6
"""How far a float32 product may be from the true one; rows this close are compared again."""
_JOINED = "FROM pieces CROSS JOIN vectors ON embedder = ? AND vectors.digest = pieces.digest"


def embedding_text(context: str, text: str) -> str:
    """The text of a piece that an embedder gets: context and text."""
    return f"{context}\n\n{text}" if context else text


def digest_of(text: str) -> str:
    """The key of an embedded text among the vectors."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Matrix(NamedTuple):
    """The vectors of pieces, in the order of pieces."""

    pieces: Ids
    vectors: Floats

    def nearest(
        self, vector: Any, limit: int, admitted: Iterable[int] | None = None
    ) -> list[tuple[int, float]]:
        """The best pieces among the admitted by cosine, ties by piece."""
        pieces, vectors = self if admitted is None else self.of(list(admitted))
        if limit < len(pieces):
            # Row by row: for a whole matrix BLAS wakes threads, which takes longer on a busy machine.
            products = numpy.matmul(vectors[:, None, :], as_vector(vector)[:, None])[:, 0, 0]
            best = products >= numpy.partition(products, -limit)[-limit] - _ROUNDING
            pieces, vectors = pieces[best], vectors[best]
        scores = cosines(vectors, vector)
        order = numpy.lexsort((pieces, -scores))[:limit]
        return list(zip(pieces[order].tolist(), scores[order].tolist(), strict=True))

    def of(self, pieces: Sequence[int]) -> Matrix:
        """Those of these pieces that have a vector."""
        keep = numpy.isin(self.pieces, pieces)
        return Matrix(self.pieces[keep], self.vectors[keep])


class HeldVectors:
    """The matrices that all readers of an index share, each as of one revision."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[str, tuple[int, Matrix]] = {}
        self.progress: dict[Hashable, Progress] = {}

    def of(self, connection: sqlite3.Connection, embedder: str, dimension: int) -> Matrix:
        """All vectors of an embedder in the state that a connection sees; only new ones are loaded.

        Loading all of them takes 40 ms for 10 000 pieces, and each edit makes another revision.
        """
        (revision,) = connection.execute("SELECT revision FROM state").fetchone()
        with self._lock:
            held_revision, held = self._held.get(embedder, (-1, None))
            if held is None or held.vectors.shape[1] != dimension:
                held = Matrix(numpy.empty(0, numpy.int64), numpy.empty((0, dimension), numpy.float32))
            elif held_revision == revision:
                return held
            rows = connection.execute(f"SELECT pieces.id {_JOINED} ORDER BY pieces.id", (embedder,))
            live = numpy.fromiter((piece for (piece,) in rows), numpy.int64)
            new = loaded(connection, embedder, numpy.setdiff1d(live, held.pieces).tolist())
            if len(new.pieces) or len(live) < len(held.pieces):
                still = held.of(live.tolist())
                pieces = numpy.concatenate([still.pieces, new.pieces])
                vectors = numpy.concatenate([still.vectors, new.vectors.reshape(-1, dimension)])
                order = numpy.argsort(pieces)
                held = Matrix(pieces[order], vectors[order])
            self._held[embedder] = (revision, held)
            return held

    def forget(self) -> None:
        """Give the memory back."""
        self._held.clear()


def loaded(connection: sqlite3.Connection, embedder: str, pieces: Sequence[int]) -> Matrix:
    """The stored vectors of these pieces."""
    within = "pieces.id IN (SELECT value FROM json_each(?))"
    sql = f"SELECT pieces.id, vector {_JOINED} WHERE {within} ORDER BY pieces.id"
    rows = connection.execute(sql, (embedder, json.dumps(pieces))).fetchall()
    vectors = from_blobs([blob for _, blob in rows])
    # The numbers of a normalised vector are between -1 and 1, whatever a damaged file says.
    vectors = numpy.nan_to_num(vectors).clip(-1.0, 1.0)
    return Matrix(numpy.array([piece for piece, _ in rows], numpy.int64), vectors)


def as_vector(vector: Any) -> Floats:
    """A vector as float32, whatever sequence of numbers it came as."""
    return numpy.ascontiguousarray(vector, dtype=numpy.float32).reshape(-1)


def from_blobs(blobs: Sequence[bytes]) -> Floats:
    """Vectors from their bytes, one per row."""
    return numpy.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1 if blobs else 0)


def to_blobs(vectors: Iterable[Any], dimension: int) -> list[bytes]:
    """The bytes of vectors; zeros for each of another length or with something that is no number."""
    rows = [as_vector(vector) for vector in vectors]
    nothing = numpy.zeros(dimension, numpy.float32)
    return [
        (row if len(row) == dimension and numpy.isfinite(row).all() else nothing).astype("<f4").tobytes()
        for row in rows
    ]


def cosines(vectors: Floats, vector: Any) -> NDArray[numpy.float64]:
    """The cosine of each row with a vector, both normalised, however many rows there are beside it."""
    products = vectors.reshape(-1, len(vector)).astype(numpy.float64) * as_vector(vector)
    sums: NDArray[numpy.float64] = products.sum(axis=1)
    return sums.clip(-1.0, 1.0)


def mean(vectors: Floats) -> Floats | None:
    """The normalised mean of rows; None if there are none or they cancel out."""
    middle = vectors.mean(axis=0) if len(vectors) else numpy.zeros(1, numpy.float32)
    length = float(numpy.linalg.norm(middle))
    return None if length < 1e-6 else middle / length
