"""BM25 over the words of an index, with the rarity of words that Lucene uses.

numpy adds the scores where it is loaded already; words alone are not worth loading it. Both ways give the
same scores to the last bit.
"""

from __future__ import annotations

import sqlite3
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from math import log
from typing import NamedTuple

from context_pack.retrieval.model import Scope
from context_pack.retrieval.short_forms import related, stand_in
from context_pack.retrieval.words import tokens
from context_pack_adapters.index.postings import PAIR_BYTES, PieceLengths, PostingRow, numbers
from context_pack_adapters.index.schema import K1, NAMES_WEIGHT
from context_pack_adapters.index.values import admits_nothing, marks, portions, to_tokens
from context_pack_adapters.index.vector_search import ranges_of
from context_pack_adapters.vectors.exact import rows_within

MOST_WORDS = 64
"""Of a longer query only so many different words are looked up, the rarest; time grows with each."""
RELATED = 0.25
"""What another form of a word counts (`db` for `database`): more or less was worse on cosqa-dev."""

Counted = Callable[[Iterable[str]], tuple[int, dict[str, int]]]
"""How many pieces there are, and how many of them have each of these words, for those that stand anywhere."""
Ranges = Sequence[tuple[int, int]]
"""The pieces that may be found, from the first to the last of each range, in order."""


def rarity(total: int, having: int) -> float:
    """The weight of a word that `having` of `total` pieces hold, as Lucene has it: never zero."""
    return log(1 + max(total - having + 0.5, 0.0) / (having + 0.5))


class KeywordQuery(NamedTuple):
    """A prepared query: the weights and rarities of its words, and the best possible score."""

    weights: dict[str, float]
    rarities: Mapping[str, float]
    ideal: float


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
            others = list(filter(None, [stand_in(word, lambda some: counted(some)[1], after)]))
            counts |= counted(others)[1]
        for other in others:
            weights[other] = weights.get(other, 0.0) + RELATED * times
    rarities = {word: rarity(total, counts[word]) for word in weights}
    heaviest = sorted(weights, key=lambda word: (-rarities[word] * weights[word], word))[:MOST_WORDS]
    wholes = {word for word in said if any(word != part and word.startswith(part) for part in said)}
    known = [rarities[word] for word in heaviest if word in said] or [rarity(total, 1)]
    reachable = sum(
        times * (rarities[word] if word in counts else sum(known) / len(known))
        for word, times in said.items()
        if word in heaviest or (word not in counts and word not in wholes)
    )
    return KeywordQuery({word: weights[word] for word in heaviest}, rarities, reachable * (K1 + 1))


def clean(words: Sequence[str]) -> list[str]:
    """Words as the keyword index has them."""
    return [kept for word in words if (kept := to_tokens([word]).strip())]


def keyword_hits(
    query: KeywordQuery,
    rows: Mapping[str, Sequence[PostingRow]],
    lengths: PieceLengths,
    ranges: Ranges,
    limit: int,
) -> list[tuple[int, float]]:
    """The best pieces for these words within ranges of pieces, best first, ties by piece."""
    if not query.weights or limit <= 0 or not ranges:
        return []
    parts = [
        (row, times * query.rarities[word] * (K1 + 1))
        for word, times in query.weights.items()
        for row in rows[word]
    ]
    return (_best_by_numpy if "numpy" in sys.modules else _best)(parts, lengths, ranges, limit)


Parts = Sequence[tuple[PostingRow, float]]
"""The rows of the words of a query, each with what it counts."""


def _best(parts: Parts, lengths: PieceLengths, ranges: Ranges, limit: int) -> list[tuple[int, float]]:
    sums: dict[int, float] = {}
    for (block, row), factor in parts:
        rates, pairs, pieces = lengths.rates[block], numbers(row), lengths.pieces[block]
        for place, count in zip(pairs[::2], pairs[1::2], strict=True):
            piece = pieces[place]
            sums[piece] = sums.get(piece, 0.0) + factor * count / (count + rates[place])
    held = _within(ranges, sums)
    return nsmallest(limit, [(piece, sums[piece]) for piece in held], key=lambda hit: (-hit[1], hit[0]))


def _within(ranges: Ranges, pieces: Iterable[int]) -> Iterator[int]:
    """Those of these pieces that lie in one of the ranges."""
    firsts = [first for first, _ in ranges]
    for piece in pieces:
        at = bisect_right(firsts, piece) - 1
        if at >= 0 and piece <= ranges[at][1]:
            yield piece


def _best_by_numpy(
    parts: Parts, lengths: PieceLengths, ranges: Ranges, limit: int
) -> list[tuple[int, float]]:
    import numpy

    places, found = [], []
    blocks = sorted({row.block for row, _ in parts})
    for block in blocks:
        rows = [(row.pairs, factor) for row, factor in parts if row.block == block]
        pairs = numpy.frombuffer(b"".join([row for row, _ in rows]), numpy.uint16)
        at, counts = pairs[::2], pairs[1::2].astype(numpy.float64)
        factors = numpy.repeat([factor for _, factor in rows], [len(row) // PAIR_BYTES for row, _ in rows])
        sums = numpy.bincount(at, factors * counts / (counts + lengths.arrays[block][at]))
        places.append(numpy.flatnonzero(sums))
        found.append(sums[places[-1]])
    held = numpy.concatenate(
        [
            numpy.frombuffer(lengths.pieces[block], numpy.int64)[at]
            for block, at in zip(blocks, places, strict=True)
        ]
    )
    scores = numpy.concatenate(found)
    if len(held) and not ranges[0][0] <= held.min() <= held.max() <= ranges[0][1]:
        admitted = rows_within(held, ranges)
        held, scores = held[admitted], scores[admitted]
    if limit < len(held):
        best = numpy.flatnonzero(scores >= numpy.partition(scores, len(scores) - limit)[len(scores) - limit])
        held, scores = held[best], scores[best]
    order = numpy.lexsort((held, -scores))[:limit]
    return list(zip(held[order].tolist(), scores[order].tolist(), strict=True))


def named_pieces(
    connection: sqlite3.Connection,
    names: Iterable[str],
    rows_of: Callable[[str], Sequence[PostingRow]],
    lengths: PieceLengths,
    ranges: Ranges,
    limit: int,
) -> list[int]:
    """The pieces within ranges whose heading is one of these names, or ends in it after a dot."""
    found: set[int] = set()
    for name in names:
        # The first token of a name is all of it.
        for word in clean(tokens(name))[:1]:
            for some in portions(list(_within(ranges, _having_in_names(rows_of(word), lengths)))):
                rows = connection.execute(
                    "SELECT id FROM pieces WHERE (heading = ? OR substr(heading, ?) = ?)"
                    f" AND id IN ({marks(some)})",
                    (name, -len(name) - 1, f".{name}", *some),
                )
                found.update(int(piece) for (piece,) in rows)
    return sorted(found)[: max(limit, 0)]


def _having_in_names(rows: Iterable[PostingRow], lengths: PieceLengths) -> Iterator[int]:
    """The pieces of a word's rows whose names may hold it."""
    for block, row in rows:
        pairs, pieces = numbers(row), lengths.pieces[block]
        for place, count in zip(pairs[::2], pairs[1::2], strict=True):
            if count >= NAMES_WEIGHT:
                yield pieces[place]


def ranges_within(connection: sqlite3.Connection, scope: Scope) -> Ranges:
    """The pieces that a scope admits."""
    if admits_nothing(scope):
        return []
    return [(0, 2**62)] if scope == Scope() else ranges_of(connection, scope)
