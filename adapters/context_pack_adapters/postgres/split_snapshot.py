"""One state of two indexes: shared collections are asked of the team's, all others of the local one.

Pieces of the team's index have negative numbers here. A scope that has both is ranked by the scores of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from attrs import evolve

from context_pack.documents.domain.naming import is_shared
from context_pack.retrieval.model import FoundPiece, IndexEntry, PieceHit, Progress, Scope, Summary
from context_pack.retrieval.ports import Snapshot


class Part(NamedTuple):
    """One index, its sign, and what of a scope is in it."""

    snapshot: Snapshot
    sign: int
    scope: Scope


def scope_of(scope: Scope, shared: bool) -> Scope | None:
    """The part of a scope in the team's index, or in the local one; None if there is none."""
    if scope.within is not None and is_shared(scope.within[0]) is not shared:
        return None
    if scope.corpora is None:
        return scope
    some = tuple(corpus for corpus in scope.corpora if is_shared(corpus) is shared)
    return evolve(scope, corpora=some) if some else None


class SplitSnapshot:
    """A state of both; the team's is opened when it is first asked, and None if it cannot be reached."""

    def __init__(self, local: Snapshot, team: Callable[[], Snapshot | None]) -> None:
        self._local, self._team = local, team
        self._asked: list[Part] = []

    def _parts(self, scope: Scope) -> list[Part]:
        """The indexes that have something of a scope."""
        found = []
        if (near := scope_of(scope, False)) is not None:
            found.append(Part(self._local, 1, near))
        far = scope_of(scope, True)
        if far is not None and (team := self._team()) is not None:
            found.append(Part(team, -1, far))
        return found

    def _of(self, corpus: str) -> Snapshot | None:
        return self._team() if is_shared(corpus) else self._local

    def _by_sign(self, pieces: Sequence[int]) -> list[tuple[Snapshot, int, list[int]]]:
        """These pieces under the numbers that their own index knows."""
        near, far = [one for one in pieces if one > 0], [-one for one in pieces if one < 0]
        team = self._team() if far else None
        return [(self._local, 1, near), *([] if team is None else [(team, -1, far)])]

    def keyword(self, words: Sequence[str], scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The best pieces by BM25 for these tokens, best first."""
        self._asked = self._parts(scope)
        return _best(self._asked, lambda part: part.snapshot.keyword(words, part.scope, limit), limit)

    def named(self, names: Sequence[str], scope: Scope, limit: int) -> Sequence[int]:
        """Pieces whose heading is one of these names."""
        parts = self._parts(scope)
        found = [p.sign * piece for p in parts for piece in p.snapshot.named(names, p.scope, limit)]
        return found[: max(limit, 0)]

    def ideal(self, words: Sequence[str]) -> float:
        """The BM25 score that no piece can pass, in the indexes that were asked for words last."""
        asked = [part.snapshot for part in self._asked] or [self._local]
        return max(snapshot.ideal(words) for snapshot in asked)

    def nearest(self, embedder: str, vector: Any, scope: Scope, limit: int) -> Sequence[PieceHit]:
        """The nearest pieces by cosine."""
        parts = self._parts(scope)
        return _best(parts, lambda part: part.snapshot.nearest(embedder, vector, part.scope, limit), limit)

    def cosines(self, embedder: str, vector: Any, pieces: Sequence[int]) -> Mapping[int, float]:
        """The true cosine of each of these pieces."""
        return {
            sign * piece: score
            for snapshot, sign, some in self._by_sign(pieces)
            for piece, score in snapshot.cosines(embedder, vector, some).items()
        }

    def centroid(self, embedder: str, corpus: str, key: str) -> Any | None:
        """The normalised mean of an entry's vectors."""
        snapshot = self._of(corpus)
        return None if snapshot is None else snapshot.centroid(embedder, corpus, key)

    def found(self, pieces: Sequence[int]) -> Sequence[FoundPiece]:
        """These pieces, in that order."""
        rows = {
            sign * one.piece: evolve(one, piece=sign * one.piece)
            for snapshot, sign, some in self._by_sign(pieces)
            for one in snapshot.found(some)
        }
        return [rows[piece] for piece in pieces if piece in rows]

    def dimension(self, embedder: str) -> int:
        """How long the vectors of that embedder are, in the indexes that were asked for words last."""
        asked = [part.snapshot for part in self._asked] or [self._local]
        return max(snapshot.dimension(embedder) for snapshot in asked)

    def progress(self, embedder: str, scope: Scope) -> Progress:
        """How far that embedder has come in the scope."""
        all_of = [part.snapshot.progress(embedder, part.scope) for part in self._parts(scope)]
        return Progress(sum(one.done for one in all_of), sum(one.total for one in all_of))

    def entry(self, corpus: str, key: str) -> IndexEntry | None:
        """One entry with its text and pieces."""
        snapshot = self._of(corpus)
        return None if snapshot is None else snapshot.entry(corpus, key)

    def summaries(self, corpus: str, offset: int = 0, limit: int | None = None) -> Sequence[Summary]:
        """The entries of a corpus in key order."""
        snapshot = self._of(corpus)
        return () if snapshot is None else snapshot.summaries(corpus, offset, limit)

    def counts(self) -> Mapping[str, int]:
        """How many entries each corpus has."""
        team = self._team()
        return {**self._local.counts(), **({} if team is None else team.counts())}

    def corpus_facts(self, corpus: str) -> Mapping[str, Any] | None:
        """What was noted of a corpus."""
        snapshot = self._of(corpus)
        return None if snapshot is None else snapshot.corpus_facts(corpus)


def _best(parts: Sequence[Part], ask: Callable[[Part], Sequence[PieceHit]], limit: int) -> Sequence[PieceHit]:
    hits = [(part.sign * piece, score) for part in parts for piece, score in ask(part)]
    return hits if len(parts) == 1 else sorted(hits, key=lambda hit: -hit[1])[: max(limit, 0)]
