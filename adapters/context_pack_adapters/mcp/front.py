"""One request at a time, served by the thread that reads it: handing it to a lane costs more than most calls.

The main thread gives a request that came alone to this thread, and the reading with it. While this thread is
at work, the next request wakes the main thread, which takes the reading back and has the lanes adopt the job:
what hangs here hangs alone, and what ends before anybody else comes costs the lanes nothing. Changing what
the main thread is woken by takes an `epoll`; where there is none, or where the input is a plain file, the
main thread reads everything and nothing is served here.
"""

from __future__ import annotations

import math
import select
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from context_pack_adapters.mcp.lane import Entry, LaneJob, start
from context_pack_adapters.mcp.lanes import Lanes
from context_pack_adapters.mcp.writer import PIPE_ATOMIC, Writer


class Front:
    """The thread that reads and serves, and whether it does so now.

    `take` reads once and gives the request that came alone; what it sends meanwhile is put into the list that
    it is given. `wake` wakes the main thread.

    Raises:
        AttributeError, OSError, RuntimeError: the system has no `epoll` for that input, or no thread now.
    """

    def __init__(
        self,
        descriptor: int,
        take: Callable[[list[bytes]], LaneJob | None],
        lanes: Lanes,
        writer: Writer,
        wake: Callable[[], None],
    ) -> None:
        self.reads = False
        """Whether this thread reads, and not the main one."""
        self.idle = True
        """Whether a request can be given."""
        self.alarm = math.inf
        """When the main thread looks at the latest; whoever is due before wakes it."""
        self.standby = select.epoll()
        """Readable when a request has come while this thread is at work."""
        self.thread = 0
        """Its identity, once it runs."""
        self.raised: BaseException | None = None
        """What ended the reading; the main thread deals with it."""
        self._descriptor = descriptor
        self._take = take
        self._lanes = lanes
        self._writer = writer
        self._wake = wake
        self._lock = threading.Lock()
        self._given: SimpleQueue[LaneJob] = SimpleQueue()
        self._unsent: list[bytes] = []  # what is sent while this thread deals with what it read
        self._job: LaneJob | None = None
        self._entry: Entry | None = None  # the job as the lanes know it, once they have adopted it
        self._due = math.inf
        self._watched = False
        self._watch()  # a plain file cannot be waited for: better known now
        self._unwatch()
        start(self._run)

    @property
    def due(self) -> float:
        """When the job at work should be looked at, if there is one that the lanes do not look after."""
        return math.inf if self._job is None or self._entry is not None else self._due

    def give(self, job: LaneJob) -> None:
        """Give this idle thread a request to serve; it then reads the next one itself."""
        with self._lock:
            self.idle = False
            self.reads = True
            self._begin(job)
        self._given.put(job)

    def take_back(self) -> None:
        """Let this thread read no more; when this returns, it does not, and the lanes know what it does."""
        with self._lock:
            self.reads = False
            self._unwatch()
            self._adopt()

    def look(self) -> None:
        """Let the lanes know of the job at work, and look after it."""
        with self._lock:
            self._adopt()

    def send(self, frame: bytes) -> None:
        """Send from this thread: what it read is answered together, and a reply as the last thing it does."""
        job = self._job
        if job is None:
            self._unsent.append(frame)
        elif not job.is_over or len(frame) > PIPE_ATOMIC:
            self._writer.send(frame)
        else:
            with self._lock:
                self._unwatch()  # first: the next request may follow this reply at once, and is read here
            self._writer.offer(frame)
            if job.later:
                with self._lock:
                    if self.reads:
                        self._watch()

    def _watch(self) -> None:
        """Let the next request wake the main thread."""
        if not self._watched:
            self.standby.register(self._descriptor, select.EPOLLIN)
            self._watched = True

    def _unwatch(self) -> None:
        if self._watched:
            self.standby.unregister(self._descriptor)
            self._watched = False

    def _run(self) -> None:
        self.thread = threading.get_ident()
        wait = select.poll()
        wait.register(self._descriptor, select.POLLIN)
        try:
            while True:
                self._work(self._given.get())
                while self.reads:
                    wait.poll()
                    job = self._next()
                    if job is not None:
                        self._work(job)
                self.idle = True
        finally:  # where memory is short anything may fail; the main thread does without this one
            self.take_back()
            self._wake()

    def _next(self) -> LaneJob | None:
        """The request that came alone, if this thread still reads."""
        with self._lock:
            if not self.reads:
                return None
            job = None
            try:
                job = self._take(self._unsent)
            except BaseException as caught:
                self.raised = caught
            if job is not None:
                self._begin(job)
            if self._lanes.open or self._writer.full or self.raised is not None:
                self.reads = False
                self._adopt()
                self._wake()
            return job

    def _adopt(self) -> None:
        if self._job is not None and self._entry is None:
            self._entry = self._lanes.adopt(self._job, self._due)

    def _begin(self, job: LaneJob) -> None:
        self._due = time.monotonic() + job.patience
        self._job = job
        self._watch()
        if self._due < self.alarm:
            self._wake()

    def _work(self, job: LaneJob) -> None:
        try:
            job.run()
        except BaseException:  # jobs tell their own troubles; the reading goes on
            pass
        with self._lock:
            entry, self._job, self._entry = self._entry, None, None
            if self._watched:
                self._unwatch()
        if entry is not None:
            self._lanes.release(entry)
