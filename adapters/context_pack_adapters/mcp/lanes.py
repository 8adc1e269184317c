"""Where jobs run: one lane for mutations, in their order of arrival, a few threads for reads, and a few for
searches, so that nobody who reads a file waits behind somebody's slow search. Calls that come before the
tools are loaded do not know their lane yet: they wait in a hall, in line, and so does whatever comes behind.

As long as jobs are quick, one thread of a lane does them all: threads that take turns over tiny jobs cost
more than the jobs. Only when a lane makes no headway (`nudge`) does another thread join, and past a few only
when there has been none for long: then those at work are stuck. Threads start when there is work and then
wait without a time-out, so that idling costs nothing. A read that arrives behind a mutation of its own family
lets it finish first, but for a moment only: nobody reads around their own write, and nobody waits for a stuck
one.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple, Protocol

READERS = 8
SEARCHERS = 4
MOST_SEARCHERS = 24
NUDGE_SECONDS = 0.003
STUCK_SECONDS = 0.3
WRITE_HEADSTART_SECONDS = 0.25
HEARTBEAT_SECONDS = 5.0
FULL_JOBS = 4096
HALL = "hall"
"""Where a job waits whose lane is not known yet."""


class Job(Protocol):
    """A piece of work that sends its own reply and never raises."""

    @property
    def lane(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def wants_heartbeat(self) -> bool: ...
    def find_lane(self) -> None: ...
    def run(self) -> None: ...
    def heartbeat(self) -> None: ...
    def cancel(self) -> None: ...


class _Mutation:
    """A mutation as the reads behind it see it: done, or stuck once one of them has waited in vain."""

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.done = threading.Event()
        self.stuck = False

    def give_way(self) -> None:
        """Let the mutation finish first, for a moment."""
        if not self.stuck and not self.done.wait(WRITE_HEADSTART_SECONDS):
            self.stuck = True


class _Entry(NamedTuple):
    """A queued job, the mutation it follows, and the mutation it is."""

    job: Job
    follows: _Mutation | None
    mutation: _Mutation | None


class _Lane:
    """One queue and the threads that serve it: usually up to `few`, if those are stuck up to `most`."""

    def __init__(
        self, name: str, few: int, most: int, lock: threading.Lock, serve: Callable[[_Entry], None]
    ) -> None:
        self.queue: deque[_Entry] = deque()
        self._name = name
        self._few = few
        self._most = most
        self._lock = lock
        self._serve_entry = serve
        self._wake = threading.Semaphore(0)
        self._threads = 0
        self._active = 0
        self._headway = 0
        self._last_headway = -1
        self._moved = 0.0

    def put(self, entry: _Entry) -> None:
        """Queue the job, and see to it that somebody is at work."""
        with self._lock:
            self.queue.append(entry)
            if self._active == 0:
                self._join()

    def nudge(self, now: float) -> None:
        """Let another thread join if jobs wait and none has been finished since the last nudge."""
        with self._lock:
            if self._headway != self._last_headway:
                self._last_headway, self._moved = self._headway, now
            elif self.queue:
                most = self._few if now - self._moved < STUCK_SECONDS else self._most
                if self._active < most:
                    self._join()

    def open_up(self) -> None:
        """Let as many threads join as jobs wait, within bounds."""
        with self._lock:
            for _ in range(min(len(self.queue), self._most - self._active)):
                self._join()

    def _join(self) -> None:
        """One more thread at work: an idle one, or a new one."""
        self._active += 1
        if self._active > self._threads:
            self._threads += 1
            threading.Thread(target=self._serve, name=f"{self._name} lane", daemon=True).start()
        self._wake.release()

    def _serve(self) -> None:
        while True:
            self._wake.acquire()
            while (entry := self._next()) is not None:
                self._run(entry)

    def _next(self) -> _Entry | None:
        with self._lock:
            if self.queue:
                return self.queue.popleft()
            self._active -= 1
            return None

    def _run(self, entry: _Entry) -> None:
        try:
            self._serve_entry(entry)
        finally:
            self._headway += 1


class Lanes:
    """Runs jobs and knows when all of them are finished."""

    def __init__(self, on_room: Callable[[], None]) -> None:
        self._on_room = on_room
        self._state = threading.Condition()
        self._open: set[Job] = set()  # changed by single steps that no other thread can come between
        self._was_full = False
        lock = threading.Lock()
        self._read = _Lane("read", READERS, READERS, lock, self._run)
        self._slow = _Lane("slow", SEARCHERS, MOST_SEARCHERS, lock, self._run)
        self._write = _Lane("write", 1, 1, lock, self._run)
        self._hall = _Lane(HALL, 1, 1, lock, self._show_in)
        self._lanes = {"read": self._read, "slow": self._slow, "write": self._write}
        self._all = (self._read, self._slow, self._write, self._hall)
        self._in_hall = 0
        self._serial = 0
        self._last_write: dict[str, _Mutation] = {}
        self._pulse: threading.Thread | None = None

    @property
    def full(self) -> bool:
        """Whether so many jobs wait that no more requests should be read; then `on_room` is called later."""
        if len(self._open) <= FULL_JOBS:
            return False
        self._was_full = True
        return len(self._open) > FULL_JOBS

    @property
    def waiting(self) -> bool:
        """Whether jobs wait; then `nudge` is due soon."""
        return bool(self._read.queue or self._slow.queue or self._write.queue or self._hall.queue)

    def nudge(self) -> None:
        """Let another thread join each lane that makes no headway."""
        now = time.monotonic()
        for lane in self._all:
            lane.nudge(now)

    def submit(self, job: Job) -> None:
        """Run the job as soon as its lane allows; only the reader thread submits."""
        self._open.add(job)
        if self._in_hall or job.lane == HALL:
            with self._state:
                self._in_hall += 1
            self._hall.put(_Entry(job, None, None))
        else:
            self._queue(job)
        if job.wants_heartbeat:
            self._start_pulse()

    def _show_in(self, entry: _Entry) -> None:
        """Let a job out of the hall; only when nobody is left there does the reader queue jobs itself."""
        try:
            entry.job.find_lane()
            self._queue(entry.job)
        finally:
            with self._state:
                self._in_hall -= 1

    def _queue(self, job: Job) -> None:
        """Queue the job in its lane."""
        mutation = follows = None
        if job.lane == "write":
            self._serial += 1
            mutation = self._last_write[job.family] = _Mutation(self._serial)
        elif self._last_write:
            follows = self._ahead_of(job.family)
        self._lanes[job.lane].put(_Entry(job, follows, mutation))

    def _run(self, entry: _Entry) -> None:
        job = entry.job
        try:
            if entry.follows is not None:
                entry.follows.give_way()
            job.run()
        finally:
            if entry.mutation is not None:
                entry.mutation.done.set()
            self._finish(job)

    def settle(self, seconds: float) -> bool:
        """Wait until every job is finished, at most `seconds`; False if some still run."""
        with self._state:
            if self._state.wait_for(lambda: not self._open, min(seconds, NUDGE_SECONDS)):
                return True
            for lane in self._all:  # nobody nudges any more
                lane.open_up()
            return self._state.wait_for(lambda: not self._open, max(0.0, seconds - NUDGE_SECONDS))

    def _ahead_of(self, family: str) -> _Mutation | None:
        """The last unfinished mutation that a read of this family should see; "" may be any family."""
        related = [self._last_write[name] for name in self._last_write if not family or name in ("", family)]
        last = max(related, key=attrgetter("serial"), default=None)
        return None if last is None or last.stuck or last.done.is_set() else last

    def _finish(self, job: Job) -> None:
        self._open.discard(job)
        left = len(self._open)
        if not left:
            with self._state:
                self._state.notify_all()
        if self._was_full and left <= FULL_JOBS:
            self._was_full = False
            self._on_room()

    def _start_pulse(self) -> None:
        with self._state:
            if self._pulse is None:
                self._pulse = threading.Thread(target=self._beat, name="progress", daemon=True)
                self._pulse.start()

    def _beat(self) -> None:
        """Remind the callers of long jobs; ends when nobody wants reminders."""
        while True:
            with self._state:
                if self._state.wait_for(lambda: not self._open, HEARTBEAT_SECONDS):
                    self._pulse = None
                    return
                jobs = [job for job in list(self._open) if job.wants_heartbeat]
                if not jobs:
                    self._pulse = None
                    return
            for job in jobs:
                job.heartbeat()
