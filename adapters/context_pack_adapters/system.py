"""The real clock and the real randomness."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """The current instant, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()


class SystemIds:
    """The system's source of unpredictable bytes."""

    def token(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
        return os.urandom(size)
