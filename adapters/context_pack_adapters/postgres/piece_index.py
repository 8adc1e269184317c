"""The search index of shared collections in the team's database: one member writes it, everybody searches it.

A word's pieces are kept as arrays, one row for each batch that was written; what has gone stays in them until
`tend`, and counts nowhere. Vectors are kept by the digest of what was embedded, too, and come back with it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, LiteralString

from context_pack.retrieval.model import IndexEntry, KnownEntry, Piece, Scope
from context_pack.retrieval.ports import OTHER_VECTORS, Embedder, Stop
from context_pack_adapters.index.preparing import Passage, Prepared, batches, prepare
from context_pack_adapters.index.values import (
    bounded,
    from_facts,
    from_name,
    to_content,
    to_facts,
    to_name,
)
from context_pack_adapters.index.vectors import to_blobs
from context_pack_adapters.postgres import piece_rows as sql
from context_pack_adapters.postgres.connection import Database, Link
from context_pack_adapters.postgres.faults import ConnectionLost
from context_pack_adapters.postgres.piece_snapshot import PostgresSnapshot, embedded_body, floats_text

_BEGIN_READING: LiteralString = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresIndex:
    """A `SearchIndex` in a database."""

    def __init__(self, database: Database, fast: Embedder) -> None:
        self._database, self._fast = database, fast
        self._notices: list[str] = []

    @contextmanager
    def reading(self) -> Iterator[PostgresSnapshot]:
        """The newest state, for as long as the context is open."""
        try:
            with ExitStack() as stack:
                yield PostgresSnapshot(self._begun(stack), self._database.project)
        except ConnectionLost as lost:
            raise lost.failure from None

    def _begun(self, stack: ExitStack) -> Link:
        """A connection in a transaction of its own; one that was idle may be gone."""
        for patient in (False, True):
            try:
                with ExitStack() as opening:
                    link = opening.enter_context(self._database.link(patient))
                    link.together((_BEGIN_READING, {}), ("SELECT txid_current_snapshot()", {}))
                    stack.push(opening.pop_all())
                    return link
            except ConnectionLost:
                self._database.close()
                if patient:
                    raise
        raise AssertionError

    def _write(self, work: Callable[[Link], object]) -> None:
        """Do the work in one transaction, alone among writers; it may be done again."""

        def attempt(link: Link, _: bool) -> None:
            link.execute("BEGIN")
            link.execute(sql.LOCK, self._values())
            work(link)
            link.execute(sql.ANALYZE_GROWN)
            link.execute("COMMIT")

        self._database.attempt(attempt)

    def _values(self, **values: Any) -> dict[str, Any]:
        return {"project": self._database.project, **values}

    def known(self, corpus: str) -> Mapping[str, KnownEntry]:
        """Digest and stamp of each entry of a corpus, by key."""
        rows = self._database.rows(sql.KNOWN, {"corpus": to_name(corpus)})
        return {from_name(key): KnownEntry(digest, stamp) for key, digest, stamp in rows}

    def known_each(self, corpora: Sequence[str]) -> Mapping[str, Mapping[str, KnownEntry]]:
        """What `known` says of each of these corpora, by corpus."""
        return {corpus: self.known(corpus) for corpus in corpora}

    def facts(self, corpus: str) -> Mapping[str, Mapping[str, Any]]:
        """The facts of those entries of a corpus that have some, by key."""
        rows = self._database.rows(sql.FACTS, {"corpus": to_name(corpus)})
        return {from_name(key): from_facts(facts) for key, facts in rows}

    def replace(self, entries: Iterable[IndexEntry]) -> None:
        """Store these entries, each whole or not at all, every piece with a vector of the fast embedder."""
        for batch in batches(entries):
            prepared, vectors = prepare(batch, self._recall, self._fast)
            # Of two entries with one name in a batch the last stays.
            last = {(each.entry.corpus, each.entry.key): each for each in prepared}
            self._write(lambda link: self._put(link, list(last.values()), vectors))  # noqa: B023

    def _recall(self, digests: Sequence[bytes]) -> Mapping[bytes, bytes]:
        values = {"model": self._fast.id, "digests": list(digests)}
        length = 4 * self._fast.dimension
        return {key: data for key, data in self._database.rows(sql.RECALL, values) if len(data) == length}

    def _put(self, link: Link, batch: Sequence[Prepared], vectors: Mapping[bytes, bytes]) -> None:
        count = sum(1 + len(each.passages) for each in batch)
        ids = iter([row[0] for row in link.execute(sql.IDS, {"count": count})])
        entries: list[dict[str, Any]] = []
        pieces: list[tuple[object, ...]] = []
        postings: dict[bytes, list[tuple[bytes, int, float]]] = defaultdict(list)
        for each in batch:
            corpus, entry = to_name(each.entry.corpus), next(ids)
            entries.append(self._values(id=entry, corpus=corpus, **_entry_row(each)))
            for at, (piece, passage) in enumerate(zip(each.entry.pieces, each.passages, strict=True), 1):
                number = next(ids)
                pieces.append((number, entry, at, *_piece_row(piece, passage)))
                counts = passage.counts.items()
                postings[corpus] += ((to_name(word), number, float(count)) for word, count in counts)
        for row in entries:
            link.execute(sql.DROP, {**row, "keys": [row["key"]]})
        link.cursor().executemany(sql.ENTRY, entries)
        link.execute(sql.PIECE, self._values(**_columns(_PIECE_COLUMNS, pieces)))
        for corpus, found in postings.items():
            given = _columns(("words", "pieces", "weights"), found)
            link.execute(sql.POSTINGS, self._values(corpus=corpus, **given))
        self._enrol(link, self._fast.id, self._fast.dimension)
        self._remember(link, self._fast.id, vectors.items())
        self._restore_vectors(link, [(row[0], row[5]) for row in pieces])

    def _remember(self, link: Link, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors by the digests of their texts."""
        given = _columns(("digests", "vectors"), list(vectors))
        link.execute(sql.REMEMBER, self._values(model=model, **given))

    def _restore_vectors(self, link: Link, pieces: Sequence[tuple[Any, Any]]) -> None:
        """Give pieces, which come with the digests of their texts, the vectors that are known of these."""
        lengths: dict[str, int] = dict(link.execute(sql.MODELS, self._values()).fetchall())
        asked = self._values(models=list(lengths), digests=[digest for _, digest in pieces])
        known: dict[bytes, list[tuple[str, bytes]]] = defaultdict(list)
        for model, digest, data in link.execute(sql.REMEMBERED, asked):
            if len(data) == 4 * lengths[model]:
                known[digest].append((model, data))
        rows = [
            (model, piece, len(data) // 4, floats_text(data))
            for piece, digest in pieces
            for model, data in known[digest]
        ]
        given = _columns(("models", "pieces", "dimensions", "vectors"), rows)
        link.execute(sql.EMBED, self._values(**given))

    def _enrol(self, link: Link, model: str, dimension: int) -> bool:
        """Register vectors of that length; returns whether older ones of another length were dropped."""
        found = link.execute(sql.MODEL, self._values(model=model)).fetchall()
        other = bool(found) and found[0][0] != dimension
        if other:
            link.execute(sql.UNEMBED, self._values(model=model))
            link.execute(sql.UNREMEMBER, self._values(model=model))
        link.execute(sql.ENROL, self._values(model=model, dimension=dimension))
        return other

    def touch(self, corpus: str, stamps: Mapping[str, str]) -> None:
        """New stamps for entries whose content is the same."""
        name = to_name(corpus)
        rows = [self._values(corpus=name, key=to_name(key), stamp=stamp) for key, stamp in stamps.items()]
        if rows:
            self._write(lambda link: link.cursor().executemany(sql.TOUCH, rows))

    def forget(self, corpus: str, keys: Iterable[str] | None = None) -> None:
        """Remove these entries; without keys, the whole corpus and what was noted of it."""
        name = to_name(corpus)
        if keys is not None:
            values = self._values(corpus=name, keys=[to_name(key) for key in keys])
            self._write(lambda link: link.execute(sql.DROP, values))
            return

        def work(link: Link) -> None:
            for statement in (sql.DROP_CORPUS, sql.DROP_WORDS, sql.DROP_NOTE):
                link.execute(statement, self._values(corpus=name))

        self._write(work)

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""
        values = self._values(corpus=to_name(corpus), facts=to_facts(facts))
        self._write(lambda link: link.execute(sql.NOTE, values))

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder and what to embed: named ones first, then the newest."""
        values = {"model": embedder, "limit": bounded(limit), **sql.scope_values(scope)}
        return {piece: embedded_body(body) for piece, body in self._database.rows(sql.LACKING, values)}

    def keep(self, embedder: str, vectors: Mapping[int, Any]) -> None:
        """Store vectors of pieces; longer or shorter ones than before take the place of all older ones."""
        if not vectors:
            return
        made = to_blobs(vectors.values(), len(next(iter(vectors.values()))))
        blobs = dict(zip(vectors, made, strict=True))

        def work(link: Link) -> None:
            if self._enrol(link, embedder, len(next(iter(blobs.values()))) // 4):
                self._notices.append(OTHER_VECTORS)
            digests = link.execute(sql.DIGESTS, self._values(pieces=list(blobs))).fetchall()
            self._remember(link, embedder, ((digest, blobs[piece]) for piece, digest in digests))
            self._restore_vectors(link, digests)

        self._write(work)

    def renew(self, embedder: str, dimension: int) -> None:
        """Forget the vectors of that embedder if they have another length than this."""

        def work(link: Link) -> None:
            if link.execute(sql.MODEL, self._values(model=embedder)).fetchall():
                self._enrol(link, embedder, dimension)

        self._write(work)

    def tend(self, stop: Stop) -> None:
        """Join the arrays of each word, without what has gone."""
        if not stop():
            self._write(lambda link: link.execute(sql.MERGE, self._values()))

    def notices(self) -> Sequence[str]:
        """The queued notices for the user; each is returned once."""
        notices, self._notices = self._notices, []
        return notices


_PIECE_COLUMNS = ("ids", "entries", "ordinals", "headings", "lengths", "digests", "bodies")


def _columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, list[object]]:
    """Rows as one list for each column, which a statement takes all at once."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _entry_row(prepared: Prepared) -> dict[str, Any]:
    entry = prepared.entry
    return {
        "key": to_name(entry.key),
        "kind": to_name(entry.kind),
        "module": to_name(entry.module),
        "digest": entry.digest,
        "stamp": entry.stamp,
        "facts": to_facts(entry.facts),
        "head": json.dumps([entry.title, entry.size]),
        "content": to_content(entry.text),
        "pieces": len(prepared.passages),
    }


def _piece_row(piece: Piece, passage: Passage) -> tuple[object, ...]:
    body = [piece.text, piece.start, piece.end, piece.heading, piece.context, piece.names, dict(piece.facts)]
    return to_name(piece.heading), passage.length, passage.digest, json.dumps(body)
