"""Where jobs run: one lane for mutations, in their order of arrival, and a few threads for reads.

Threads start when there is work and then wait in a blocking get, so that idling costs nothing. A read that
arrives behind a mutation of its own family lets it finish first, but for a moment only: nobody reads around
their own write, and nobody waits for a stuck one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from operator import attrgetter
from queue import SimpleQueue
from typing import NamedTuple, Protocol

READERS = 8
WRITE_HEADSTART_SECONDS = 0.25
HEARTBEAT_SECONDS = 5.0
FULL_JOBS = 4096


class Job(Protocol):
    """A piece of work that sends its own reply and never raises."""

    @property
    def lane(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def wants_heartbeat(self) -> bool: ...
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


class Lanes:
    """Runs jobs and knows when all of them are finished."""

    def __init__(self, on_room: Callable[[], None]) -> None:
        self._on_room = on_room
        self._queues: dict[str, SimpleQueue[_Entry]] = {"read": SimpleQueue(), "write": SimpleQueue()}
        self._most = {"read": READERS, "write": 1}
        self._threads = {"read": 0, "write": 0}
        self._load = {"read": 0, "write": 0}
        self._state = threading.Condition()
        self._open: set[Job] = set()
        self._serial = 0
        self._last_write: dict[str, _Mutation] = {}
        self._pulse: threading.Thread | None = None

    @property
    def full(self) -> bool:
        """Whether so many jobs wait that no more requests should be read."""
        return len(self._open) > FULL_JOBS

    def submit(self, job: Job) -> None:
        """Run the job as soon as its lane allows."""
        lane = job.lane
        mutation = follows = None
        if lane == "write":
            self._serial += 1
            mutation = self._last_write[job.family] = _Mutation(self._serial)
        elif self._last_write:
            follows = self._ahead_of(job.family)
        with self._state:
            self._open.add(job)
            self._load[lane] += 1
            grow = self._threads[lane] < min(self._load[lane], self._most[lane])
            if grow:
                self._threads[lane] += 1
        self._queues[lane].put(_Entry(job, follows, mutation))
        if grow:
            threading.Thread(target=self._work, args=(lane,), name=f"{lane} lane", daemon=True).start()
        if job.wants_heartbeat:
            self._start_pulse()

    def settle(self, seconds: float) -> bool:
        """Wait until every job is finished, at most `seconds`; False if some still run."""
        with self._state:
            return self._state.wait_for(lambda: not self._open, seconds)

    def _ahead_of(self, family: str) -> _Mutation | None:
        """The last unfinished mutation that a read of this family should see; "" may be any family."""
        related = [self._last_write[name] for name in self._last_write if not family or name in ("", family)]
        last = max(related, key=attrgetter("serial"), default=None)
        return None if last is None or last.stuck or last.done.is_set() else last

    def _work(self, lane: str) -> None:
        queue = self._queues[lane]
        while True:
            entry = queue.get()
            try:
                if entry.follows is not None:
                    entry.follows.give_way()
                entry.job.run()
            finally:
                if entry.mutation is not None:
                    entry.mutation.done.set()
                with self._state:
                    self._load[lane] -= 1
                    self._open.discard(entry.job)
                    left = len(self._open)
                    if not left:
                        self._state.notify_all()
                if left == FULL_JOBS:
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
                jobs = [job for job in self._open if job.wants_heartbeat]
                if not jobs:
                    self._pulse = None
                    return
            for job in jobs:
                job.heartbeat()
