"""One lane: a queue of jobs and the threads that serve it.

As long as jobs are quick, one thread does them all: threads that take turns over tiny jobs cost more than the
jobs. Only when a lane makes no headway (`nudge`) does another thread join, and past a few only when there has
been none for long: then those at work are stuck. Threads start when there is work and then wait without a
time-out, so that idling costs nothing. In a lane of mutations, which keeps their order, one that is stuck
(its pack is locked by another process) is passed by those about other things.
"""

from __future__ import annotations

import threading
import time
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple, Protocol

MOST_LOST = 32
"""How many stuck threads of a lane are replaced."""
STUCK_SECONDS = 0.3
WRITE_HEADSTART_SECONDS = 0.25
BEGINNING_BYTES = 1 << 22
"""What a thread may need before its first line, besides its stack."""


class LaneJob(Protocol):
    """A piece of work that sends its own reply and never raises."""

    lane: str
    family: str
    subject: str
    """What a mutation changes: no other passes one of the same subject, or of an unknown one ("")."""
    seconds: float

    patience: float
    is_over: bool
    later: list[Callable[[], None]]

    def find_lane(self) -> None: ...
    def run(self) -> None: ...
    def look(self, stalled: bool) -> float | None: ...
    def refuse(self, reason: str, words: str) -> None: ...


class Mutation:
    """A mutation as later reads see it: done, or stuck once one of them has waited in vain."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.stuck = False

    def give_way(self) -> None:
        """Wait for the mutation, for a bounded time."""
        if not self.stuck and not self.done.wait(WRITE_HEADSTART_SECONDS):
            self.stuck = True


class Entry(NamedTuple):
    """A queued job, the mutation it follows, and the mutation it is."""

    job: LaneJob
    follows: Mutation | None
    mutation: Mutation | None


def start(work: Callable[[], None]) -> None:
    """Have a thread of its own do the work.

    Raises:
        RuntimeError: the system grants no thread.
        MemoryError: it would end before it begins, and nobody would know.
    """
    bytearray(BEGINNING_BYTES)
    # Not `Thread.start`, which waits for the thread: for ever, if memory ends at that moment.
    start_new_thread(work, ())


class Lane:
    """One queue and the threads that serve it: usually up to `few`, if those are stuck up to `most`."""

    def __init__(self, few: int, most: int, lock: threading.Lock, serve: Callable[[Entry], None]) -> None:
        self.queue: deque[Entry] = deque()
        self._few = few
        self._most = most
        self._lock = lock
        self._serve_entry = serve
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._threads = 0
        self._active = 0
        self._lost = 0
        self._at_work: dict[LaneJob, float] = {}  # since when
        self._has_moved = True
        self._moved = 0.0

    def put(self, entry: Entry) -> bool:
        """Queue the job and start a thread if needed; False if the system refuses a thread."""
        with self._lock:
            self.queue.append(entry)
            if self._active == 0:
                self._moved = time.monotonic()
                if not self._join():
                    self.queue.pop()
                    return False
            return True

    def adopt(self, job: LaneJob) -> None:
        """Count a job as running here, and the thread that serves it as one of this lane."""
        with self._lock:
            self._moved = time.monotonic()
            self._threads += 1
            self._active += 1
            self._at_work[job] = self._moved

    def nudge(self, now: float) -> None:
        """Start another thread if jobs wait and none was finished since the last call."""
        with self._lock:
            if self._has_moved:
                self._has_moved, self._moved = False, now
                if self._few > 1:
                    return
            if self.queue and self._active < self._room(now) and self._free() is not None:
                self._join()

    def _room(self, now: float) -> int:
        """How many threads may run; in an ordered lane, one besides those that are stuck."""
        if self._few == 1:
            return min(1 + len(self._at_work), self._most)
        return self._few if now - self._moved < STUCK_SECONDS else self._most

    def _free(self) -> int | None:
        """Index of the next job to run; in an ordered lane, of one that may pass the running ones."""
        if self._few > 1 or not self._at_work:
            return 0 if self.queue else None
        now, busy = time.monotonic(), {job.subject for job in self._at_work}
        if "" in busy or any(now - since < STUCK_SECONDS for since in self._at_work.values()):
            return None
        for index, entry in enumerate(self.queue):
            if entry.job.subject not in busy:
                return index if entry.job.subject else None
        return None

    def open_up(self) -> None:
        """Start as many threads as jobs wait, within bounds."""
        with self._lock:
            most = self._most if self._few > 1 else self._few
            for _ in range(min(len(self.queue), most - self._active)):
                self._join()

    def write_off(self, job: LaneJob) -> None:
        """Give up on a thread that is stuck with a job: it ends when it returns, and another may start."""
        with self._lock:
            if job in self._at_work and self._lost < MOST_LOST:
                del self._at_work[job]
                self._lost += 1
                self._leave()

    def stalled(self, now: float, seconds: float) -> bool:
        """Whether no job was finished for this many seconds."""
        return now - self._moved >= seconds

    def _join(self) -> bool:
        """Put one more thread to work, idle or new; False if the system refuses a thread."""
        if self._active == self._threads:
            try:
                start(self._serve)
            except (RuntimeError, MemoryError):
                return False
            self._threads += 1
        self._active += 1
        self._wake.put(None)
        return True

    def _serve(self) -> None:
        while True:
            self._wake.get()
            while (entry := self._next()) is not None:
                try:
                    self._serve_entry(entry)
                except BaseException:  # jobs tell their own troubles; a lane needs its thread
                    pass
                if not self.came_back(entry.job):
                    return

    def _next(self) -> Entry | None:
        with self._lock:
            index = self._free()
            if index is not None:
                entry = self.queue[index]
                del self.queue[index]
                self._at_work[entry.job] = time.monotonic()
                return entry
            self._active -= 1
            return None

    def came_back(self, job: LaneJob, leaves: bool = False) -> bool:
        """Note that a job has run, and that its thread leaves; False if that was written off meanwhile."""
        with self._lock:
            self._has_moved = True
            if self._at_work.pop(job, None) is None:
                self._lost -= 1
                return False
            if leaves:
                self._leave()
            return True

    def _leave(self) -> None:
        """Remove one thread; start another if jobs wait and none runs."""
        self._threads -= 1
        self._active -= 1
        if self.queue and self._active == 0:
            self._join()
