"""The twin of the index on disk, in memory: dictionaries, and the same ranking said plainly.

Every change makes a new state; who reads keeps the one it began with. It is slow on purpose: nothing in it is
clever, so that a difference between the two is a fault of the other one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from attrs import evolve, field, frozen

from context_pack.retrieval.model import Entry, Found, Hit, Known, Progress, Scope, Summary
from context_pack.retrieval.ports import Embedder, Stop
from context_pack_adapters.index.keyword_leg import asked_words, clean, fts5_rarity, ideal_score, rarity
from context_pack_adapters.index.preparing import Prepared, batches, embed_missing, prepare
from context_pack_adapters.index.schema import K1, NAMES_WEIGHT, B
from context_pack_adapters.index.values import to_facts
from context_pack_adapters.vectors.exact import Matrix, as_vector, cosines, from_blobs, mean, to_blob

Name = tuple[str, str]


@frozen
class _Passage:
    """One piece: its entry, its place in it, how often it has which words, and how many of them."""

    name: Name
    at: int
    weights: Mapping[str, float]
    length: int
    text: str
    digest: bytes


@frozen
class _State:
    """All that is stored, at one moment."""

    entries: Mapping[Name, Entry] = field(factory=dict)
    passages: Mapping[int, _Passage] = field(factory=dict)
    vectors: Mapping[str, Mapping[int, bytes]] = field(factory=dict)
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    next_piece: int = 1


def admits(scope: Scope, entry: Entry) -> bool:
    """Whether a scope lets an entry be seen."""
    name = (entry.corpus, entry.key)
    return (
        (scope.corpora is None or entry.corpus in scope.corpora)
        and (scope.kinds is None or entry.kind in scope.kinds)
        and (not scope.module or entry.module == scope.module)
        and (scope.within is None or name == scope.within)
        and (scope.without is None or name != scope.without)
    )


class MemorySnapshot:
    """One state of the index."""

    def __init__(self, state: _State) -> None:
        self._state = state

    def _admitted(self, scope: Scope) -> dict[int, _Passage]:
        entries = self._state.entries
        return {
            piece: passage
            for piece, passage in self._state.passages.items()
            if admits(scope, entries[passage.name])
        }

    def _rarities(self, words: Sequence[str]) -> dict[str, tuple[float, float]]:
        every = self._state.passages.values()
        counts = {word: sum(word in passage.weights for passage in every) for word in set(clean(words))}
        total = len(every)
        return {word: (rarity(total, n), fts5_rarity(total, n)) for word, n in counts.items() if n}

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[Hit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""
        rarities = self._rarities(words)
        asked = asked_words(words, rarities)
        lengths = [passage.length for passage in self._state.passages.values()]
        usual = sum(lengths) / len(lengths) if lengths else 1.0
        hits = []
        for piece, passage in self._admitted(scope).items():
            rate = K1 * (1 - B + B * passage.length / usual)
            parts = [
                times * rarities[word][0] * tf * (K1 + 1) / (tf + rate)
                for word, times in asked.items()
                if (tf := passage.weights.get(word, 0.0))
            ]
            if parts:
                hits.append(Hit(piece, sum(parts)))
        return sorted(hits, key=lambda hit: (-hit.score, hit.piece))[: max(limit, 0)]

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens."""
        rarities = self._rarities(words)
        return ideal_score(asked_words(words, rarities), rarities)

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[Hit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""
        import numpy

        vector = as_vector(vector)
        kept = self._vectors(embedder, vector, list(self._admitted(scope)))
        if not kept:
            return []
        matrix = Matrix(len(vector)).appended(
            numpy.array(list(kept), dtype=numpy.int64), from_blobs(list(kept.values()), len(vector))
        )
        return [Hit(*hit) for hit in matrix.nearest(vector, limit, None)]

    def expect(self, embedder: str, vectors: Sequence[Any]) -> None:
        """Nothing is made faster here."""

    def _vectors(self, embedder: str, vector: Any, pieces: Sequence[int]) -> dict[int, bytes]:
        kept = self._state.vectors.get(embedder, {})
        return {piece: kept[piece] for piece in pieces if len(kept.get(piece, b"")) == 4 * len(vector)}

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The true cosine of each of these pieces that has a vector of that embedder."""
        kept = self._vectors(embedder, vector, pieces)
        if not kept:
            return {}
        scores = cosines(from_blobs(list(kept.values()), len(vector)), as_vector(vector))
        return dict(zip(kept, scores.tolist(), strict=True))

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors; None when it has none."""
        kept = self._state.vectors.get(embedder, {})
        pieces = self._admitted(Scope(within=(corpus, key)))
        blobs = [kept[piece] for piece in pieces if piece in kept]
        return mean(from_blobs(blobs, len(blobs[0]) // 4)) if blobs else None

    def found(self, pieces: Sequence[int]) -> Sequence[Found]:
        """These pieces, in that order; those that are gone are left out."""
        return [self._found(piece) for piece in pieces if piece in self._state.passages]

    def _found(self, number: int) -> Found:
        passage = self._state.passages[number]
        entry = self._state.entries[passage.name]
        piece = entry.pieces[passage.at]
        return Found(
            number, entry.corpus, entry.key, entry.title, passage.at + 1, len(entry.pieces), piece.text,
            piece.start, piece.end, piece.heading, entry.kind, entry.module, piece.facts, entry.facts,
        )  # fmt: skip

    def unembedded(self, embedder: str, pieces: Sequence[int]) -> Mapping[int, str]:
        """What is to be embedded for those of these pieces that have no vector yet."""
        kept, passages = self._state.vectors.get(embedder, {}), self._state.passages
        return {piece: passages[piece].text for piece in pieces if piece in passages and piece not in kept}

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope."""
        kept = self._state.vectors.get(embedder, {})
        admitted = self._admitted(scope)
        return Progress(sum(piece in kept for piece in admitted), len(admitted))

    def entry(self, corpus: str, key: str) -> Entry | None:
        """One entry with its text and pieces."""
        return self._state.entries.get((corpus, key))

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""
        entries = sorted((e for e in self._state.entries.values() if e.corpus == corpus), key=lambda e: e.key)
        return [
            Summary(e.corpus, e.key, e.title, e.size, e.kind, e.module, e.facts)
            for e in entries[offset : None if limit is None else offset + limit]
        ]

    def counts(self) -> Mapping[str, int]:
        """How many entries each corpus has; one that was only noted has none."""
        return dict.fromkeys(self._state.facts, 0) | Counter(corpus for corpus, _ in self._state.entries)

    def corpus_facts(self, corpus: str) -> Mapping[str, Any] | None:
        """What was noted of a corpus; None for one that was never noted."""
        return self._state.facts.get(corpus)


class MemoryIndex:
    """A search index in memory, for embedders of the library and for tests."""

    def __init__(self, fast: Embedder) -> None:
        self._fast = fast
        self._lock = Lock()
        self._state = _State()
        self._cache: dict[str, dict[bytes, bytes]] = {}
        self._wanted: Counter[int] = Counter()

    @contextmanager
    def reading(self) -> Iterator[MemorySnapshot]:
        """The newest state, for as long as the context is open."""
        yield MemorySnapshot(self._state)

    def known(self, corpus: str) -> Mapping[str, Known]:
        """What is remembered of each entry of a corpus, by key."""
        entries = self._state.entries
        return {key: Known(e.digest, e.stamp) for (name, key), e in sorted(entries.items()) if name == corpus}

    def replace(self, entries: Iterable[Entry]) -> None:
        """Store these entries, each whole or not at all, every piece with a vector of the fast embedder."""
        for batch in batches(entries):
            prepared = [prepare(entry) for entry in batch]
            with self._lock:
                cache = self._cache.setdefault(self._fast.id, {})
                cache.update(embed_missing(prepared, cache, self._fast))
                for each in prepared:
                    self._put(each)

    def _put(self, prepared: Prepared) -> None:
        entry = prepared.entry
        name = (entry.corpus, entry.key)
        state = self._without([name])
        first = state.next_piece
        passages = {
            first + at: _Passage(
                name,
                at,
                _weights(written.columns.names, written.columns.body),
                sum(len(column.split()) for column in written.columns),
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
        self._state = _State(
            {**state.entries, name: entry},
            {**state.passages, **passages},
            vectors,
            state.facts,
            first + len(passages),
        )

    def _without(self, names: Iterable[Name]) -> _State:
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
        """Pieces without a vector of that embedder and what to embed, most searched and newest first."""
        with self.reading() as snapshot:
            texts = snapshot.unembedded(embedder, list(snapshot._admitted(scope)))
        first = sorted(texts, key=lambda piece: (-self._wanted[piece], -piece))
        return {piece: texts[piece] for piece in first[:limit]}

    def keep(self, embedder: str, vectors: Mapping[int, Any]) -> None:
        """Store vectors of pieces; those of pieces that have gone, or of another length, are dropped."""
        with self._lock:
            cache = self._cache.setdefault(embedder, {})
            kept = dict(self._state.vectors.get(embedder, {}))
            for piece, vector in vectors.items():
                length = len(next(iter(cache.values()))) // 4 if cache else len(vector)
                blob = to_blob(vector, length)
                if blob is not None and piece in self._state.passages:
                    cache[self._state.passages[piece].digest] = blob
                    kept.setdefault(piece, blob)
                self._wanted.pop(piece, None)
            self._state = evolve(self._state, vectors={**self._state.vectors, embedder: kept})

    def wanted(self, pieces: Sequence[int]) -> None:
        """Note that a search looked at these pieces, so that they are embedded first."""
        with self._lock:
            self._wanted.update(pieces)

    def tend(self, stop: Stop) -> None:
        """Nothing needs to be made faster."""

    def notices(self) -> Sequence[str]:
        """Nothing ever happens to it."""
        return []


def _weights(names: str, body: str) -> dict[str, float]:
    """How much each word counts in a piece."""
    weights: dict[str, float] = {}
    for column, weight in ((names, NAMES_WEIGHT), (body, 1.0)):
        for word in column.split():
            weights[word] = weights.get(word, 0.0) + weight
    return weights
