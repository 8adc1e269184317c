"""Tokens that come out the same in every run."""

from __future__ import annotations

import random


class SeededIds:
    """An `IdSource` whose tokens follow from a seed; for tests and examples, never for secrets."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def token(self, size: int) -> bytes:
        """The next `size` bytes."""
        return self._random.randbytes(size)
