"""The changes of an index; the caller begins and commits the transaction.

An entry is replaced by taking its pieces out of every table and putting the new ones in. Vectors that lose
their piece are not thrown away: they retire to a bounded store that goes by the digest of the embedded text,
and come back when that text does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from context_pack.retrieval.model import Scope
from context_pack_adapters.index import postings
from context_pack_adapters.index.preparing import Passage, Prepared
from context_pack_adapters.index.schema import create_vectors, state_of, vector_table
from context_pack_adapters.index.values import (
    admits_nothing,
    condition,
    embedded,
    from_content,
    marks,
    portions,
    to_content,
    to_name,
)
from context_pack_adapters.index.vector_search import EmbedderRow, embedder_row

RETIRED_MOST = 50_000
_ENTRY = (
    "INSERT INTO entries (corpus, key, digest, stamp, title, size, kind, module, facts, first, count)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
)
_PIECE = (
    "INSERT INTO pieces"
    " (id, entry, ordinal, start, end, heading, facts, text, context, names, digest)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def put(
    connection: sqlite3.Connection,
    batch: Sequence[Prepared],
    vectors: Mapping[bytes, bytes],
    fast: EmbedderRow,
) -> None:
    """Store entries in place of those of the same name, with the vectors of the fast embedder by digest."""
    state = state_of(connection)
    removed = take_out(
        connection,
        [(to_name(each.entry.corpus), to_name(each.entry.key)) for each in batch],
        embedders(connection),
    )
    first = piece = state.next_piece
    rows: list[tuple[object, ...]] = []
    words: list[tuple[int, Passage]] = []
    embeddings: list[tuple[int, bytes]] = []
    # Of two entries with one name in a batch the last stays, in its own place.
    last = {(each.entry.corpus, each.entry.key): at for at, each in enumerate(batch)}
    for each in (batch[at] for at in sorted(last.values())):
        entry = _put_entry(connection, each, piece)
        for at, (passage, written) in enumerate(zip(each.entry.pieces, each.passages, strict=True)):
            rows.append((
                piece, entry, at + 1, passage.start, passage.end, passage.heading,
                written.facts, passage.text, passage.context,
                passage.names, written.digest,
            ))  # fmt: skip
            words.append((piece, written))
            if written.digest in vectors:
                embeddings.append((piece, vectors[written.digest]))
            piece += 1
    connection.executemany(_PIECE, rows)
    postings.change(connection, removed, words)
    connection.executemany(f"INSERT INTO {vector_table(fast.id)} (piece, vector) VALUES (?, ?)", embeddings)
    _restore_vectors(connection, first, piece - 1, fast)
    _advance(connection, _pieces_in(removed), piece)


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
    words = sorted(set[str]().union(*[passage.counts for passage in prepared.passages]))
    connection.execute(
        "INSERT INTO contents VALUES (?, ?, ?)",
        (made, to_content(entry.text), to_content(" ".join(words))),
    )
    return int(made)


def _advance(connection: sqlite3.Connection, removed: int, next_piece: int | None = None) -> None:
    """Advance the counters of the index: it changed, and vectors may have been removed."""
    connection.execute(
        "UPDATE state SET revision = revision + 1, removals = removals + ?, next_piece = MAX(next_piece, ?)",
        (removed, next_piece or 0),
    )


def take_out(
    connection: sqlite3.Connection, names: Iterable[tuple[bytes, bytes]], known: Sequence[EmbedderRow]
) -> list[postings.EntryWords]:
    """Remove entries, those that are there, with all that belongs to them but their words, which are told."""
    removed = []
    for name in dict.fromkeys(names):
        row = connection.execute(
            "DELETE FROM entries WHERE corpus = ? AND key = ? RETURNING id, first, first + count - 1", name
        ).fetchall()
        for entry, first, last in row:
            (words,) = connection.execute(
                "DELETE FROM contents WHERE entry = ? RETURNING words", (entry,)
            ).fetchone()
            _take_pieces(connection, first, last, known)
            removed.append(postings.EntryWords(first, last, from_content(words).split()))
    if removed:
        connection.execute(
            "DELETE FROM retired WHERE id <= (SELECT MAX(id) FROM retired) - ?", (RETIRED_MOST,)
        )
    return removed


def _pieces_in(entries: Iterable[postings.EntryWords]) -> int:
    return sum(last - first + 1 for first, last, _ in entries)


def _take_pieces(connection: sqlite3.Connection, first: int, last: int, known: Sequence[EmbedderRow]) -> None:
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
    connection.execute("DELETE FROM pieces WHERE id BETWEEN ? AND ?", bounds)


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
    postings.change(connection, removed, ())
    _advance(connection, _pieces_in(removed))


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
