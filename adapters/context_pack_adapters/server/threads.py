"""The threads of the server besides the one that reads: pools that run jobs, and one that writes.

Each family of tools has a pool for reads, one for searches, and one thread for changes, which keeps their
order of arrival; whatever hangs holds up its own kind only. A read that comes behind a change of its family
waits for it, a quarter of a second at most: a client reads its own writes and does not wait for a stuck one.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.server.jobs import Job

THREADS = {"read": 4, "slow": 4, "write": 1}
READ_AFTER_WRITE_SECONDS = 0.25
NO_THREAD = "the system grants no more threads; close some programs, or try again in a moment"


class WorkerPools:
    """Runs jobs; `on_done` is called after each. All but the jobs runs in the thread that reads."""

    def __init__(self, on_done: Callable[[], None]) -> None:
        self._on_done = on_done
        self._pools: dict[tuple[str, str], ThreadPoolExecutor] = {}
        self._last_change: dict[str, Future[None]] = {}

    def submit(self, job: Job) -> None:
        """Run the job as soon as a thread of its kind and family is free."""
        key = (job.kind, job.family)
        if key not in self._pools:
            self._pools[key] = ThreadPoolExecutor(THREADS[job.kind])
        ahead = [] if job.kind == "write" else self._changes_ahead_of(job.family)
        try:
            future = self._pools[key].submit(self._run, job, ahead)
        except RuntimeError:  # no thread to be had
            job.give_up(Failure(Code.IO_ERROR, NO_THREAD, {"reason": "EAGAIN"}))
            return
        if job.kind == "write":
            self._last_change[job.family] = future

    def replace(self, stuck: Job, waiting: Collection[Job]) -> None:
        """Give a new pool to the jobs that wait behind one whose thread may never come back."""
        key = (stuck.kind, stuck.family)
        if key in self._pools:
            self._pools.pop(key).shutdown(wait=False, cancel_futures=True)
        for job in waiting:
            if (job.kind, job.family) == key and not job.has_begun:
                self.submit(job)

    def _changes_ahead_of(self, family: str) -> list[Future[None]]:
        """The unfinished changes that a read of this family should see; "" may read any family."""
        return [one for name, one in self._last_change.items() if family in ("", name) and not one.done()]

    def _run(self, job: Job, ahead: list[Future[None]]) -> None:
        if ahead:
            wait(ahead, READ_AFTER_WRITE_SECONDS)
        job.run()
        self._on_done()


class Writer:
    """Sends frames over one descriptor; `on_progress` is called when some were written, or cannot be."""

    def __init__(self, descriptor: int, on_progress: Callable[[], None]) -> None:
        self._descriptor, self._on_progress = descriptor, on_progress
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = threading.Lock()
        self.unsent = 0  # bytes that were sent and not yet written
        self.closed = False  # whether the peer reads no more
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def send(self, frame: bytes) -> None:
        """Queue one frame; safe from any thread."""
        with self._lock:
            self.unsent += len(frame)
        self._queue.put(frame)

    def close(self, seconds: float) -> None:
        """Write what is queued, for so many seconds at most."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while (frame := self._queue.get()) is not None:
            self._write(frame)
            with self._lock:
                self.unsent -= len(frame)
            self._on_progress()

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
