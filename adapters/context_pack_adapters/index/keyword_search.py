"""BM25 over the keyword index, with the rarity of words that Lucene uses.

FTS5's own rarity is next to nothing for a word that half of the pieces hold, which makes small collections
unsearchable: in four notes, a word of two of them would count for nothing. So each word is asked for by
itself and its score is multiplied by the ratio of the two rarities. Where the whole index is asked, the
scores of each word are kept for the next question; within a scope the sums are made inside SQLite.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from math import log
from threading import Lock
from typing import NamedTuple

from context_pack.retrieval.model import Scope
from context_pack.retrieval.short_forms import related, stand_in
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.schema import K1, WEIGHTS, StoredState
from context_pack_adapters.index.values import admits_nothing, match_filter, match_word, to_tokens
from context_pack_adapters.index.vector_search import ranges_of

MOST_WORDS = 64
"""Of a longer query only so many different words are looked up, the rarest; time grows with each."""
FEW_RANGES = 16
"""So few ranges of pieces filter faster by their bounds than by the tokens of the scope."""
WORDS_REMEMBERED = 10_000
SCORES_REMEMBERED = 1_000_000
"""Words come again, the common ones first: their scores are kept, 16 bytes each."""
RELATED = 0.25
"""What another form of a word counts (`db` for `database`): more or less was worse on cosqa-dev."""


class Rarity(NamedTuple):
    """The weight of a word as Lucene has it, and as FTS5 has it."""

    ours: float
    theirs: float

    @classmethod
    def of(cls, total: int, having: int) -> Rarity:
        """That of a word that `having` of `total` pieces hold."""
        return cls(rarity(total, having), fts5_rarity(total, having))


class Scores(NamedTuple):
    """Pieces and their scores for one word."""

    pieces: array[int]
    scores: array[float]


Counted = Callable[[Iterable[str]], tuple[int, dict[str, int]]]
"""How many pieces there are, and how many of them have each of these words, for those that stand anywhere."""


class WordCounts:
    """In how many pieces words stand, and which, as of one state; readers of the same state share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: tuple[object, int] = (None, -1)
        self._counts: dict[str, int] = {}
        self._total: int | None = None
        self._scores: dict[str, Scores] = {}
        self._room = SCORES_REMEMBERED

    def counted(
        self, generation: object, state: StoredState, connection: sqlite3.Connection, words: Iterable[str]
    ) -> tuple[int, dict[str, int]]:
        """How many pieces there are, and how many have each of these words that stands anywhere."""
        with self._lock:
            of = (generation, state.revision)
            if self._of != of or len(self._counts) > WORDS_REMEMBERED:
                self._of, self._counts, self._total = of, {}, None
                self._scores, self._room = {}, SCORES_REMEMBERED
            if self._total is None:
                self._total = int(connection.execute("SELECT COUNT(*) FROM pieces").fetchone()[0])
            result = {}
            for word in words:
                count = self._counts.get(word)
                if count is None:
                    row = connection.execute("SELECT doc FROM terms WHERE term = ?", (word,)).fetchone()
                    count = self._counts[word] = 0 if row is None else int(row[0])
                if count:
                    result[word] = count
            return self._total, result

    def scores(
        self, generation: object, state: StoredState, connection: sqlite3.Connection, word: str
    ) -> Scores:
        """What FTS5 gives to each piece for a word that `counted` was asked for."""
        with self._lock:
            kept = self._scores.get(word) if self._of == (generation, state.revision) else None
        if kept is not None:
            return kept
        rows = connection.execute(
            f"SELECT rowid, -bm25(words, {WEIGHTS}) FROM words WHERE words MATCH ?", (match_word(word),)
        ).fetchall()
        made = Scores(array("q", (row[0] for row in rows)), array("d", (row[1] for row in rows)))
        with self._lock:
            if self._of == (generation, state.revision):
                if len(rows) > self._room:
                    self._scores, self._room = {}, SCORES_REMEMBERED
                if len(rows) <= self._room:
                    self._scores[word] = made
                    self._room -= len(rows)
        return made


def rarity(total: int, having: int) -> float:
    """The weight of a word that `having` of `total` pieces hold, as Lucene has it: never zero."""
    return log(1 + max(total - having + 0.5, 0.0) / (having + 0.5))


def fts5_rarity(total: int, having: int) -> float:
    """The weight of a word that `having` of `total` pieces hold, as FTS5's `bm25()` has it."""
    odds = (total - having + 0.5) / (having + 0.5)
    return max(log(odds), 1e-6) if odds > 0 else 1e-6


class KeywordQuery(NamedTuple):
    """What is looked up for a query: the weights and rarities of words, and the best score there is."""

    weights: dict[str, float]
    rarities: Mapping[str, Rarity]
    ideal: float
    pieces: int
    """How many there are, with or without such words."""


def asked(words: Sequence[str], counted: Counted, after: Callable[[str], str]) -> KeywordQuery:
    """The words of a query that stand anywhere, and other forms of them; of too many the weightiest.

    A word that stands nowhere counts in the best score like the usual one of those that do, so that a query
    of which a part is known cannot score as if all were found. The whole of a compound is no word by itself.
    """
    said = Counter(clean(words))
    total, counts = counted([*said, *(other for word in said for other in related(word))])
    weights: dict[str, float] = {word: float(times) for word, times in said.items() if word in counts}
    strange = not weights  # with a known word beside it, a stand-in costs scifact-train 0.0005
    for word, times in said.items():
        others = [other for other in related(word) if other in counts]
        if strange and not others:
            others = list(filter(None, [stand_in(word, lambda each: bool(counted([each])[1]), after)]))
            counts |= counted(others)[1]
        for other in others:
            weights[other] = weights.get(other, 0.0) + RELATED * times
    rarities = {word: Rarity.of(total, counts[word]) for word in weights}
    heaviest = sorted(weights, key=lambda word: (-rarities[word].ours * weights[word], word))[:MOST_WORDS]
    wholes = {word for word in said if any(word != part and word.startswith(part) for part in said)}
    known = [rarities[word].ours for word in heaviest if word in said] or [rarity(total, 1)]
    reachable = sum(
        times * (rarities[word].ours if word in counts else sum(known) / len(known))
        for word, times in said.items()
        if word in heaviest or (word not in counts and word not in wholes)
    )
    return KeywordQuery({word: weights[word] for word in heaviest}, rarities, reachable * (K1 + 1), total)


def clean(words: Sequence[str]) -> list[str]:
    """Words as the keyword index has them."""
    return [kept for word in words if (kept := to_tokens([word]).strip())]


def keyword_hits(
    connection: sqlite3.Connection,
    query: KeywordQuery,
    scope: Scope,
    limit: int,
    scores: Callable[[str], Scores],
) -> list[tuple[int, float]]:
    """The best pieces for these words within a scope, best first, ties by piece."""
    within = _within(connection, scope, query.pieces)
    if not query.weights or limit <= 0 or within is None:
        return []
    if within == _Within():
        return _best(query, limit, scores)
    values: list[object] = []
    for word, times in query.weights.items():
        ours, theirs = query.rarities[word]
        values += [times * ours / theirs, within.match(match_word(word)), *within.limits]
    one = (
        f"SELECT rowid AS piece, -?*bm25(words, {WEIGHTS}) AS part FROM words"
        f" WHERE words MATCH ?{within.bounds}"
    )
    # SQLite would merge a single question with the sum around it, where `bm25` cannot be called.
    parts = " UNION ALL ".join([one] * len(query.weights))
    summed = f"SELECT piece, SUM(part) AS part FROM ({parts}) GROUP BY piece"
    rows = connection.execute(
        f"{one if len(query.weights) == 1 else summed} ORDER BY part DESC, piece LIMIT ?", (*values, limit)
    )
    return [(int(piece), float(score)) for piece, score in rows]


def _best(query: KeywordQuery, limit: int, scores: Callable[[str], Scores]) -> list[tuple[int, float]]:
    """The best pieces of all for these words, by what is known of each word."""
    sums: dict[int, float] = {}
    for word, times in query.weights.items():
        factor = times * query.rarities[word].ours / query.rarities[word].theirs
        for piece, score in zip(*scores(word), strict=True):
            sums[piece] = sums.get(piece, 0.0) + factor * score
    return nsmallest(limit, sums.items(), key=lambda hit: (-hit[1], hit[0]))


def named_pieces(connection: sqlite3.Connection, names: Iterable[str], scope: Scope, limit: int) -> list[int]:
    """The pieces within a scope whose heading is one of these names, or ends in it after a dot."""
    within = _within(connection, scope)
    found: set[int] = set()
    for name in names if within is not None else ():
        # The first token of a name is all of it.
        for word in clean(tokens(name))[:1]:
            assert within is not None
            rows = connection.execute(
                "SELECT id FROM pieces WHERE (heading = ? OR substr(heading, ?) = ?) AND id IN"
                f" (SELECT rowid FROM words WHERE words MATCH ?{within.bounds}) LIMIT ?",
                (
                    name,
                    -len(name) - 1,
                    f".{name}",
                    within.match(f"names : {match_word(word)}"),
                    *within.limits,
                    limit,
                ),
            )
            found.update(int(piece) for (piece,) in rows)
    return sorted(found)[:limit]


class _Within(NamedTuple):
    """A scope as the keyword index is asked for it: by its tokens, or by the ranges of its pieces."""

    only: str = ""
    bounds: str = ""
    limits: tuple[int, ...] = ()

    def match(self, expression: str) -> str:
        """The expression, within the tokens of the scope."""
        return f"{self.only} AND {expression}" if self.only else expression


def _within(connection: sqlite3.Connection, scope: Scope, pieces: int = -1) -> _Within | None:
    """How to ask within a scope of an index with so many pieces; None when nothing is in it."""
    if admits_nothing(scope):
        return None
    if scope == Scope():
        return _Within()
    ranges = ranges_of(connection, scope)
    if not ranges:
        return None
    if sum(last - first + 1 for first, last in ranges) == pieces:
        return _Within()
    only = ""
    if len(ranges) > FEW_RANGES:
        only = match_filter(scope)
        ranges = _beyond_tokens(connection, scope)
    if not ranges:
        return _Within(only)
    bounds = " AND (" + " OR ".join(["rowid BETWEEN ? AND ?"] * len(ranges)) + ")"
    return _Within(only, bounds, tuple(bound for pair in ranges for bound in pair))


def _beyond_tokens(connection: sqlite3.Connection, scope: Scope) -> list[tuple[int, int]]:
    """What the tokens of a scope do not say: all but one entry, as the ranges before and after it."""
    if scope.without is None:
        return []
    ranges = ranges_of(connection, Scope(within=scope.without))
    if not ranges:
        return []
    (first, last) = ranges[0]
    return [(0, first - 1), (last + 1, 2**62)]
