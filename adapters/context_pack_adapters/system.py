"""The real clock, the real randomness, threads, and this interpreter in other processes, with limits."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from threading import Thread

MOST_MEMORY = 2 * 1024**3


class SystemClock:
    """The system clock."""

    def now(self) -> datetime:
        """The current instant, in UTC."""
        return datetime.now(UTC)

    monotonic = staticmethod(time.monotonic)
    """Seconds on a clock that never goes back."""


class SystemIds:
    """The system's source of unpredictable bytes."""

    def token(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
        return os.urandom(size)


def start_thread(run: Callable[[], object], name: str) -> None:
    """Run something in a thread of its own that does not hold the process.

    Raises:
        Failure: `io_error`, the system grants no more threads.
    """
    try:
        Thread(target=run, name=name, daemon=True).start()
    except (RuntimeError, MemoryError) as error:
        from context_pack.kernel.errors import Code, Failure

        words = "the system grants no more threads or memory; close some programs and try again"
        raise Failure(Code.IO_ERROR, words, {"reason": "EAGAIN"}) from error


def python_command(program: str, *arguments: str) -> list[str]:
    """How to run a program of ours with this interpreter."""
    # -P: the working directory is the user's project, whose modules must not pass for ours.
    return [sys.executable, "-P", "-c", program, *arguments]


def python_environment() -> dict[str, str]:
    """The environment of such a program: ours, with our own packages importable."""
    ours = [import_module(name).__path__[0] for name in ("context_pack", "context_pack_adapters")]
    places = [*(str(Path(place).parent) for place in ours), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, dict.fromkeys(places)))}


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
