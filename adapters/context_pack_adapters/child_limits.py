"""Limits that a process of ours sets itself before it runs foreign code."""

from __future__ import annotations

import resource
import signal

MOST_MEMORY = 2 * 1024**3


def limit_time(seconds: float) -> None:
    """Never more processor time than this from now on, 0 is no limit: it ends even a loop in foreign code."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(most: int = MOST_MEMORY) -> None:
    """Never more memory than this, and no dumps of it."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
