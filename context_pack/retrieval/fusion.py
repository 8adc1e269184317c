"""Joining the keyword leg and the vector leg into one order, and giving each hit a score with a meaning.

The order is a weighted sum of both scores, each as a share of the best in this query; the weight belongs to
the embedder, and so does the floor that its cosines count from. What is shown as relevance is absolute
instead, so that it can be compared between queries: the share of the keyword score that the query could
reach, and the cosine from that of unrelated texts to 1. It never rises with rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DEPTH = 100
"""How many hits of each leg are joined."""


def fused(
    keyword: Mapping[int, float], cosines: Mapping[int, float], *, weight: float, floor: float = 0.0
) -> list[int]:
    """The pieces of both legs, best first; ties by piece. Cosines below the floor count as the floor."""
    if not keyword:
        return sorted(cosines, key=lambda piece: (-cosines[piece], piece))
    most = max(keyword.values())
    span = max(cosines.values(), default=floor) - floor
    scores: dict[int, float] = {}
    for piece in keyword.keys() | cosines.keys():
        words = keyword.get(piece, 0.0) / most if most > 0 else 0.0
        above = max(0.0, cosines.get(piece, floor) - floor)
        scores[piece] = (1 - weight) * words + weight * (above / span if span > 0 else 0.0)
    return sorted(scores, key=lambda piece: (-scores[piece], piece))


def relevances(
    order: Sequence[int],
    keyword: Mapping[int, float],
    cosines: Mapping[int, float],
    *,
    weight: float,
    ideal: float,
    unrelated: float = 0.0,
) -> list[float]:
    """How relevant each piece of an order is, from 0 to 1 and never more than the piece before it."""
    lowest = 1.0
    found: list[float] = []
    for piece in order:
        meaning = calibrated(cosines[piece], unrelated) if piece in cosines else 0.0
        words = min(1.0, max(0.0, keyword.get(piece, 0.0) / ideal)) if ideal > 0 else 0.0
        lowest = min(lowest, weight * meaning + (1 - weight) * words)
        found.append(lowest)
    return found


def calibrated(cosine: float, unrelated: float = 0.0) -> float:
    """A cosine counted from that of unrelated texts (0) to that of the same text (1)."""
    return min(1.0, max(0.0, (cosine - unrelated) / (1.0 - unrelated)))
