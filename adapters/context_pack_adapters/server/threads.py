"""The threads of the server besides the one that reads: pools that run jobs, and one that writes.

Each family of tools has a pool for reads, one for searches, and one thread for changes, which keeps their
order of arrival; whatever hangs holds up its own kind only. A read that comes behind a change of its family
waits for it, a quarter of a second at most: a client reads its own writes and does not wait for a stuck one.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.server.jobs import Job

THREADS = {"read": 2, "slow": 4, "write": 1}
"""Reads are short and mostly hold the interpreter: more threads only hand it around (a call alone took 96 µs
of four, 89 of two, 66 of one); the second is for the read that waits for a disk."""
READ_AFTER_WRITE_SECONDS = 0.25
NO_THREAD = "the system grants no more threads; close some programs, or try again in a moment"


class Pool:
    """A few threads that take work from one queue; each is started with one of the first pieces of work.

    In place of `ThreadPoolExecutor`, whose futures cost an eighth of a short call.
    """

    def __init__(self, most: int) -> None:
        self._most, self._threads = most, 0
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def submit(self, work: Callable[[], None]) -> None:
        """Do the work as soon as a thread is free; only one thread submits.

        Raises:
            RuntimeError: there is no thread, and none to be had.
        """
        if self._threads < self._most:
            try:
                threading.Thread(target=self._run, daemon=True).start()
                self._threads += 1
            except RuntimeError:
                if not self._threads:
                    raise
        self._queue.put(work)

    def close(self) -> None:
        """Drop what has not begun, and let each thread end once it comes back."""
        with suppress(Empty):
            while True:
                self._queue.get_nowait()
        for _ in range(self._threads):
            self._queue.put(None)

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            work()


class WorkerPools:
    """Runs jobs; `on_done` is called after each. All but the jobs runs in the thread that reads."""

    def __init__(self, on_done: Callable[[], None]) -> None:
        self._on_done = on_done
        self._pools: dict[tuple[str, str], Pool] = {}
        self._last_change: dict[str, threading.Event] = {}
        """For each family whether its last change is done."""

    def submit(self, job: Job) -> None:
        """Run the job as soon as a thread of its kind and family is free."""
        key = (job.kind, job.family)
        pool = self._pools.get(key) or self._pools.setdefault(key, Pool(THREADS[job.kind]))
        is_change = job.kind == "write"
        ahead = [] if is_change else self._changes_ahead_of(job.family)
        done = threading.Event() if is_change else None
        try:
            pool.submit(partial(self._run, job, ahead, done))
        except RuntimeError:
            job.give_up(Failure(Code.IO_ERROR, NO_THREAD, {"reason": "EAGAIN"}))
            return
        if done is not None:
            self._last_change[job.family] = done

    def replace(self, stuck: Job, waiting: Collection[Job]) -> None:
        """Give a new pool to the jobs that wait behind one whose thread may never come back."""
        key = (stuck.kind, stuck.family)
        if key in self._pools:
            self._pools.pop(key).close()
        if stuck.kind == "write":
            self._last_change.pop(stuck.family, None)  # a change that was cancelled meanwhile is never done
        for job in waiting:
            if (job.kind, job.family) == key and not job.has_begun:
                self.submit(job)

    def _changes_ahead_of(self, family: str) -> list[threading.Event]:
        """The unfinished changes that a read of this family should see; "" may read any family."""
        changes = self._last_change.items()
        return [done for name, done in changes if family in ("", name) and not done.is_set()]

    def _run(self, job: Job, ahead: list[threading.Event], done: threading.Event | None) -> None:
        until = time.monotonic() + READ_AFTER_WRITE_SECONDS if ahead else 0.0
        for change in ahead:
            change.wait(max(0.0, until - time.monotonic()))
        job.run()
        if done is not None:
            done.set()
        self._on_done()


class Writer:
    """Sends frames over one descriptor; `on_progress` is called when some were written, or cannot be.

    Whoever sends a frame writes it, where that does not block and nothing waits to be written before it; what
    is left goes to a thread. Handing every frame to the thread, which then writes several together, took a
    fifth longer: waking it costs more than the system call.
    """

    def __init__(self, descriptor: int, on_progress: Callable[[], None]) -> None:
        self._descriptor, self._on_progress = descriptor, on_progress
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self.unsent = 0  # bytes that were sent and not yet written
        self.closed = False  # whether the peer reads no more
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def send(self, frame: bytes) -> None:
        """Send one frame; safe from any thread, and never waits for the peer."""
        with self._lock:
            rest = frame if self.unsent else self._write_at_once(frame)
            if rest:
                self.unsent += len(rest)
                self._queue.put(rest)

    def close(self, seconds: float) -> None:
        """Write what is queued, for so many seconds at most."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        is_open = True
        while is_open:
            frames = [self._queue.get()]
            while not self._queue.empty():
                frames.append(self._queue.get())
            data = b"".join(frame for frame in frames if frame is not None)
            is_open = None not in frames
            self._write(data)
            with self._lock:
                self.unsent -= len(data)
            self._on_progress()

    def _write_at_once(self, frame: bytes) -> bytes:
        """Write a short frame if that does not block; returns what is left to write."""
        if len(frame) > select.PIPE_BUF or not self._poll.poll(0):
            return frame
        try:
            return frame[os.write(self._descriptor, frame) :]
        except OSError:
            return frame  # the thread meets the same error and handles it

    def _write(self, data: bytes) -> None:
        """Write all of `data`; once the peer is gone everything is dropped."""
        view = memoryview(data)
        while view and not self.closed:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:  # somebody made the shared pipe non-blocking
                select.select([], [self._descriptor], [])
            except OSError:
                self.closed = True
