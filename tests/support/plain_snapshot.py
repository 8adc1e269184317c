"""One state of the plain index: dictionaries, and the ranking said plainly.

It is slow on purpose: nothing in it is clever, so that a difference to a real index is a fault of that one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from context_pack.retrieval.model import FoundPiece, IndexEntry, PieceHit, Progress, Scope, Summary
from context_pack_adapters.index.keyword_search import K1, B, KeywordQuery, asked
from context_pack_adapters.index.vectors import Matrix, as_vector, cosines, from_blobs, mean

Name = tuple[str, str]


@frozen
class PlainPassage:
    """One piece: its entry, its place in it, how often it has which words, and how many of them."""

    name: Name
    at: int
    weights: Mapping[str, float]
    length: int
    text: str
    digest: bytes


@frozen
class PlainState:
    """All that is stored, at one moment."""

    entries: Mapping[Name, IndexEntry] = field(factory=dict)
    passages: Mapping[int, PlainPassage] = field(factory=dict)
    vectors: Mapping[str, Mapping[int, bytes]] = field(factory=dict)
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    next_piece: int = 1


def admits(scope: Scope, entry: IndexEntry) -> bool:
    """Whether a scope lets an entry be seen."""
    name = (entry.corpus, entry.key)
    return (
        (scope.corpora is None or entry.corpus in scope.corpora)
        and (scope.kinds is None or entry.kind in scope.kinds)
        and (not scope.module or entry.module == scope.module)
        and (scope.within is None or name == scope.within)
        and (scope.without is None or name != scope.without)
    )


class PlainSnapshot:
    """One state of the index."""

    def __init__(self, state: PlainState) -> None:
        self._state = state

    def admitted(self, scope: Scope) -> dict[int, PlainPassage]:
        entries = self._state.entries
        return {
            piece: passage
            for piece, passage in self._state.passages.items()
            if admits(scope, entries[passage.name])
        }

    def _asked(self, words: Sequence[str]) -> KeywordQuery:
        every = self._state.passages.values()
        counts = Counter(word for passage in every for word in passage.weights)

        def counted(some: Iterable[str]) -> tuple[int, dict[str, int]]:
            return len(every), {word: counts[word] for word in some if word in counts}

        return asked(words, counted, lambda word: min((each for each in counts if each > word), default=""))

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The best pieces by BM25 for these tokens (repeats count), best first, ties by piece."""
        query = self._asked(words)
        lengths = [passage.length for passage in self._state.passages.values()]
        usual = (sum(lengths) / len(lengths) if lengths else 0.0) or 1.0
        hits = []
        for piece, passage in self.admitted(scope).items():
            rate = K1 * (1 - B + B * passage.length / usual)
            parts = [
                times * query.rarities[word] * tf * (K1 + 1) / (tf + rate)
                for word, times in query.weights.items()
                if (tf := passage.weights.get(word, 0.0))
            ]
            if parts:
                hits.append((piece, sum(parts)))
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[: max(limit, 0)]

    def named(self, names: Sequence[str], scope: Scope, limit: int) -> Sequence[int]:
        """Pieces whose heading is one of these names, or ends in it after a dot, in their order."""
        entries = self._state.entries
        headings = {
            piece: entries[passage.name].pieces[passage.at].heading
            for piece, passage in self.admitted(scope).items()
        }
        found = [
            piece
            for piece, heading in sorted(headings.items())
            if heading in names or any(heading.endswith(f".{name}") for name in names)
        ]
        return found[: max(limit, 0)]

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass for these tokens."""
        return self._asked(words).ideal

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The nearest pieces by cosine, of those with a vector of that embedder; ties by piece."""
        import numpy

        vector = as_vector(vector)
        kept = self._vectors(embedder, vector, list(self.admitted(scope)))
        if not kept:
            return []
        matrix = Matrix(numpy.array(list(kept), dtype=numpy.int64), from_blobs(list(kept.values())))
        return matrix.nearest(vector, limit) if limit > 0 else []

    def _vectors(self, embedder: str, vector: Any, pieces: Sequence[int]) -> dict[int, bytes]:
        kept = self._state.vectors.get(embedder, {})
        return {piece: kept[piece] for piece in pieces if len(kept.get(piece, b"")) == 4 * len(vector)}

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The true cosine of each of these pieces that has a vector of that embedder."""
        kept = self._vectors(embedder, vector, pieces)
        if not kept:
            return {}
        scores = cosines(from_blobs(list(kept.values())), as_vector(vector))
        return dict(zip(kept, scores.tolist(), strict=True))

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors; None when it has none."""
        kept = self._state.vectors.get(embedder, {})
        pieces = self.admitted(Scope(within=(corpus, key)))
        blobs = [kept[piece] for piece in pieces if piece in kept]
        return mean(from_blobs(blobs)) if blobs else None

    def found(self, pieces: Sequence[int]) -> Sequence[FoundPiece]:
        """These pieces, in that order; those that are gone are left out."""
        return [self._found(piece) for piece in pieces if piece in self._state.passages]

    def _found(self, number: int) -> FoundPiece:
        passage = self._state.passages[number]
        entry = self._state.entries[passage.name]
        piece = entry.pieces[passage.at]
        return FoundPiece(
            number, entry.corpus, entry.key, entry.title, passage.at + 1, len(entry.pieces), piece.text,
            piece.start, piece.end, piece.heading, entry.kind, entry.module, piece.facts, entry.facts,
        )  # fmt: skip

    def unembedded(self, embedder: str, pieces: Sequence[int]) -> Mapping[int, str]:
        """What is to be embedded for those of these pieces that have no vector yet."""
        kept, passages = self._state.vectors.get(embedder, {}), self._state.passages
        return {piece: passages[piece].text for piece in pieces if piece in passages and piece not in kept}

    def dimension(self, embedder: str) -> int:
        """How long the vectors of that embedder are; 0 when there is none."""
        return len(next(iter(self._state.vectors.get(embedder, {}).values()), b"")) // 4

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope."""
        kept = self._state.vectors.get(embedder, {})
        admitted = self.admitted(scope)
        return Progress(sum(piece in kept for piece in admitted), len(admitted))

    def entry(self, corpus: str, key: str) -> IndexEntry | None:
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
