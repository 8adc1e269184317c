"""The index on disk: one SQLite file per kind of thing searched, read and written by many processes.

Implements `retrieval.ports.SearchIndex`. Everything in the file can be made again from the sources, so a file
that cannot be used is set aside and an empty one takes its place; `notices()` tells of it.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.model import IndexEntry, KnownEntry, Scope
from context_pack.retrieval.ports import OTHER_VECTORS, Embedder, Stop
from context_pack_adapters.disk.faults import translated
from context_pack_adapters.disk.opening import AnyPlace, Place
from context_pack_adapters.index import writing
from context_pack_adapters.index.file import IndexFile
from context_pack_adapters.index.graph_search import GRAPH_AT, GraphSearch
from context_pack_adapters.index.preparing import BATCH_PIECES, batches, prepare
from context_pack_adapters.index.remembering import StateCache
from context_pack_adapters.index.schema import IndexRecipe, check_structure, state_of
from context_pack_adapters.index.snapshot import Shared, SqliteSnapshot
from context_pack_adapters.index.values import (
    bounded,
    from_facts,
    from_name,
    to_facts,
    to_name,
)
from context_pack_adapters.vectors.exact import to_blob

T = TypeVar("T")
WRITE_SECONDS = 30.0
"""How long a writer waits for the others; each of them is done within about a second."""


class SqliteIndex:
    """A search index in one file; nothing is opened before it is needed."""

    def __init__(
        self,
        place: AnyPlace,
        fast: Embedder,
        *,
        chunker: str,
        timeout: float = WRITE_SECONDS,
        graph_at: int = GRAPH_AT,
    ) -> None:
        file = IndexFile(place, IndexRecipe(fast.id, fast.dimension, chunker), timeout)
        self._begin(file, fast, Place.of(place).path, graph_at)

    def _begin(self, file: IndexFile, fast: Embedder, path: str, graph_at: int) -> None:
        self._file, self._fast = file, fast
        self._shared = Shared.of(GraphSearch(path, graph_at))
        self._closed = weakref.finalize(self, file.close)

    def close(self) -> None:
        """Close the file and give the memory back; the next call opens it again."""
        self._file.close()
        self._shared.vectors.forget()
        self._shared.graphs.forget()

    @contextmanager
    def reading(self) -> Iterator[SqliteSnapshot]:
        """The newest state, for as long as the context is open."""
        with self._file.reading() as (opened, connection):
            yield SqliteSnapshot(self._file.name, opened, connection, self._shared)

    def known(self, corpus: str) -> Mapping[str, KnownEntry]:
        """Digest and stamp of each entry of a corpus, by key."""
        return self.known_each([corpus])[corpus]

    def known_each(self, corpora: Sequence[str]) -> Mapping[str, Mapping[str, KnownEntry]]:
        """What `known` says of each of these corpora, by corpus, in one state."""

        def ask(connection: sqlite3.Connection, corpus: str) -> dict[str, KnownEntry]:
            rows = connection.execute(
                "SELECT key, digest, stamp FROM entries WHERE corpus = ? ORDER BY key", (to_name(corpus),)
            )
            return {from_name(key): KnownEntry(digest, stamp) for key, digest, stamp in rows}

        return self._kept("known", corpora, ask)

    def facts(self, corpus: str) -> Mapping[str, Mapping[str, Any]]:
        """The facts of those entries of a corpus that have some, by key."""

        def ask(connection: sqlite3.Connection, corpus: str) -> dict[str, Mapping[str, Any]]:
            sql = "SELECT key, facts FROM entries WHERE corpus = ? AND facts <> '{}' ORDER BY key"
            rows = connection.execute(sql, (to_name(corpus),))
            return {from_name(key): from_facts(facts) for key, facts in rows}

        return self._kept("facts", [corpus], ask)[corpus]

    def _kept(
        self, what: str, corpora: Sequence[str], ask: Callable[[sqlite3.Connection, str], T]
    ) -> dict[str, T]:
        """The cached results of a query for each of these corpora, on the newest state."""
        values: StateCache[Hashable, T] = self._shared.values

        def read(connection: sqlite3.Connection) -> dict[str, T]:
            state = state_of(connection)
            return {each: values.one(state, (what, each), partial(ask, connection, each)) for each in corpora}

        return self._file.read(read)

    def replace(self, entries: Iterable[IndexEntry]) -> None:
        """Store these entries, each whole or not at all, every piece with a vector of the fast embedder."""
        fast, read = self._fast, self._file.read
        for batch in batches(entries):
            prepared, vectors = prepare(
                batch, lambda digests: read(lambda each: writing.recall(each, fast.id, digests)), fast
            )

            def put(connection: sqlite3.Connection) -> None:
                row = writing.enrol(connection, fast.id, fast.dimension)
                writing.put(connection, prepared, vectors, row)  # noqa: B023

            self._file.write(put)

    def touch(self, corpus: str, stamps: Mapping[str, str]) -> None:
        """New stamps for entries whose content is the same."""
        rows = [(stamp, to_name(corpus), to_name(key)) for key, stamp in stamps.items()]
        if rows:
            self._file.write(lambda connection: writing.touch(connection, rows))

    def forget(self, corpus: str, keys: Iterable[str] | None = None) -> None:
        """Remove these entries; without keys, the whole corpus and what was noted of it."""
        going = list(self.known(corpus)) if keys is None else list(keys)
        # An entry has a dozen pieces as a rule: a portion is written in well under a second.
        for start in range(0, len(going), BATCH_PIECES // 10):
            some = going[start : start + BATCH_PIECES // 10]
            self._file.write(lambda connection: writing.drop(connection, corpus, some))  # noqa: B023
        if keys is None:
            sql = "DELETE FROM corpora WHERE name = ?"
            self._file.write(lambda connection: connection.execute(sql, (to_name(corpus),)))

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""
        sql = "INSERT OR REPLACE INTO corpora (name, facts) VALUES (?, ?)"
        row = (to_name(corpus), to_facts(facts))
        self._file.write(lambda connection: connection.execute(sql, row))

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder and what to embed: most searched, named, newest first."""
        most = bounded(limit)
        return self._file.read(lambda connection: writing.lacking(connection, embedder, scope, most))

    def keep(self, embedder: str, vectors: Mapping[int, Any]) -> None:
        """Store vectors of pieces; longer or shorter ones than before take the place of all older ones."""
        given = {piece: to_blob(vector, len(vector)) for piece, vector in vectors.items()}
        blobs = {piece: blob for piece, blob in given.items() if blob is not None}
        if not blobs:
            return
        if self._file.write(lambda connection: writing.keep(connection, embedder, blobs)):
            self._file.tell(OTHER_VECTORS)

    def renew(self, embedder: str, dimension: int) -> None:
        """Forget the vectors of that embedder if they have another length than this."""
        self._file.write(lambda connection: writing.renew(connection, embedder, dimension))

    def wanted(self, pieces: Sequence[int]) -> None:
        """Note that a search looked at these pieces, unless the index is locked."""
        sql = (
            "INSERT INTO wanted SELECT ?1, 1 WHERE EXISTS (SELECT 1 FROM pieces WHERE id = ?1)"
            " ON CONFLICT (piece) DO UPDATE SET times = times + 1"
        )
        rows = [(piece,) for piece in pieces]
        try:
            self._file.write(lambda connection: connection.executemany(sql, rows), wait=False)
        except Failure as failure:
            if failure.code is not Code.LOCK_TIMEOUT:
                raise

    def tend(self, stop: Stop) -> None:
        """Look for damage, and make graphs of very many vectors."""
        self._file.read(check_structure)
        with translated(self._file.name), self.reading() as snapshot:
            snapshot.make_graphs(self._fast, stop)

    def notices(self) -> Sequence[str]:
        """What the user should hear once: an index that was rebuilt or set aside, in one sentence each."""
        return self._file.notices()
