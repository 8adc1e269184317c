"""The words of an index: which pieces hold a word, and how much it counts in each of them.

The numbers of pieces are cut into blocks, and a row holds what one word has in one block: pairs of a piece's
place in the block and of how often it holds the word, a name three times, as 16-bit numbers. Under the empty
word stand the lengths of all pieces. Numbers of pieces only grow: new pairs go to the end of a row, and what
an entry has in a row is one run of it. A few files change the rows of their own words in one or two blocks,
and a question reads one row for each of its words and each block.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from context_pack_adapters.index.preparing import Passage
from context_pack_adapters.index.schema import K1, B
from context_pack_adapters.index.values import marks, portions
from context_pack_adapters.index.vector_search import joined

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

BLOCK = 8192
"""Numbers in a block: more make a change slower, fewer a question."""
PAIR_BYTES = 4
MOST_COUNTED = 65_535
LENGTHS = ""
_NEXT_BLOCK = "SELECT MIN(block) FROM postings WHERE block > ?"


class PostingRow(NamedTuple):
    """What a word has in one block."""

    block: int
    pairs: bytes


class EntryWords(NamedTuple):
    """The first and the last piece of an entry, and the words in them."""

    first: int
    last: int
    words: Iterable[str]


def change(
    connection: sqlite3.Connection, removed: Iterable[EntryWords], added: Iterable[tuple[int, Passage]]
) -> None:
    """Take out the words of all pieces of some entries, and put in those of new pieces."""
    new = _new_rows(added)
    for block, (runs, words) in _removed_runs(removed).items():
        _change_rows(connection, block, sorted(words), joined(sorted(runs)), new[block])
    for block, rows in new.items():
        connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET pairs = CAST(pairs || excluded.pairs AS BLOB)",
            [(block, word, _pairs(rows[word])) for word in sorted(rows)],
        )


def _new_rows(added: Iterable[tuple[int, Passage]]) -> dict[int, dict[str, list[int]]]:
    """What new pieces add to the rows of words, by block."""
    blocks: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for piece, passage in added:
        block, place = divmod(piece, BLOCK)
        rows = blocks[block]
        rows[LENGTHS] += place, passage.length
        for word, count in passage.counts.items():
            rows[word] += place, count
    return blocks


def _pairs(row: Iterable[int]) -> bytes:
    """A row as it is stored."""
    try:
        return array("H", row).tobytes()
    except OverflowError:  # by a count: a place is small
        return array("H", [min(number, MOST_COUNTED) for number in row]).tobytes()


def _removed_runs(removed: Iterable[EntryWords]) -> dict[int, tuple[list[tuple[int, int]], set[str]]]:
    """By block the places to remove, as runs from the first to the last, and the words that stand there."""
    blocks: dict[int, tuple[list[tuple[int, int]], set[str]]] = defaultdict(lambda: ([], {LENGTHS}))
    for first, last, words in removed:
        for block in range(first // BLOCK, last // BLOCK + 1):
            runs, every = blocks[block]
            runs.append((first - block * BLOCK, last - block * BLOCK))
            every.update(words)
    return blocks


def _change_rows(
    connection: sqlite3.Connection,
    block: int,
    words: Iterable[str],
    runs: Sequence[tuple[int, int]],
    new: dict[str, list[int]],
) -> None:
    """Take runs of places out of the rows of these words, and move what is `new` for these words to them."""
    emptied: list[tuple[int, str]] = []

    def changed(word: str, pairs: bytes) -> bytes:
        row = _without(pairs, runs) + _pairs(new.pop(word, ()))
        if not row:
            emptied.append((block, word))
        return row

    # SQLite asks for each row where it has it, in a third of the time of reading and writing them all.
    connection.create_function("changed", 2, changed)
    connection.executemany(
        "UPDATE postings SET pairs = changed(word, pairs) WHERE block = ? AND word = ?",
        [(block, word) for word in words],
    )
    connection.executemany("DELETE FROM postings WHERE block = ? AND word = ?", emptied)


def _without(pairs: bytes, runs: Iterable[tuple[int, int]]) -> bytes:
    """The pairs but for those of these places, given as runs from the first to the last."""
    for first, last in runs:
        places = numbers(pairs)[::2]
        start, end = bisect_left(places, first), bisect_right(places, last)
        if start < end:
            pairs = pairs[: start * PAIR_BYTES] + pairs[end * PAIR_BYTES :]
    return pairs


def numbers(pairs: bytes) -> memoryview[int]:
    """The numbers of a row: places and counts in turn."""
    return memoryview(pairs).cast("H")


def blocks_of(connection: sqlite3.Connection) -> Iterator[int]:
    """The blocks that have pieces, in order."""
    (block,) = connection.execute("SELECT MIN(block) FROM postings").fetchone()
    while block is not None:
        yield block
        (block,) = connection.execute(_NEXT_BLOCK, (block,)).fetchone()


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
    """How many pieces an index has, and what the length of each does to the scores of its words."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.blocks = tuple(blocks_of(connection))
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
