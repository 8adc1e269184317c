"""Compares vectors without numpy, which takes longer to load than a first question takes.

A plain vector is an `array` of floats. It is multiplied where it is not 0 alone: that of a question is 0 in
most places. What comes out is the cosine of `exact.cosines`, to the last digits of a double.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence
from math import isfinite
from operator import itemgetter, mul
from typing import Any


def is_plain(vector: Any) -> bool:
    """Whether this is a vector that can be compared here."""
    return isinstance(vector, array) and vector.typecode == "f" and sys.byteorder == "little"


def plain_nearest(vector: array[float], blobs: Mapping[int, bytes], limit: int) -> list[tuple[int, float]]:
    """The best of these pieces by the cosines of their stored vectors, ties by piece."""
    found = zip(blobs, plain_cosines(vector, list(blobs.values())), strict=True)
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]


def plain_cosines(vector: array[float], blobs: Sequence[bytes]) -> list[float]:
    """The cosine of each stored vector with a plain one, both normalised.

    Raises:
        ValueError: one has another dimension, or holds something that is no number.
    """
    places = [place for place, number in enumerate(vector) if number]
    numbers = [vector[place] for place in places]
    chosen = itemgetter(*places, 0, 0)  # two more than are multiplied, so that it is a tuple
    found = []
    for blob in blobs:
        if len(blob) != 4 * len(vector):
            raise ValueError("a vector has another dimension")
        cosine = sum(map(mul, numbers, chosen(memoryview(blob).cast("f"))))
        if not isfinite(cosine):
            raise ValueError("a vector holds something that is no number")
        found.append(max(-1.0, min(cosine, 1.0)))
    return found
