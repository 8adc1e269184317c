"""The words of an index: which pieces hold a word, and how much it counts in each of them.

Each piece has a slot. Slots are cut into blocks, which know the piece at each of their places, and a row
holds what one word has in one block: pairs of a place and of how often the piece there holds the word, a name
three times, as 16-bit numbers in the order of places. Under the empty word stand the lengths of all pieces. A
question reads one row for each of its words and each block; `posting_changes` says what a change writes.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from context_pack_adapters.index.schema import K1, B
from context_pack_adapters.index.values import marks, portions

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

BLOCK = 8192
"""Slots in a block: more make a change slower, fewer a question."""
PAIR_BYTES = 4
LENGTHS = ""


class PostingRow(NamedTuple):
    """What a word has in one block."""

    block: int
    pairs: bytes


def block_pieces(stored: bytes) -> array[int]:
    """The pieces of a block by place; 0 where there is none."""
    pieces = array("q")
    pieces.frombytes(stored)
    return pieces


def numbers(pairs: bytes) -> memoryview[int]:
    """The numbers of a row: places and counts in turn."""
    return memoryview(pairs).cast("H")


def rows_of(
    connection: sqlite3.Connection, blocks: Iterable[int], words: Sequence[str]
) -> dict[str, list[PostingRow]]:
    """The rows of each of these words that any piece has, in the order of the blocks."""
    found: dict[str, list[PostingRow]] = {}
    for block in blocks:
        for word, row in _rows(connection, block, words):
            found.setdefault(word, []).append(row)
    return found


def _rows(
    connection: sqlite3.Connection, block: int, words: Sequence[str]
) -> Iterator[tuple[str, PostingRow]]:
    for some in portions(words):
        sql = f"SELECT word, pairs FROM postings WHERE block = ? AND word IN ({marks(some)})"
        for word, pairs in connection.execute(sql, (block, *some)):
            if len(pairs) % PAIR_BYTES:
                raise ValueError("a keyword row does not decode")
            yield word, PostingRow(block, pairs)


def next_word(connection: sqlite3.Connection, blocks: Iterable[int], word: str) -> str:
    """The next word of the index in alphabetical order, or nothing."""
    sql = "SELECT MIN(word) FROM postings WHERE block = ? AND word > ?"
    rows = [connection.execute(sql, (block, word)).fetchone()[0] for block in blocks]
    return min(filter(None, rows), default="")


def count_of(rows: Iterable[PostingRow]) -> int:
    """How many pieces are in these rows."""
    return sum(len(row.pairs) for row in rows) // PAIR_BYTES


class PieceLengths:
    """How many pieces an index has, where they are, and what the length of each does to its words' scores."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute("SELECT block, pieces FROM blocks ORDER BY block")
        self.pieces = {block: block_pieces(stored) for block, stored in rows}
        self.blocks = tuple(self.pieces)
        self._rows = rows_of(connection, self.blocks, [LENGTHS]).get(LENGTHS, [])
        self.count = count_of(self._rows)
        total = sum(sum(numbers(row.pairs)[1::2]) for row in self._rows)
        self._usual = total / self.count if total else 1.0

    @cached_property
    def rates(self) -> dict[int, list[float]]:
        """By block and place, what BM25 adds to a count in the divisor."""
        rates = {}
        for row in self._rows:
            rates[row.block] = [1.0] * BLOCK
            pairs = numbers(row.pairs)
            for place, length in zip(pairs[::2], pairs[1::2], strict=True):
                rates[row.block][place] = K1 * (1 - B + B * length / self._usual)
        return rates

    @cached_property
    def arrays(self) -> dict[int, NDArray[numpy.float64]]:
        """The rates for numpy."""
        import numpy

        arrays = {}
        for row in self._rows:
            arrays[row.block] = numpy.ones(BLOCK)
            pairs = numpy.frombuffer(row.pairs, numpy.uint16)
            arrays[row.block][pairs[::2]] = K1 * (1 - B + B * pairs[1::2] / self._usual)
        return arrays
