"""Work that ends in time, whatever it is stuck in.

The work runs on a thread of its own while the caller's thread keeps the time: at the deadline, or when the
call is withdrawn, the caller goes on at once. The thread is told, what it holds (a child process) is killed,
and it ends by itself: `regex` with the interpreter's lock released, a file system that does not answer, a
child's output. No thread outlives the process, and no more than a few are ever left behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from context_pack.toolkit.call import Call

T = TypeVar("T")
CHECK_SECONDS = 0.03
MOST_THREADS = 32

_places = threading.BoundedSemaphore(MOST_THREADS)


class TimedOut(Exception):
    """The time is over."""


class Deadline:
    """How long the work may go on; shared by the one who works and the one who waits."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._stopped = False
        self._held: list[Callable[[], None]] = []

    def left(self) -> float:
        """Seconds that remain.

        Raises:
            TimedOut: there are none, or the work is no longer wanted.
        """
        left = self._end - time.monotonic()
        if left <= 0 or self._stopped:
            raise TimedOut
        return left

    def over(self) -> bool:
        """Whether the time is up."""
        return self._stopped or time.monotonic() >= self._end

    def stop(self) -> None:
        """The work is no longer wanted: end what it holds."""
        with self._lock:
            self._stopped = True
            held, self._held = self._held, []
        for end in held:
            end()

    @contextmanager
    def holding(self, end: Callable[[], None]) -> Iterator[None]:
        """While the block runs, `end` is called as soon as the work is no longer wanted."""
        with self._lock:
            stopped = self._stopped
            if not stopped:
                self._held.append(end)
        if stopped:
            end()
        try:
            yield
        finally:
            with self._lock:
                if end in self._held:
                    self._held.remove(end)


class _Work(Generic[T]):
    """One piece of work on its own thread."""

    def __init__(self, work: Callable[[Deadline], T], deadline: Deadline) -> None:
        self._work = work
        self._deadline = deadline
        self.done = threading.Event()
        self.result: T
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._work(self._deadline)
        except BaseException as error:  # handed to the one who waits
            self.error = error
        finally:
            self.done.set()
            _places.release()


def in_time(work: Callable[[Deadline], T], seconds: float, call: Call) -> T:
    """What `work` returns, or raises.

    Raises:
        TimedOut: more than `seconds` have passed since the call was received.
        Cancelled: the call was withdrawn.
    """
    deadline = Deadline(seconds - call.waited)
    while not _places.acquire(timeout=min(CHECK_SECONDS, deadline.left())):
        call.check()
    task = _Work(work, deadline)
    try:
        threading.Thread(target=task.run, name="search", daemon=True).start()
    except BaseException:
        _places.release()
        raise
    try:
        while not task.done.wait(CHECK_SECONDS):
            call.check()
            deadline.left()
    finally:
        deadline.stop()
    if task.error is not None:
        raise task.error
    return task.result
