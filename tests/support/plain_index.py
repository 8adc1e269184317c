"""An index of dictionaries, which the real ones are compared with: a change makes a new state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from attrs import evolve
from plain_snapshot import Name, PlainPassage, PlainSnapshot, PlainState

from context_pack.retrieval.model import IndexEntry, KnownEntry, Scope
from context_pack.retrieval.ports import OTHER_VECTORS, Embedder, Stop
from context_pack_adapters.index.preparing import Prepared, batches, prepare
from context_pack_adapters.index.values import to_facts
from context_pack_adapters.index.vectors import to_blobs


class PlainIndex:
    """A search index in memory that is said plainly."""

    def __init__(self, fast: Embedder) -> None:
        self._fast = fast
        self._lock = Lock()
        self._state = PlainState()
        self._cache: dict[str, dict[bytes, bytes]] = {}
        self._notices: list[str] = []

    @contextmanager
    def reading(self) -> Iterator[PlainSnapshot]:
        """The newest state, for as long as the context is open."""
        yield PlainSnapshot(self._state)

    def known(self, corpus: str) -> Mapping[str, KnownEntry]:
        """What is remembered of each entry of a corpus, by key."""
        entries = self._state.entries
        return {
            key: KnownEntry(e.digest, e.stamp) for (name, key), e in sorted(entries.items()) if name == corpus
        }

    def known_each(self, corpora: Sequence[str]) -> Mapping[str, Mapping[str, KnownEntry]]:
        """What `known` says of each of these corpora, by corpus."""
        return {corpus: self.known(corpus) for corpus in corpora}

    def facts(self, corpus: str) -> Mapping[str, Mapping[str, Any]]:
        """The facts of those entries of a corpus that have some, by key."""
        entries = self._state.entries
        return {key: e.facts for (name, key), e in sorted(entries.items()) if name == corpus and e.facts}

    def replace(self, entries: Iterable[IndexEntry]) -> None:
        """Store these entries, each whole or not at all, every piece with a vector of the fast embedder."""
        for batch in batches(entries):
            with self._lock:
                cache = self._cache.setdefault(self._fast.id, {})
                prepared, vectors = prepare(
                    batch,
                    lambda digests: {digest: cache[digest] for digest in digests if digest in cache},  # noqa: B023
                    self._fast,
                )
                cache.update(vectors)
                for each in prepared:
                    self._put(each)

    def _put(self, prepared: Prepared) -> None:
        entry = prepared.entry
        for facts in (entry.facts, *(piece.facts for piece in entry.pieces)):
            to_facts(facts)  # what is no JSON is refused, as on disk
        name = (entry.corpus, entry.key)
        state = self._without([name])
        first = state.next_piece
        passages = {
            first + at: PlainPassage(
                name,
                at,
                written.counts,
                written.length,
                written.text,
                written.digest,
            )
            for at, written in enumerate(prepared.passages)
        }
        vectors = {
            embedder: {
                **state.vectors.get(embedder, {}),
                **{piece: cache[new.digest] for piece, new in passages.items() if new.digest in cache},
            }
            for embedder, cache in self._cache.items()
        }
        self._state = PlainState(
            {**state.entries, name: entry},
            {**state.passages, **passages},
            vectors,
            state.facts,
            first + len(passages),
        )

    def _without(self, names: Iterable[Name]) -> PlainState:
        gone = set(names)
        state = self._state
        passages = {piece: passage for piece, passage in state.passages.items() if passage.name not in gone}
        return evolve(
            state,
            entries={name: entry for name, entry in state.entries.items() if name not in gone},
            passages=passages,
            vectors={
                embedder: {piece: blob for piece, blob in kept.items() if piece in passages}
                for embedder, kept in state.vectors.items()
            },
        )

    def touch(self, corpus: str, stamps: Mapping[str, str]) -> None:
        """New stamps for entries whose content is the same."""
        with self._lock:
            entries = dict(self._state.entries)
            for key, stamp in stamps.items():
                if (corpus, key) in entries:
                    entries[corpus, key] = evolve(entries[corpus, key], stamp=stamp)
            self._state = evolve(self._state, entries=entries)

    def forget(self, corpus: str, keys: Iterable[str] | None = None) -> None:
        """Remove these entries; without keys, the whole corpus and what was noted of it."""
        with self._lock:
            going = [name for name in self._state.entries if name[0] == corpus]
            if keys is None:
                facts = {name: noted for name, noted in self._state.facts.items() if name != corpus}
                self._state = evolve(self._without(going), facts=facts)
            else:
                self._state = self._without((corpus, key) for key in keys)

    def note(self, corpus: str, facts: Mapping[str, Any]) -> None:
        """Remember facts of a corpus."""
        to_facts(facts)  # what is no JSON is refused, as on disk
        with self._lock:
            self._state = evolve(self._state, facts={**self._state.facts, corpus: dict(facts)})

    def lacking(self, embedder: str, scope: Scope, limit: int) -> Mapping[int, str]:
        """Pieces without a vector of that embedder and what to embed: named ones first, then the newest."""
        with self.reading() as snapshot:
            texts = snapshot.unembedded(embedder, list(snapshot.admitted(scope)))
            named = {found.piece for found in snapshot.found(list(texts)) if found.heading}
        first = sorted(texts, key=lambda piece: (piece not in named, -piece))
        return {piece: texts[piece] for piece in first[:limit]}

    def keep(self, embedder: str, vectors: Mapping[int, Any]) -> None:
        """Store vectors of pieces; longer or shorter ones than before take the place of all older ones."""
        made = to_blobs(vectors.values(), len(next(iter(vectors.values()), ())))
        blobs = dict(zip(vectors, made, strict=True))
        with self._lock:
            length = len(next(iter(blobs.values()), b""))
            if length and self._renew(embedder, length):
                self._notices.append(OTHER_VECTORS)
            cache = self._cache.setdefault(embedder, {})
            kept = dict(self._state.vectors.get(embedder, {}))
            for piece, blob in blobs.items():
                if len(blob) == length and piece in self._state.passages:
                    cache[self._state.passages[piece].digest] = blob
                    kept.setdefault(piece, blob)
            self._state = evolve(self._state, vectors={**self._state.vectors, embedder: kept})

    def renew(self, embedder: str, dimension: int) -> None:
        """Forget the vectors of that embedder if they have another length than this."""
        with self._lock:
            self._renew(embedder, dimension * 4)

    def _renew(self, embedder: str, length: int) -> bool:
        if all(len(blob) == length for blob in self._cache.get(embedder, {}).values()):
            return False
        self._cache[embedder] = {}
        self._state = evolve(self._state, vectors={**self._state.vectors, embedder: {}})
        return True

    def tend(self, stop: Stop) -> None:
        """Nothing needs to be made faster."""

    def notices(self) -> Sequence[str]:
        """What the user should hear once."""
        with self._lock:
            told, self._notices = self._notices, []
        return told
