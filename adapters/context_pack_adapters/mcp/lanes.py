"""Where jobs run: each family of tools has one lane for mutations, in their order of arrival, one for reads,
and one for searches, so that whatever is stuck holds up nobody but its own kind. Calls that come before the
tools are loaded are unrouted: they wait in a lane of their own, and so does whatever comes behind them.

As long as jobs are quick, one thread of a lane does them all: threads that take turns over tiny jobs cost
more than the jobs. Only when a lane makes no headway (`nudge`) does another thread join, and past a few only
when there has been none for long: then those at work are stuck. Threads start when there is work and then
wait without a time-out, so that idling costs nothing. A read that arrives behind a mutation of its own family
lets it finish first, but for a moment only: nobody reads around their own write, and nobody waits for a stuck
one. A mutation that is stuck (its pack is locked by another process) is passed by those about other things.
A job that passed its deadline and does not listen is answered for (`look`), and its thread written off.
Where the system refuses a thread and no other is at work, that job is refused.
"""

from __future__ import annotations

import math
import threading
import time
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from queue import SimpleQueue
from typing import NamedTuple, Protocol

SIZES = {"read": (4, 16), "slow": (4, 24), "write": (1, 8)}
"""How many threads a lane of each kind usually has at most, and how many when those are stuck."""
MOST_LOST = 32
"""How many stuck threads of a lane are replaced."""
NO_THREAD = "the system grants no more threads or memory; close some programs, or try again in a moment"
NUDGE_SECONDS = 0.003
STUCK_SECONDS = 0.3
WRITE_HEADSTART_SECONDS = 0.25
FULL_JOBS = 4096
UNROUTED = "unrouted"
"""The lane of jobs whose own lane is not known yet."""


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


class _Mutation:
    """A mutation as later reads see it: done, or stuck once one of them has waited in vain."""

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.done = threading.Event()
        self.stuck = False

    def give_way(self) -> None:
        """Wait for the mutation, for a bounded time."""
        if not self.stuck and not self.done.wait(WRITE_HEADSTART_SECONDS):
            self.stuck = True


class Entry(NamedTuple):
    """A queued job, the mutation it follows, and the mutation it is."""

    job: LaneJob
    follows: _Mutation | None
    mutation: _Mutation | None


class _Lane:
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
        self._headway = 0
        self._last_headway = -1
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
            if self._headway != self._last_headway:
                self._last_headway, self._moved = self._headway, now
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
                # Not `Thread.start`, which waits for the thread: for ever, if memory ends at that moment.
                start_new_thread(self._serve, ())
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
            self._headway += 1
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


class Lanes:
    """Runs jobs and knows when all of them are finished."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._state = threading.Condition()
        self.open: set[LaneJob] = set()
        """The jobs that wait or run; changed by single steps that no other thread can come between."""
        self._watched = self._was_full = False
        self._lock = threading.Lock()
        self._unrouted = _Lane(1, 1, self._lock, self._route)
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self._all: tuple[_Lane, ...] = (self._unrouted,)
        self._due = math.inf
        self._routing = 0
        self._serial = 0
        self._last_write: dict[str, _Mutation] = {}

    @property
    def full(self) -> bool:
        """Whether so many jobs wait that no more requests should be read; then `wake` is called later."""
        if len(self.open) <= FULL_JOBS:
            return False
        self._was_full = True
        return len(self.open) > FULL_JOBS

    @property
    def waiting(self) -> bool:
        """Whether jobs wait; then `nudge` is due soon."""
        return any(lane.queue for lane in self._all)

    @property
    def due(self) -> float:
        """When `look` should be called next."""
        return self._due if self.open else math.inf

    def look(self) -> None:
        """Look after every job: its heartbeats, and its reply once it is past its deadline."""
        now = time.monotonic()
        with self._lock:
            self._due = math.inf
            jobs = list(self.open)
        for job in jobs:
            lane = self._lanes.get((job.lane, job.family))
            # Loading the tools is nobody's time.
            left = job.look(lane is not None and lane.stalled(now, job.seconds))
            if left is not None:
                with self._lock:
                    self._due = min(self._due, now + left)
                continue
            if lane is not None:
                lane.write_off(job)
            self._finish(job)

    def nudge(self) -> None:
        """Start another thread in each lane that makes no progress."""
        now = time.monotonic()
        for lane in self._all:
            lane.nudge(now)

    def submit(self, job: LaneJob) -> None:
        """Run the job as soon as its lane allows; only the reader thread submits."""
        self._admit(job, time.monotonic() + job.patience)
        if self._routing or job.lane == UNROUTED:
            with self._state:
                self._routing += 1
            if not self._unrouted.put(Entry(job, None, None)):
                with self._state:
                    self._routing -= 1
                job.refuse("EAGAIN", NO_THREAD)
                self._finish(job)
        else:
            self._queue(job)

    def adopt(self, job: LaneJob, due: float) -> Entry:
        """Count a job that another thread serves, and will `release`, as one of its lane."""
        self._admit(job, due)
        entry = self._entry(job)
        self._lane(job).adopt(job)
        return entry

    def release(self, entry: Entry) -> None:
        """Note that an adopted job has run."""
        self._end(entry)
        self._lane(entry.job).came_back(entry.job, leaves=True)

    def _admit(self, job: LaneJob, due: float) -> None:
        """Register the job, and when to look at it first."""
        with self._lock:
            self.open.add(job)
            self._due = min(self._due, due)

    def _route(self, entry: Entry) -> None:
        """Find the lane of a job and queue it there; the reader queues jobs itself once none is unrouted."""
        try:
            entry.job.find_lane()
            self._queue(entry.job)
        finally:
            with self._state:
                self._routing -= 1

    def _queue(self, job: LaneJob) -> None:
        """Queue the job in its lane."""
        entry = self._entry(job)
        if not self._lane(job).put(entry):
            job.refuse("EAGAIN", NO_THREAD)
            self._end(entry)

    def _entry(self, job: LaneJob) -> Entry:
        """The job with the mutation it follows, or as one that others follow."""
        if job.lane == "write":
            self._serial += 1
            mutation = self._last_write[job.family] = _Mutation(self._serial)
            return Entry(job, None, mutation)
        return Entry(job, self._ahead_of(job.family) if self._last_write else None, None)

    def _lane(self, job: LaneJob) -> _Lane:
        """The lane of a job, made when the first one comes."""
        lane = self._lanes.get((job.lane, job.family))
        if lane is None:
            lane = _Lane(*SIZES[job.lane], self._lock, self._run)
            self._lanes[job.lane, job.family] = lane
            self._all = (*self._all, lane)
        return lane

    def _run(self, entry: Entry) -> None:
        try:
            if entry.follows is not None:
                entry.follows.give_way()
            entry.job.run()
        finally:
            self._end(entry)

    def _end(self, entry: Entry) -> None:
        if entry.mutation is not None:
            entry.mutation.done.set()
        self._finish(entry.job)

    def settle(self, seconds: float) -> bool:
        """Wait until every job is finished, at most `seconds`; False if some still run."""
        self._watched = True
        with self._state:
            if self._state.wait_for(lambda: not self.open, min(seconds, NUDGE_SECONDS)):
                return True
            for lane in self._all:  # nobody nudges any more
                lane.open_up()
            return self._state.wait_for(lambda: not self.open, max(0.0, seconds - NUDGE_SECONDS))

    def _ahead_of(self, family: str) -> _Mutation | None:
        """The last unfinished mutation that a read of this family should see; "" may be any family."""
        related = [self._last_write[name] for name in self._last_write if not family or name in ("", family)]
        last = max(related, key=attrgetter("serial"), default=None)
        return None if last is None or last.stuck or last.done.is_set() else last

    def _finish(self, job: LaneJob) -> None:
        self.open.discard(job)
        left = len(self.open)
        if self._watched and not left:
            with self._state:
                self._state.notify_all()
        if self._was_full and left <= FULL_JOBS:
            self._was_full = False
            self._wake()
