"""Runs work in a thread with a time limit, even if the work gets stuck.

The work runs on a thread of its own while the caller's thread keeps the time: at the deadline, or when the
call is withdrawn, the caller goes on at once. The thread sees that when it next asks how much time is left,
and ends by itself. No thread outlives the process, and no more than a few are ever left behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from context_pack.code.domain.search import TIMED_OUT
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import Call
from context_pack_adapters.system import start_thread

T = TypeVar("T")
CHECK_SECONDS = 0.03
MOST_THREADS = 32
HINT = "search fewer files with filePattern (of find_usages: path), or write a simpler pattern"

_places = threading.BoundedSemaphore(MOST_THREADS)


class TimedOut(Exception):
    """The deadline has passed."""


class Deadline:
    """The time limit of some work; shared by the worker thread and the waiting one."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._stopped = False

    def left(self) -> float:
        """Seconds that remain.

        Raises:
            TimedOut: there are none, or the work is no longer wanted.
        """
        left = self._end - time.monotonic()
        if left <= 0 or self._stopped:
            raise TimedOut
        return left

    def stop(self) -> None:
        """Cancel the work."""
        self._stopped = True


def in_time(work: Callable[[Deadline], T], pattern: str, seconds: float, call: Call) -> T:
    """Run `work` in a thread; return its result or raise its exception.

    Raises:
        Failure: `timed_out` once `seconds` have passed since the call was received.
        Cancelled: the call was withdrawn.
    """
    deadline = Deadline(seconds - call.waited)
    done = threading.Event()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work(deadline))
        except BaseException as error:  # handed to the one who waits
            failed.append(error)
        finally:
            _places.release()
            done.set()

    try:
        while not _places.acquire(timeout=min(CHECK_SECONDS, deadline.left())):
            call.check()
        try:
            start_thread(run, "search")
        except BaseException:
            _places.release()
            raise
        while not done.wait(CHECK_SECONDS):
            call.check()
            deadline.left()
        if failed:
            raise failed[0]
        return found[0]
    except TimedOut:
        raise Failure(Code.TIMED_OUT, TIMED_OUT, {"pattern": pattern, "hint": HINT}) from None
    finally:
        deadline.stop()
