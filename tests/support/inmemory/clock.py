"""A clock that moves only when told to, and tokens that come out the same in every run."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

_START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class FixedClock:
    """A `Clock` that stands still until `advance` moves it."""

    def __init__(self, start: datetime = _START) -> None:
        self._start = self._now = start

    def now(self) -> datetime:
        """The instant it was set to."""
        return self._now

    def monotonic(self) -> float:
        """Seconds it was moved since the start."""
        return (self._now - self._start).total_seconds()

    def advance(self, **by: float) -> None:
        """Move forward, by what `timedelta` takes: `advance(minutes=5)`."""
        self._now += timedelta(**by)


class SeededIds:
    """An `IdSource` whose tokens follow from a seed; for tests and examples, never for secrets."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def __call__(self, size: int) -> bytes:
        """The next `size` bytes."""
        return self._random.randbytes(size)
