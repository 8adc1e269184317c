"""A guard against what never ends: the one way in which a test may look at the clock.

How long something takes says more about the machine than about the code, so no test asserts it. What a test
may ask is whether something ends at all: its input is so large that the fault it looks for (quadratic or
exponential work, a wait for nobody) would go on far beyond the guard, on any machine.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def never_hanging(seconds: float = 60) -> Iterator[None]:
    """Fail the block if it does not end by itself; for the main thread only, as signals are.

    Raises:
        AssertionError: the block still ran after so many seconds.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
