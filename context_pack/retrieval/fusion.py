"""Joining the keyword leg and the vector leg into one order, and giving each hit a score with a meaning.

The order is a weighted sum of scores normalised within the query; the weight belongs to the embedder. What is
shown as relevance is absolute instead, so that it can be compared between queries: the share of the best
keyword score that the query could reach, and the cosine counted from that of unrelated texts. It never rises
with rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from context_pack.retrieval.model import Hit

DEPTH = 100
"""How many hits of each leg are joined."""


def fused(keyword: Sequence[Hit], vector: Sequence[Hit], weight: float) -> list[int]:
    """The pieces of both legs, best first; ties by piece."""
    best = max((hit.score for hit in keyword), default=0.0)
    low = min((hit.score for hit in vector), default=0.0)
    span = max((hit.score for hit in vector), default=0.0) - low
    scores: dict[int, float] = {}
    if best > 0:
        for hit in keyword:
            scores[hit.piece] = (1 - weight) * hit.score / best
    else:
        scores.update((hit.piece, 0.0) for hit in keyword)
    for hit in vector:
        share = (hit.score - low) / span if span > 0 else 1.0
        scores[hit.piece] = scores.get(hit.piece, 0.0) + weight * share
    return sorted(scores, key=lambda piece: (-scores[piece], piece))


def relevances(
    order: Sequence[int],
    keyword: Mapping[int, float],
    cosines: Mapping[int, float],
    *,
    weight: float,
    ideal: float,
    unrelated: float,
) -> list[float]:
    """How relevant each piece of an order is, from 0 to 1 and never more than the piece before it."""
    share = weight if ideal > 0 else 1.0
    lowest = 1.0
    found: list[float] = []
    for piece in order:
        meaning = calibrated(cosines[piece], unrelated) if piece in cosines else 0.0
        words = min(1.0, max(0.0, keyword.get(piece, 0.0) / ideal)) if ideal > 0 else 0.0
        lowest = min(lowest, max(0.0, share * meaning + (1 - share) * words))
        found.append(lowest)
    return found


def calibrated(cosine: float, unrelated: float) -> float:
    """A cosine counted from that of unrelated texts (0) to that of the same text (1)."""
    return min(1.0, max(0.0, (cosine - unrelated) / (1.0 - unrelated)))
