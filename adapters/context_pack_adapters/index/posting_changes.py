"""Changes of the words of an index: which piece has which slot, and what changes in the rows of its words.

An entry that is stored again keeps its slots: a piece with the same words as before takes over the slot and
changes no row, another one takes over what is left, and only the words that count otherwise are written. So a
small edit of a file writes a few rows, and what is left of a block does not become sparse by it.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from context_pack.retrieval.words import tokens
from context_pack_adapters.index.postings import BLOCK, LENGTHS, PAIR_BYTES, block_pieces, numbers
from context_pack_adapters.index.preparing import Words, count_words

MOST_COUNTED = 65_535
NO_PIECE = 0
_NO_WORDS = Words({}, 0)


class SlotPiece(NamedTuple):
    """A piece that has a slot, and what its words were counted of."""

    slot: int
    text: str
    names: str
    in_module: bool


class SlotChange(NamedTuple):
    """The next piece of a slot, if any, with the words before and after it; a new slot had none before."""

    slot: int
    piece: int
    before: Words | None
    after: Words


class NewPiece(NamedTuple):
    """A piece that needs a slot, its words, and what they were counted of."""

    piece: int
    words: Words
    text: str
    names: str
    in_module: bool


def next_slot(connection: sqlite3.Connection) -> int:
    """The first slot that was never used, or is in none of the blocks."""
    sql = "SELECT block, length(pieces) FROM blocks ORDER BY block DESC LIMIT 1"
    row = connection.execute(sql).fetchone()
    return row[0] * BLOCK + row[1] // array("q").itemsize if row else 0


def slot_changes(
    old: Sequence[SlotPiece], new: Sequence[NewPiece], fresh: Iterator[int]
) -> Iterator[SlotChange]:
    """Slots for the new pieces of an entry: first those of its old ones; what is left of them is emptied."""
    left = dict.fromkeys(old)
    same: dict[object, list[SlotPiece]] = defaultdict(list)
    for each in reversed(old):
        same[each[1:]].append(each)
    others = []
    for piece in new:
        if found := same.get(piece[2:]):
            left.pop(taken := found.pop())
            yield SlotChange(taken.slot, piece.piece, _NO_WORDS, _NO_WORDS)
        else:
            others.append(piece)
    for piece, each in zip(others, left, strict=False):
        yield SlotChange(each.slot, piece.piece, _words_in(each), piece.words)
    for piece in others[len(left) :]:
        yield SlotChange(next(fresh), piece.piece, None, piece.words)
    for each in [*left][len(others) :]:
        yield SlotChange(each.slot, NO_PIECE, _words_in(each), _NO_WORDS)


def _words_in(piece: SlotPiece) -> Words:
    """The words that were put in for a piece."""
    return count_words(tokens(piece.text), piece.names, piece.in_module)


class _BlockChange:
    """What changes in one block: pieces by place, and for each word counts in old places and in new ones."""

    def __init__(self) -> None:
        self.pieces: dict[int, int] = {}
        self.edits: dict[str, dict[int, int]] = defaultdict(dict)
        self.new: dict[str, bytes] = defaultdict(bytes)

    def note(self, place: int, change: SlotChange) -> None:
        """Note a change of the slot at that place."""
        before, after = change.before, change.after
        self.pieces[place] = change.piece
        if before is None:
            self.new[LENGTHS] += _pair(place, after.length)
            pairs = {count: _pair(place, count) for count in {*after.counts.values()}}
            for word, count in after.counts.items():
                self.new[word] += pairs[count]
            return
        if before.length != after.length:
            self.edits[LENGTHS][place] = after.length
        for word in before.counts.keys() | after.counts.keys():
            count = after.counts.get(word, 0)
            if count != before.counts.get(word, 0):
                self.edits[word][place] = count


def change(connection: sqlite3.Connection, changes: Iterable[SlotChange]) -> None:
    """Write what changes in slots and in the rows of words."""
    blocks: dict[int, _BlockChange] = defaultdict(_BlockChange)
    for each in changes:
        block, place = divmod(each.slot, BLOCK)
        blocks[block].note(place, each)
    for block, noted in blocks.items():
        _put_pieces(connection, block, noted.pieces)
        if noted.edits:
            _edit_rows(connection, block, noted.edits, noted.new)
        connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET pairs = CAST(pairs || excluded.pairs AS BLOB)",
            [(block, word, noted.new[word]) for word in sorted(noted.new) if noted.new[word]],
        )


def _put_pieces(connection: sqlite3.Connection, block: int, pieces: Mapping[int, int]) -> None:
    """Write which pieces are at these places; a block without any goes."""
    row = connection.execute("SELECT pieces FROM blocks WHERE block = ?", (block,)).fetchone()
    found = block_pieces(row[0] if row else b"")
    found.extend([NO_PIECE] * (max(pieces) + 1 - len(found)))
    for place, piece in pieces.items():
        found[place] = piece
    if any(found):
        connection.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?)", (block, found.tobytes()))
    else:
        connection.execute("DELETE FROM blocks WHERE block = ?", (block,))


def _edit_rows(
    connection: sqlite3.Connection,
    block: int,
    edits: dict[str, dict[int, int]],
    new: dict[str, bytes],
) -> None:
    """Change counts in the rows of words; those of words that have no row yet are put before the new ones."""
    emptied: list[tuple[int, str]] = []
    words = [(block, word) for word in sorted(edits)]

    def edited(word: str, pairs: bytes) -> bytes:
        row = _edited(pairs, edits.pop(word))
        if not row and word not in new:
            emptied.append((block, word))
        return row

    # SQLite asks for each row where it has it, in a third of the time of reading and writing them all.
    connection.create_function("edited", 2, edited)
    connection.executemany(
        "UPDATE postings SET pairs = edited(word, pairs) WHERE block = ? AND word = ?", words
    )
    connection.executemany("DELETE FROM postings WHERE block = ? AND word = ?", emptied)
    for word, places in edits.items():
        new[word] = _edited(b"", places) + new[word]


def _edited(pairs: bytes, counts: Mapping[int, int]) -> bytes:
    """The pairs with these counts at these places; none at a place that has 0."""
    places = numbers(pairs)[::2]
    parts, done = [], 0
    for place in sorted(counts):
        at = bisect_left(places, place, done)
        parts.append(pairs[done * PAIR_BYTES : at * PAIR_BYTES])
        parts.append(_pair(place, counts[place]) if counts[place] else b"")
        done = at + (at < len(places) and places[at] == place)
    return b"".join([*parts, pairs[done * PAIR_BYTES :]])


def _pair(place: int, count: int) -> bytes:
    """What a row holds of one piece."""
    return array("H", (place, min(count, MOST_COUNTED))).tobytes()
