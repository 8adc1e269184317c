"""Compares vectors without numpy, which takes longer to load than a first question takes.

A plain vector is an `array` of floats. It is multiplied where it is not 0 alone: that of a question is 0 in
most places. What comes out is the cosine of `exact.cosines`, to the last digits of a double.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable
from math import isfinite
from operator import itemgetter, mul
from typing import Any


def is_plain(vector: Any) -> bool:
    """Whether this is a vector that can be compared here."""
    return isinstance(vector, array) and vector.typecode == "f" and sys.byteorder == "little"


def plain_nearest(
    vector: array[float], rows: Iterable[tuple[int, bytes]], limit: int
) -> list[tuple[int, float]]:
    """The best pieces by the cosines of their stored vectors, ties by piece."""
    cosine = cosine_with(vector)
    found = [(piece, cosine(blob)) for piece, blob in rows]
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]


def cosine_with(vector: array[float]) -> Callable[[bytes], float]:
    """Computes the cosine of a stored vector with a plain one, both normalised.

    Raises `ValueError` for one that has another dimension, or holds something that is no number.
    """
    places = [place for place, number in enumerate(vector) if number]
    numbers = [vector[place] for place in places]
    chosen = itemgetter(*places, 0, 0)  # two more than are multiplied, so that it is a tuple

    def cosine(blob: bytes) -> float:
        if len(blob) != 4 * len(vector):
            raise ValueError("a vector has another dimension")
        found: float = sum(map(mul, numbers, chosen(memoryview(blob).cast("f"))))
        if not isfinite(found):
            raise ValueError("a vector holds something that is no number")
        return max(-1.0, min(found, 1.0))

    return cosine
