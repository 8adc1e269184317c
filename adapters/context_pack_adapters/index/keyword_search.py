"""BM25 over the keyword index, with the rarity of words that Lucene uses.

FTS5's own rarity is next to nothing for a word that half of the pieces hold, which makes small collections
unsearchable: in four notes, a word of two of them would count for nothing. So each word is asked for by
itself and its score is multiplied by the ratio of the two rarities. Where the whole index is asked, the
scores of each word are kept for the next question, unless words alone are searched; otherwise the sums are
made inside SQLite.
"""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

from context_pack.retrieval.model import Scope
from context_pack.retrieval.short_forms import related, stand_in
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.remembering import StateCache
from context_pack_adapters.index.schema import K1, WEIGHTS
from context_pack_adapters.index.values import admits_nothing, match_filter, match_word, to_tokens
from context_pack_adapters.index.vector_search import ranges_of

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

MOST_WORDS = 64
"""Of a longer query only so many different words are looked up, the rarest; time grows with each."""
FEW_RANGES = 16
"""Up to this many ranges of pieces, filtering by bounds is faster than by scope tokens."""
WORDS_REMEMBERED = 10_000
SCORES_REMEMBERED = 1_000_000
"""How many scores of frequent words are cached, 16 bytes each."""
WIDEST = 4_000_000
"""So far apart may the numbers of pieces be to be counted in one array, which takes 8 bytes for each."""
RELATED = 0.25
"""What another form of a word counts (`db` for `database`): more or less was worse on cosqa-dev."""


class Rarity(NamedTuple):
    """The weight of a word as Lucene has it, and as FTS5 has it."""

    ours: float
    theirs: float

    @classmethod
    def of(cls, total: int, having: int) -> Rarity:
        """The rarity of a word that `having` of `total` pieces hold."""
        return cls(rarity(total, having), fts5_rarity(total, having))


class Scores(NamedTuple):
    """Pieces and their scores for one word."""

    pieces: NDArray[numpy.int64]
    scores: NDArray[numpy.float64]


Counted = Callable[[Iterable[str]], tuple[int, dict[str, int]]]
"""How many pieces there are, and how many of them have each of these words, for those that stand anywhere."""


class WordCounts:
    """Document frequencies and scores of words in one state; readers of the same state share it."""

    def __init__(self) -> None:
        self._counts: StateCache[str, int] = StateCache(WORDS_REMEMBERED)
        self._scores: StateCache[str, Scores] = StateCache(SCORES_REMEMBERED, lambda made: len(made.pieces))

    def counted(
        self, state: object, connection: sqlite3.Connection, words: Iterable[str]
    ) -> tuple[int, dict[str, int]]:
        """How many pieces there are, and how many have each of these words that stands anywhere."""

        def count(missing: Iterable[str]) -> dict[str, int]:
            sql = "SELECT doc FROM terms WHERE term = ?"
            rows = {word: connection.execute(sql, (word,)).fetchone() for word in missing if word}
            counts = {word: 0 if row is None else int(row[0]) for word, row in rows.items()}
            return counts | {"": int(connection.execute("SELECT COUNT(*) FROM pieces").fetchone()[0])}

        counts = self._counts.several(state, ["", *words], count)
        return counts.pop(""), {word: number for word, number in counts.items() if number}

    def scores(self, state: object, connection: sqlite3.Connection, word: str) -> Scores:
        """The FTS5 score of each piece for a word."""

        def score() -> Scores:
            import numpy

            sql = f"SELECT rowid, -bm25(words, {WEIGHTS}) FROM words WHERE words MATCH ?"
            rows = connection.execute(sql, (match_word(word),)).fetchall()
            return Scores(
                numpy.fromiter((row[0] for row in rows), numpy.int64, len(rows)),
                numpy.fromiter((row[1] for row in rows), numpy.float64, len(rows)),
            )

        return self._scores.one(state, word, score)


def rarity(total: int, having: int) -> float:
    """The weight of a word that `having` of `total` pieces hold, as Lucene has it: never zero."""
    return log(1 + max(total - having + 0.5, 0.0) / (having + 0.5))


def fts5_rarity(total: int, having: int) -> float:
    """The weight of a word that `having` of `total` pieces hold, as FTS5's `bm25()` has it."""
    odds = (total - having + 0.5) / (having + 0.5)
    return max(log(odds), 1e-6) if odds > 0 else 1e-6


class KeywordQuery(NamedTuple):
    """A prepared query: the weights and rarities of its words, and the best possible score."""

    weights: dict[str, float]
    rarities: Mapping[str, Rarity]
    ideal: float
    pieces: int
    """How many there are, with or without such words."""


def asked(words: Sequence[str], counted: Counted, after: Callable[[str], str]) -> KeywordQuery:
    """The query words that the index has, with their other forms; of too many, the heaviest.

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
    within: KeywordScope | None,
    limit: int,
    scores: Callable[[str], Scores],
) -> list[tuple[int, float]]:
    """The best pieces for these words within a scope, best first, ties by piece."""
    if not query.weights or limit <= 0 or within is None:
        return []
    if within == KeywordScope() and "numpy" in sys.modules:  # which words alone are not worth loading
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
    import numpy

    pieces, parts = [], []
    for word, times in query.weights.items():
        found = scores(word)
        pieces.append(found.pieces)
        parts.append(found.scores * (times * query.rarities[word].ours / query.rarities[word].theirs))
    every = numpy.concatenate(pieces)
    if not len(every):
        return []
    first = every.min()
    if every.max() - first < WIDEST:
        sums = numpy.bincount(every - first, numpy.concatenate(parts))
        held = numpy.flatnonzero(sums)
        sums, held = sums[held], held + first
    else:
        held, places = numpy.unique(every, return_inverse=True)
        sums = numpy.bincount(places, numpy.concatenate(parts))
    if limit < len(held):
        best = numpy.flatnonzero(sums >= numpy.partition(sums, len(sums) - limit)[len(sums) - limit])
        sums, held = sums[best], held[best]
    order = numpy.lexsort((held, -sums))[:limit]
    return list(zip(held[order].tolist(), sums[order].tolist(), strict=True))


def named_pieces(
    connection: sqlite3.Connection, names: Iterable[str], within: KeywordScope | None, limit: int
) -> list[int]:
    """The pieces within a scope whose heading is one of these names, or ends in it after a dot."""
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


class KeywordScope(NamedTuple):
    """A scope as the keyword index is asked for it: by its tokens, or by the ranges of its pieces."""

    only: str = ""
    bounds: str = ""
    limits: tuple[int, ...] = ()

    def match(self, expression: str) -> str:
        """The expression, within the tokens of the scope."""
        return f"{self.only} AND {expression}" if self.only else expression


def within_scope(connection: sqlite3.Connection, scope: Scope, pieces: int) -> KeywordScope | None:
    """How to ask within a scope of an index with so many pieces; None when nothing is in it."""
    if admits_nothing(scope):
        return None
    if scope == Scope():
        return KeywordScope()
    ranges = ranges_of(connection, scope)
    if not ranges:
        return None
    if sum(last - first + 1 for first, last in ranges) == pieces:
        return KeywordScope()
    only = ""
    if len(ranges) > FEW_RANGES:
        only = match_filter(scope)
        ranges = _beyond_tokens(connection, scope)
    if not ranges:
        return KeywordScope(only)
    bounds = " AND (" + " OR ".join(["rowid BETWEEN ? AND ?"] * len(ranges)) + ")"
    return KeywordScope(only, bounds, tuple(bound for pair in ranges for bound in pair))


def _beyond_tokens(connection: sqlite3.Connection, scope: Scope) -> list[tuple[int, int]]:
    """The part of a scope that tokens cannot express: all but one entry, as ranges of pieces."""
    if scope.without is None:
        return []
    ranges = ranges_of(connection, Scope(within=scope.without))
    if not ranges:
        return []
    (first, last) = ranges[0]
    return [(0, first - 1), (last + 1, 2**62)]
