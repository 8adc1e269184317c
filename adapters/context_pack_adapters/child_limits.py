"""Limits that a process of ours sets itself before it runs foreign code; imports nothing that takes time."""

from __future__ import annotations

import sys

MOST_MEMORY = 2 * 1024**3


def limit_time(seconds: float) -> None:
    """Never more processor time than this from now on, 0 is no limit: it ends even a loop in foreign code."""
    if sys.platform != "win32":
        import signal

        signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(most: int = MOST_MEMORY) -> None:
    """Never more memory than this, where the system can be asked so; and no dumps of it."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
