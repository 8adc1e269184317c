"""A guard against what never ends: the one way in which a test may look at the clock.

How long something takes says more about the machine than about the code, so no test asserts it. What a test
may ask is whether something ends at all: its input is so large that the fault it looks for (quadratic or
exponential work, a wait for nobody) would go on far beyond the guard, on any machine. Work is measured in
processor time, which busy neighbours do not lengthen; waits, and work of other processes, by the clock.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

PER_PROCESSOR_SECOND = 6
"""How much time passes at most while a busy machine grants a second of it to one process."""
TIMERS = {
    signal.ITIMER_PROF: (signal.SIGPROF, 1),
    signal.ITIMER_REAL: (signal.SIGALRM, PER_PROCESSOR_SECOND),
}


@contextmanager
def never_hanging(seconds: float = 60) -> Iterator[None]:
    """Fail the block if it does not end by itself; for the main thread only, as signals are.

    Raises:
        AssertionError: the block still ran after so many seconds of the processor, or six times that.
    """

    def ring(number: int, frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    before = {number: signal.signal(number, ring) for number, _ in TIMERS.values()}
    for timer, (_, times) in TIMERS.items():
        signal.setitimer(timer, seconds * times)
    try:
        yield
    finally:
        for timer in TIMERS:
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
