"""The changes of an index; the caller begins and commits the transaction.

An entry is replaced by taking its pieces out of every table and putting the new ones in. Vectors that lose
their piece are not thrown away: they retire to a bounded store that goes by the digest of the embedded text,
and come back when that text does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from context_pack.retrieval.model import Scope
from context_pack_adapters.index.posting_changes import (
    NewPiece,
    SlotChange,
    SlotPiece,
    change,
    next_slot,
    slot_changes,
)
from context_pack_adapters.index.preparing import Prepared
from context_pack_adapters.index.schema import create_vectors, state_of, vector_table
from context_pack_adapters.index.values import (
    admits_nothing,
    condition,
    embedded,
    marks,
    portions,
    to_content,
    to_name,
)
from context_pack_adapters.index.vector_search import EmbedderRow, embedder_row

EntryName = tuple[bytes, bytes]
"""Corpus and key of an entry, as columns take them."""
RETIRED_MOST = 50_000
_ENTRY = (
    "INSERT INTO entries (corpus, key, digest, stamp, title, size, kind, module, facts, first, count)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
)
_PIECE = (
    "INSERT INTO pieces"
    " (id, entry, ordinal, start, end, heading, facts, text, context, names, digest, slot)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def put(
    connection: sqlite3.Connection,
    batch: Sequence[Prepared],
    vectors: Mapping[bytes, bytes],
    fast: EmbedderRow,
) -> None:
    """Store entries in place of those of the same name, with the vectors of the fast embedder by digest."""
    state = state_of(connection)
    removed = take_out(connection, map(_name, batch), embedders(connection))
    gone = sum(map(len, removed.values()))
    first = piece = state.next_piece
    rows: list[tuple[object, ...]] = []
    changes: list[SlotChange] = []
    fresh = count(next_slot(connection))
    embeddings: list[tuple[int, bytes]] = []
    # Of two entries with one name in a batch the last stays, in its own place.
    last = {(each.entry.corpus, each.entry.key): at for at, each in enumerate(batch)}
    for each in (batch[at] for at in sorted(last.values())):
        entry = _put_entry(connection, each, piece)
        changed = list(slot_changes(removed.pop(_name(each), ()), _new_pieces(each, piece), fresh))
        slots = {change.piece: change.slot for change in changed}
        changes += changed
        for at, (passage, written) in enumerate(zip(each.entry.pieces, each.passages, strict=True)):
            rows.append((
                piece, entry, at + 1, passage.start, passage.end, passage.heading,
                written.facts, passage.text, passage.context,
                passage.names, written.digest, slots[piece],
            ))  # fmt: skip
            if written.digest in vectors:
                embeddings.append((piece, vectors[written.digest]))
            piece += 1
    connection.executemany(_PIECE, rows)
    change(connection, changes)
    connection.executemany(f"INSERT INTO {vector_table(fast.id)} (piece, vector) VALUES (?, ?)", embeddings)
    _restore_vectors(connection, first, piece - 1, fast)
    _advance(connection, gone, piece)


def _name(prepared: Prepared) -> EntryName:
    return to_name(prepared.entry.corpus), to_name(prepared.entry.key)


def _new_pieces(prepared: Prepared, first: int) -> list[NewPiece]:
    """The pieces of an entry that need slots, numbered from the first on."""
    in_module = bool(prepared.entry.module)
    both = zip(prepared.entry.pieces, prepared.passages, strict=True)
    return [
        NewPiece(number, passage.words, piece.text, piece.names, in_module)
        for number, (piece, passage) in enumerate(both, first)
    ]


def _put_entry(connection: sqlite3.Connection, prepared: Prepared, first: int) -> int:
    entry = prepared.entry
    (made,) = connection.execute(
        _ENTRY,
        (
            to_name(entry.corpus), to_name(entry.key), entry.digest, entry.stamp,
            entry.title, entry.size, entry.kind, entry.module,
            prepared.facts, first, len(entry.pieces),
        ),
    ).fetchone()  # fmt: skip
    connection.execute("INSERT INTO contents VALUES (?, ?)", (made, to_content(entry.text)))
    return int(made)


def _advance(connection: sqlite3.Connection, removed: int, next_piece: int | None = None) -> None:
    """Advance the counters of the index: it changed, and vectors may have been removed."""
    connection.execute(
        "UPDATE state SET revision = revision + 1, removals = removals + ?, next_piece = MAX(next_piece, ?)",
        (removed, next_piece or 0),
    )


def take_out(
    connection: sqlite3.Connection, names: Iterable[EntryName], known: Sequence[EmbedderRow]
) -> dict[EntryName, list[SlotPiece]]:
    """Remove entries, those that are there, with all but their words; what is in their slots."""
    removed = {}
    for name in dict.fromkeys(names):
        row = connection.execute(
            "DELETE FROM entries WHERE corpus = ? AND key = ?"
            " RETURNING id, first, first + count - 1, module <> ''",
            name,
        ).fetchall()
        for entry, first, last, in_module in row:
            connection.execute("DELETE FROM contents WHERE entry = ?", (entry,))
            pieces = _take_pieces(connection, first, last, known)
            removed[name] = [SlotPiece(*piece, bool(in_module)) for piece in pieces]
    if removed:
        connection.execute(
            "DELETE FROM retired WHERE id <= (SELECT MAX(id) FROM retired) - ?", (RETIRED_MOST,)
        )
    return removed


def _take_pieces(
    connection: sqlite3.Connection, first: int, last: int, known: Sequence[EmbedderRow]
) -> list[tuple[int, str, str]]:
    """Remove a run of pieces with their vectors; slot, text and names of each."""
    bounds = (first, last)
    for embedder in known:
        table = vector_table(embedder.id)
        connection.execute(
            "INSERT OR REPLACE INTO retired (embedder, digest, vector)"
            f" SELECT {embedder.id}, digest, vector FROM {table} JOIN pieces ON pieces.id = piece"
            " WHERE piece BETWEEN ? AND ?",
            bounds,
        )
        connection.execute(f"DELETE FROM {table} WHERE piece BETWEEN ? AND ?", bounds)
    connection.execute("DELETE FROM wanted WHERE piece BETWEEN ? AND ?", bounds)
    sql = "DELETE FROM pieces WHERE id BETWEEN ? AND ? RETURNING slot, text, names"
    return connection.execute(sql, bounds).fetchall()


def _restore_vectors(connection: sqlite3.Connection, first: int, last: int, fast: EmbedderRow) -> None:
    """Give new pieces the vectors that were made of the same texts before, retired or in use."""
    for embedder in embedders(connection):
        if embedder.id == fast.id:
            continue
        table = vector_table(embedder.id)
        for source in (
            f"JOIN retired r ON r.embedder = {embedder.id} AND r.digest = p.digest",
            f"JOIN pieces o ON o.digest = p.digest AND o.id <> p.id JOIN {table} r ON r.piece = o.id",
        ):
            connection.execute(
                f"INSERT OR IGNORE INTO {table} (piece, vector)"
                f" SELECT p.id, r.vector FROM pieces p {source} WHERE p.id BETWEEN ? AND ?"
                f" AND NOT EXISTS (SELECT 1 FROM {table} WHERE piece = p.id)",
                (first, last),
            )


def drop(connection: sqlite3.Connection, corpus: str, keys: Sequence[str]) -> None:
    """Remove these entries of a corpus."""
    name = to_name(corpus)
    removed = take_out(connection, [(name, to_name(key)) for key in keys], embedders(connection))
    change(connection, [each for pieces in removed.values() for each in slot_changes(pieces, (), count())])
    _advance(connection, sum(map(len, removed.values())))


def touch(connection: sqlite3.Connection, rows: Sequence[tuple[str, bytes, bytes]]) -> None:
    """New stamps for entries by corpus and key."""
    connection.executemany("UPDATE entries SET stamp = ? WHERE corpus = ? AND key = ?", rows)
    _advance(connection, 0)


def embedders(connection: sqlite3.Connection) -> list[EmbedderRow]:
    """Every embedder that the file has vectors of."""
    return [EmbedderRow(*row) for row in connection.execute("SELECT id, dimension FROM embedders")]


def enrol(connection: sqlite3.Connection, name: str, dimension: int) -> EmbedderRow:
    """The embedder's row, made if it is not there yet."""
    known = embedder_row(connection, name)
    if known is None:
        connection.execute("INSERT INTO embedders (name, dimension) VALUES (?, ?)", (name, dimension))
        known = embedder_row(connection, name)
        assert known is not None
        create_vectors(connection, known.id)
    return known


def renew(connection: sqlite3.Connection, name: str, dimension: int) -> bool:
    """Forget the vectors of an embedder that have another length than this; whether there were any."""
    known = embedder_row(connection, name)
    if known is None or known.dimension == dimension:
        return False
    # The new row is made beside the old one, so that no number comes twice: readers hold vectors by it.
    connection.execute("UPDATE embedders SET name = ? WHERE id = ?", (f"{name} (forgotten)", known.id))
    enrol(connection, name, dimension)
    connection.execute("DELETE FROM embedders WHERE id = ?", (known.id,))
    connection.execute("DELETE FROM retired WHERE embedder = ?", (known.id,))
    connection.execute(f"DROP TABLE {vector_table(known.id)}")
    _advance(connection, 1)
    return True


def recall(connection: sqlite3.Connection, name: str, digests: Iterable[bytes]) -> dict[bytes, bytes]:
    """The vectors that an embedder once made of texts with these digests."""
    known = embedder_row(connection, name)
    if known is None:
        return {}
    found: dict[bytes, bytes] = {}
    for some in portions(list(dict.fromkeys(digests))):
        among = f"digest IN ({marks(some)})"
        found.update(
            connection.execute(
                f"SELECT digest, vector FROM retired WHERE embedder = {known.id} AND {among}"
                " UNION ALL SELECT digest, vector FROM pieces"
                f" JOIN {vector_table(known.id)} ON piece = pieces.id WHERE {among}",
                (*some, *some),
            )
        )
    return {digest: blob for digest, blob in found.items() if len(blob) == known.dimension * 4}


def keep(connection: sqlite3.Connection, name: str, vectors: Mapping[int, bytes]) -> bool:
    """Store vectors of pieces that are there; whether older ones of another length gave way to them."""
    dimension = len(next(iter(vectors.values()))) // 4
    renewed = renew(connection, name, dimension)
    known = enrol(connection, name, dimension)
    connection.executemany(
        f"INSERT OR IGNORE INTO {vector_table(known.id)} (piece, vector)"
        " SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM pieces WHERE id = ?1)",
        [(piece, blob) for piece, blob in vectors.items() if len(blob) == known.dimension * 4],
    )
    connection.executemany("DELETE FROM wanted WHERE piece = ?", [(piece,) for piece in vectors])
    _advance(connection, 0)
    return renewed


def lacking(connection: sqlite3.Connection, name: str, scope: Scope, limit: int) -> dict[int, str]:
    """Pieces without a vector of an embedder and what to embed: most searched, named, newest first."""
    if admits_nothing(scope):
        return {}
    known = embedder_row(connection, name)
    sql, values = condition(scope)
    has = (
        ""
        if known is None
        else f" AND NOT EXISTS (SELECT 1 FROM {vector_table(known.id)} WHERE piece = p.id)"
    )
    within = "" if sql == "1" else f" AND EXISTS (SELECT 1 FROM entries WHERE entries.id = p.entry AND {sql})"
    rows: dict[int, str] = {}
    for order in (
        f"FROM wanted w JOIN pieces p ON p.id = w.piece WHERE 1{has}{within}"
        " ORDER BY w.times DESC, p.id DESC",
        f"FROM pieces p WHERE 1{has}{within} ORDER BY p.heading = '', p.id DESC",
    ):
        if len(rows) < limit:
            for piece, context, text in connection.execute(
                f"SELECT p.id, p.context, p.text {order} LIMIT ?", (*values, limit)
            ):
                if len(rows) < limit:
                    rows[piece] = embedded(context, text)
    return rows
