"""One request at a time, served by the thread that reads it: handing it to a lane costs more than most calls.

The main thread gives a request that came alone to this thread, and the reading with it. While this thread is
at work, the next request wakes the main thread, which takes the reading back: what hangs here hangs alone.
Changing what the main thread is woken by takes an `epoll`; where there is none, or where the input is a plain
file, the main thread reads everything and nothing is served here.
"""

from __future__ import annotations

import select
import threading
from _thread import start_new_thread
from collections.abc import Callable
from queue import SimpleQueue

from context_pack_adapters.mcp.lanes import Entry, LaneJob


class Front:
    """The thread that reads and serves, and whether it does so now.

    `take` reads once; it gives the request that came alone, and whether this thread may read on. `serve`
    serves a request; `wake` wakes the main thread.

    Raises:
        AttributeError, OSError, RuntimeError: the system has no `epoll` for that input, or no thread now.
    """

    def __init__(
        self,
        descriptor: int,
        take: Callable[[], tuple[Entry | None, bool]],
        serve: Callable[[Entry], None],
        wake: Callable[[], None],
    ) -> None:
        self.reads = False
        """Whether this thread reads, and not the main one."""
        self.standby = select.epoll()
        """Readable when a request has come while this thread is at work."""
        self._descriptor = descriptor
        self._take = take
        self._serve = serve
        self._wake = wake
        self._lock = threading.Lock()
        self._given: SimpleQueue[Entry] = SimpleQueue()
        self._at_work = False
        self.thread = 0
        """Its identity, once it runs."""
        self._job: LaneJob | None = None
        self.idle = True
        """Whether a request can be given."""
        self._begin()  # a plain file cannot be waited for: better known now
        self._end()
        start_new_thread(self._run, ())

    def give(self, entry: Entry) -> None:
        """Give this idle thread a request to serve; it then reads the next one itself."""
        with self._lock:
            self.idle = False
            self.reads = True
            self._begin()
        self._given.put(entry)

    def take_back(self) -> LaneJob | None:
        """Let this thread read no more; when this returns, it does not.

        The job whose reply was sent while it still had something to do here, if there is one.
        """
        with self._lock:
            self.reads = False
            self._end()
            return self._job if self._job is not None and self._job.is_over else None

    @property
    def answers(self) -> bool:
        """Whether the current request is done and only its reply has to be sent."""
        return self._job is not None and self._job.is_over

    def relax(self) -> None:
        """Do not wake the main thread for the next request: this thread is about to read it."""
        with self._lock:
            self._end()

    def answered(self) -> None:
        """Called after the reply: wake the main thread for the next request only if deferred work is left."""
        with self._lock:
            if self._job is None or not self._job.leaves_work:
                self._end()
            elif self.reads:
                self._begin()

    def _begin(self) -> None:
        """Let the next request wake the main thread."""
        if not self._at_work:
            self.standby.register(self._descriptor, select.EPOLLIN)
            self._at_work = True

    def _end(self) -> None:
        if self._at_work:
            self.standby.unregister(self._descriptor)
            self._at_work = False

    def _run(self) -> None:
        self.thread = threading.get_ident()
        wait = select.poll()
        wait.register(self._descriptor, select.POLLIN)
        try:
            while True:
                self._work(self._given.get())
                while self.reads:
                    wait.poll()
                    entry = self._next()
                    if entry is not None:
                        self._work(entry)
                self.idle = True
        finally:  # where memory is short anything may fail; the main thread does without this one
            self.take_back()
            self._wake()

    def _work(self, entry: Entry) -> None:
        self._job = entry.job
        self._serve(entry)
        self._job = None
        self.relax()

    def _next(self) -> Entry | None:
        """The request that came alone, if this thread still reads."""
        with self._lock:
            if not self.reads:
                return None
            entry, self.reads = self._take()
            if not self.reads:
                self._wake()
            elif entry is not None:
                self._begin()
            return entry
