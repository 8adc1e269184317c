"""Joins keyword search and vector search into one order, and gives each hit a score with a meaning.

The order is a weighted sum of both scores, each as a share of the best in this query; the weight belongs to
the embedder, and so does the floor that its cosines count from. What is shown as relevance is absolute
instead, so that it can be compared between queries: the share of the keyword score that the query could
reach, and the cosine from that of unrelated texts to 1. It never rises with rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DEPTH = 100
"""How many hits of each search are joined."""


Shares = Mapping[int, tuple[float, float]]
"""What each piece has of the best score by words and of the best cosine, from 0 to 1."""


def shares(keyword: Mapping[int, float], cosines: Mapping[int, float], floor: float = 0.0) -> Shares:
    """The pieces of both searches with their shares; cosines below the floor count as the floor."""
    most = max(keyword.values(), default=0.0)
    span = max(cosines.values(), default=floor) - floor
    words = {piece: score / most for piece, score in keyword.items()} if most > 0 else {}
    meanings = {piece: (each - floor) / span for piece, each in cosines.items() if each > floor}
    pieces = sorted(keyword.keys() | cosines.keys())
    return {piece: (words.get(piece, 0.0), meanings.get(piece, 0.0)) for piece in pieces}


def fused(found: Shares, weight: float) -> list[int]:
    """The pieces by their shares, best first; ties by piece."""
    scores = {piece: (1 - weight) * words + weight * meaning for piece, (words, meaning) in found.items()}
    return sorted(scores, key=scores.__getitem__, reverse=True)


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
        words = keyword.get(piece, 0.0) / ideal if ideal > 0 else 0.0
        score = weight * meaning + (1 - weight) * (1.0 if words > 1.0 else words)
        lowest = score if score < lowest else lowest
        found.append(lowest)
    return found


def calibrated(cosine: float, unrelated: float = 0.0) -> float:
    """A cosine counted from that of unrelated texts (0) to that of the same text (1)."""
    share = (cosine - unrelated) / (1.0 - unrelated)
    return 0.0 if share < 0.0 else 1.0 if share > 1.0 else share
