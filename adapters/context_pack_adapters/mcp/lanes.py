"""Where jobs run: each family of tools has one lane for mutations, in their order of arrival, one for reads,
and one for searches, so that whatever is stuck holds up nobody but its own kind. Calls that come before the
tools are loaded are unrouted: they wait in a lane of their own, and so does whatever comes behind them.

A read that arrives behind a mutation of its own family lets it finish first, but for a moment only: nobody
reads around their own write, and nobody waits for a stuck one. A job that passed its deadline and does not
listen is answered for (`look`), and its thread written off. Where the system refuses a thread and no other is
at work, that job is refused.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from context_pack_adapters.mcp.lane import Entry, Lane, LaneJob, Mutation

SIZES = {"read": (4, 16), "slow": (4, 24), "write": (1, 8)}
"""How many threads a lane of each kind usually has at most, and how many when those are stuck."""
NO_THREAD = "the system grants no more threads or memory; close some programs, or try again in a moment"
NUDGE_SECONDS = 0.003
FULL_JOBS = 4096
UNROUTED = "unrouted"
"""The lane of jobs whose own lane is not known yet."""


class Lanes:
    """Runs jobs and knows when all of them are finished."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._state = threading.Condition()
        self.open: set[LaneJob] = set()
        """The jobs that wait or run; changed by single steps that no other thread can come between."""
        self._watched = self._was_full = False
        self._lock = threading.Lock()
        self._unrouted = Lane(1, 1, self._lock, self._route)
        self._lanes: dict[tuple[str, str], Lane] = {}
        self._all: tuple[Lane, ...] = (self._unrouted,)
        self._due = math.inf
        self._routing = 0
        self._last_write: dict[str, Mutation] = {}

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
            self._last_write.pop(job.family, None)  # the newest comes last
            mutation = self._last_write[job.family] = Mutation()
            return Entry(job, None, mutation)
        return Entry(job, self._ahead_of(job.family) if self._last_write else None, None)

    def _lane(self, job: LaneJob) -> Lane:
        """The lane of a job, made when the first one comes."""
        lane = self._lanes.get((job.lane, job.family))
        if lane is None:
            lane = Lane(*SIZES[job.lane], self._lock, self._run)
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

    def _ahead_of(self, family: str) -> Mutation | None:
        """The last unfinished mutation that a read of this family should see; "" may be any family."""
        last = self._last_write.get(family) if family else next(reversed(self._last_write.values()))
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
