"""BM25 by FTS5 over our own tokens, with the rarity of words that Lucene uses.

FTS5's own rarity is next to nothing for a word that half of the pieces hold, so each word is asked for by
itself and its score is multiplied by the ratio of the two.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log
from statistics import fmean
from typing import NamedTuple

from context_pack.retrieval.words import related

K1, B = 1.2, 0.75
"""Those of FTS5."""
NAMES_WEIGHT = 3
"""What a word of a name counts, in words of the text."""
MOST_WORDS = 64
"""Of a longer query only so many different words are looked up, the rarest; time grows with each."""
LARGE = 1000
"""In an index of more pieces, words that half of them hold are not looked up beside rarer ones: they tell
next to nothing apart, and take nearly all of the time."""
RELATED = 0.25
"""What another form of a word counts (`db` for `database`): more or less was worse on cosqa-dev."""
_WORD = f"SELECT rowid AS piece, -?*bm25(words, {NAMES_WEIGHT}, 1) AS score FROM words WHERE words MATCH ?"


class KeywordQuery(NamedTuple):
    """A prepared query: the factor for FTS5's score of each of its words, and the best possible sum."""

    factors: Mapping[str, float]
    ideal: float


def rarity(total: int, having: int) -> float:
    """The weight of a word that `having` of `total` pieces hold, as Lucene has it: never zero."""
    return log(1 + max(total - having + 0.5, 0.0) / (having + 0.5))


def fts5_rarity(total: int, having: int) -> float:
    """The same as FTS5's `bm25()` has it."""
    odds = (total - having + 0.5) / (having + 0.5)
    return max(log(odds), 1e-6) if odds > 0 else 1e-6


def prepared(connection: sqlite3.Connection, words: Sequence[str]) -> KeywordQuery:
    """The query words that the index has, with their other forms; of too many, the heaviest.

    A word that stands nowhere counts in the best score like the usual one of those that do, so that a query
    of which a part is known cannot score as if all were found. The whole of a compound is no word by itself.
    """
    query = Counter(words)
    total, counts = _counted(connection, [*query, *(other for word in query for other in related(word))])
    weights: dict[str, float] = {word: float(times) for word, times in query.items() if word in counts}
    for word, times in query.items():
        for other in related(word):
            if other in counts:
                weights[other] = weights.get(other, 0.0) + RELATED * times
    rarities = {word: rarity(total, counts[word]) for word in weights}
    heaviest = sorted(weights, key=lambda word: (-rarities[word] * weights[word], word))[:MOST_WORDS]
    if total > LARGE:
        heaviest = [word for word in heaviest if counts[word] <= total / 2] or heaviest
    wholes = {word for word in query if any(word != part and word.startswith(part) for part in query)}
    usual = fmean([rarities[word] for word in heaviest if word in query] or [rarity(total, 1)])
    reachable = sum(
        times * (rarities[word] if word in counts else usual)
        for word, times in query.items()
        if word in heaviest or (word not in counts and word not in wholes)
    )
    factors = {word: weights[word] * rarities[word] / fts5_rarity(total, counts[word]) for word in heaviest}
    return KeywordQuery(factors, reachable * (K1 + 1))


def _counted(connection: sqlite3.Connection, words: Iterable[str]) -> tuple[int, dict[str, int]]:
    """How many pieces there are, and how many have each of these words that stands anywhere."""
    (total,) = connection.execute("SELECT COUNT(*) FROM pieces").fetchone()
    sql = "SELECT doc FROM terms WHERE term = ?"
    rows = {word: connection.execute(sql, (word,)).fetchone() for word in words}
    return int(total), {word: int(row[0]) for word, row in rows.items() if row is not None}


def keyword_hits(
    connection: sqlite3.Connection, query: KeywordQuery, within: str, values: Sequence[object], limit: int
) -> list[tuple[int, float]]:
    """The best pieces for these words among those that a condition admits, best first, ties by piece."""
    if not query.factors:
        return []
    parameters = [each for word, factor in query.factors.items() for each in (factor, f'"{word}"')]
    # SQLite would merge a single word's question with the sum around it, where `bm25` cannot be called.
    single = " LIMIT -1" if len(query.factors) == 1 else ""
    parts = " UNION ALL ".join([_WORD] * len(query.factors)) + single
    rows = connection.execute(
        f"SELECT piece, SUM(score) AS score FROM ({parts}) WHERE {within} GROUP BY piece"
        " ORDER BY score DESC, piece LIMIT ?",
        (*parameters, *values, limit),
    )
    return rows.fetchall()
