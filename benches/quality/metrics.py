"""How good a ranking is: nDCG, reciprocal rank and recall over its first ten, averaged over the queries.

Nothing here knows what is searched: a run is a list of ids per query, a judgement maps ids to gains. An id
that a run names twice (two passages of one document) counts where it stands first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2
from statistics import fmean
from typing import NamedTuple

Judgements = Mapping[str, Mapping[str, float]]
Run = Mapping[str, Sequence[str]]

DEPTH = 10


class Quality(NamedTuple):
    """The means of a run."""

    ndcg: float
    mrr: float
    recall: float


def quality(run: Run, judged: Judgements, depth: int = DEPTH) -> Quality:
    """The means over all judged queries; a query that the run does not answer counts as 0."""
    rows = [_one(distinct(run.get(query, ())), gains, depth) for query, gains in judged.items() if gains]
    if not rows:
        return Quality(0.0, 0.0, 0.0)
    return Quality(*(fmean(column) for column in zip(*rows, strict=True)))


def distinct(ids: Iterable[str]) -> list[str]:
    """The ids in order, each where it stands first."""
    return list(dict.fromkeys(ids))


def _one(ids: Sequence[str], gains: Mapping[str, float], depth: int) -> Quality:
    first = ids[:depth]
    found = [gains.get(one, 0.0) for one in first]
    ideal = discounted(sorted(gains.values(), reverse=True)[:depth])
    ranks = [rank for rank, gain in enumerate(found, 1) if gain > 0]
    relevant = sum(gain > 0 for gain in gains.values())
    return Quality(
        discounted(found) / ideal if ideal else 0.0,
        1 / ranks[0] if ranks else 0.0,
        len(ranks) / relevant if relevant else 0.0,
    )


def discounted(gains: Sequence[float]) -> float:
    """The sum of gains, each divided by the logarithm of its rank."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
