"""Exact search in a matrix of vectors that grows at its end and is never changed under a reader.

A `Matrix` is a view: appending makes a longer view of the same memory where there is room, removing makes a
new memory. A single product of matrix and vector finds candidates in float32; what is returned is the cosine
computed again in float64 over those alone, so that a piece has the same cosine whichever way it was found.
The product is one of vectors for each row: for a matrix BLAS would wake threads, which takes up to ten times
as long where another process has a core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from context_pack_adapters.vectors.plain import is_plain

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float32]
    Ids = NDArray[numpy.int64]

GATHER_ROWS = 20_000
"""Up to so many admitted rows it is cheaper to copy them than to multiply with all."""
_ROUNDING = 4e-6
"""How far a float32 product may be from the true one; rows this close are compared again."""
_SPARE_TIES = 512
BLOCK_NUMBERS = 16_384
_SLACK = 1024


class _SharedRows:
    """Memory that views share; `used` rows of it are taken."""

    def __init__(self, rows: int, dimension: int) -> None:
        import numpy

        self.pieces: Ids = numpy.empty(rows, dtype=numpy.int64)
        self.vectors: Floats = numpy.empty((rows, dimension), dtype=numpy.float32)
        self.used = 0


class Matrix:
    """The vectors of pieces, in the order they came."""

    def __init__(self, dimension: int, room: _SharedRows | None = None, count: int = 0) -> None:
        self.dimension = dimension
        self._room = room or _SharedRows(0, dimension)
        self.count = count
        self.pieces: Ids = self._room.pieces[:count]
        self.vectors: Floats = self._room.vectors[:count]
        self._order: NDArray[numpy.intp] | None = None

    def appended(self, pieces: Ids, vectors: Floats, reserve: int = 0) -> Matrix:
        """This matrix with more rows; `reserve` says how many are expected in all."""
        total = self.count + len(pieces)
        room = self._room
        if room.used != self.count or total > len(room.pieces):
            room = _SharedRows(max(reserve, total + total // 8 + _SLACK), self.dimension)
            room.pieces[: self.count] = self.pieces
            room.vectors[: self.count] = self.vectors
        room.pieces[self.count : total] = pieces
        room.vectors[self.count : total] = vectors
        room.used = total
        return Matrix(self.dimension, room, total)

    def only(self, live: Ids) -> Matrix:
        """This matrix without the rows of pieces that are not among these."""
        import numpy

        kept = numpy.isin(self.pieces, live)
        if kept.all():
            return self
        return Matrix(self.dimension).appended(self.pieces[kept], self.vectors[kept])

    def of(self, pieces: Sequence[int]) -> tuple[list[int], Floats]:
        """Those of these pieces that have a vector, and their vectors."""
        import numpy

        if self._order is None:
            self._order = numpy.argsort(self.pieces)
        if not self.count:
            return [], self.vectors
        places = numpy.searchsorted(self.pieces, pieces, sorter=self._order)
        rows = self._order[numpy.minimum(places, self.count - 1)]
        rows = rows[self.pieces[rows] == pieces]
        return self.pieces[rows].tolist(), self.vectors[rows]

    def nearest(self, vector: Any, limit: int, rows: NDArray[numpy.intp] | None) -> list[tuple[int, float]]:
        """The best pieces among these rows (all of them for None) by cosine, ties by piece."""
        import numpy

        asked = as_vector(vector)
        if rows is None:
            return best(self.pieces, self.vectors, _products(self.vectors, asked), asked, limit)
        if len(rows) <= GATHER_ROWS:
            vectors = self.vectors[rows]
            return best(self.pieces[rows], vectors, _products(vectors, asked), asked, limit)
        scores = numpy.full(self.count, -numpy.inf, dtype=numpy.float32)
        scores[rows] = _products(self.vectors, asked)[rows]
        return best(self.pieces, self.vectors, scores, asked, min(limit, len(rows)))


def matrix_of(blobs: Mapping[int, bytes], dimension: int) -> Matrix:
    """The stored vectors of these pieces as a matrix."""
    import numpy

    pieces = numpy.array(list(blobs), dtype=numpy.int64)
    return Matrix(dimension).appended(pieces, from_blobs(list(blobs.values()), dimension))


def _products(vectors: Floats, vector: Floats) -> Floats:
    """Each row times the vector."""
    import numpy

    products: Floats = numpy.matmul(vectors[:, None, :], vector[:, None])[:, 0, 0]
    return products


def as_vector(vector: Any) -> Floats:
    """A vector as float32, whatever sequence of numbers it came as."""
    import numpy

    return numpy.ascontiguousarray(vector, dtype=numpy.float32).reshape(-1)


def to_blob(vector: Any, dimension: int) -> bytes | None:
    """The bytes of a vector; None if it has another length or holds something that is no number."""
    import numpy

    numbers = as_vector(vector)
    if len(numbers) != dimension or not numpy.isfinite(numbers).all():
        return None
    return numbers.astype("<f4", copy=False).tobytes()


def to_blobs(vectors: Any, dimension: int) -> list[bytes | None]:
    """The bytes of many vectors; None for each of another length or with something that is no number."""
    if isinstance(vectors, list) and all(is_plain(each) and len(each) == dimension for each in vectors):
        return [each.tobytes() if all(map(isfinite, each)) else None for each in vectors]
    import numpy

    try:
        rows = numpy.asarray(vectors, dtype="<f4")
    except ValueError:  # of different lengths
        return [to_blob(vector, dimension) for vector in vectors]
    if rows.ndim != 2 or rows.shape[1] != dimension:
        return [None] * len(rows)
    return [
        row.tobytes() if good else None
        for row, good in zip(rows, numpy.isfinite(rows).all(axis=1).tolist(), strict=True)
    ]


def from_blobs(blobs: Sequence[bytes], dimension: int) -> Floats:
    """Vectors from their bytes, one per row.

    Raises:
        ValueError: they do not have that dimension, or hold something that is no number.
    """
    import numpy

    rows = numpy.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), dimension)
    with numpy.errstate(all="ignore"):
        # One number tells of all: what is not finite stays so in a sum.
        total = rows.sum()
    if not numpy.isfinite(total):
        raise ValueError("a vector holds something that is no number")
    return rows


def cosines(vectors: Floats, vector: Floats) -> NDArray[numpy.float64]:
    """The cosine of each row with a vector, both normalised: the one way in which it is computed."""
    import numpy

    # Multiplied and added row by row: a matrix product may round a row by where it stands. What is 0 in the
    # vector, as most of a question's hashes are, adds nothing. A block of rows stays in memory that the
    # process has; more needs new pages, which takes eight times as long.
    places = numpy.flatnonzero(vector)
    wide = vector[places].astype(numpy.float64)
    step = max(1, BLOCK_NUMBERS // max(1, len(places)))
    starts = range(0, max(1, len(vectors)), step)
    sums = numpy.concatenate(
        [(vectors[at : at + step].take(places, axis=1) * wide).sum(axis=1) for at in starts]
    )
    cosine: NDArray[numpy.float64] = numpy.clip(sums, -1.0, 1.0)
    return cosine


def best(pieces: Ids, vectors: Floats, scores: Floats, vector: Floats, limit: int) -> list[tuple[int, float]]:
    """The best of the scored rows, by their true cosines, ties by piece."""
    import numpy

    limit = min(limit, len(pieces))
    if limit <= 0:
        return []
    rows = numpy.arange(len(pieces))
    if limit < len(pieces):
        least = numpy.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows = numpy.flatnonzero(scores >= least - _ROUNDING)
        if len(rows) > 2 * limit + _SPARE_TIES:  # as alike as rounding can tell: the first pieces win
            is_close = scores[rows] <= least + _ROUNDING
            sure, close = rows[~is_close], rows[is_close]
            close = close[numpy.argsort(pieces[close], kind="stable")[: limit + _SPARE_TIES]]
            rows = numpy.concatenate([sure, close])
    true = cosines(vectors[rows], vector)
    order = numpy.lexsort((pieces[rows], -true))[:limit]
    return list(zip(pieces[rows[order]].tolist(), true[order].tolist(), strict=True))


def mean(vectors: Floats) -> Floats | None:
    """The normalised mean of rows; None if there are none or they cancel out."""
    import numpy

    if not len(vectors):
        return None
    middle = vectors.astype(numpy.float64).mean(axis=0)
    length = float(numpy.linalg.norm(middle))
    if length < 1e-12:
        return None
    centre: Floats = (middle / length).astype(numpy.float32)
    return centre


def rows_within(pieces: Ids, ranges: Sequence[tuple[int, int]]) -> NDArray[numpy.intp]:
    """The rows whose piece lies in one of these ranges (first and last), which are sorted and do not meet."""
    import numpy

    if not ranges:
        return numpy.empty(0, dtype=numpy.intp)
    bounds = numpy.array(ranges, dtype=numpy.int64)
    at = numpy.searchsorted(bounds[:, 0], pieces, side="right") - 1
    return numpy.flatnonzero((at >= 0) & (pieces <= bounds[at, 1]))
