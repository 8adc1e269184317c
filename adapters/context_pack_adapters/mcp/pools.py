"""Where jobs run: each family of tools has a pool of threads for reads, one for searches, and one thread for
changes, which keeps their order of arrival; whatever hangs holds up its own kind only.

A read that comes behind a change of its family waits for it, but not longer than a moment, so that a client
reads its own writes and does not wait for a stuck one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor, wait

from context_pack_adapters.mcp.jobs import Job

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
            job.refuse("EAGAIN", NO_THREAD)
            return
        if job.kind == "write":
            self._last_change[job.family] = future

    def replace(self, stuck: Job, waiting: Collection[Job]) -> None:
        """Give a new pool to the jobs that wait behind one whose thread may never come back."""
        pool = self._pools.pop((stuck.kind, stuck.family), None)
        if pool is None:
            return  # replaced already
        pool.shutdown(wait=False, cancel_futures=True)
        for job in waiting:
            if (job.kind, job.family) == (stuck.kind, stuck.family) and not job.has_begun:
                self.submit(job)

    def _changes_ahead_of(self, family: str) -> list[Future[None]]:
        """The unfinished changes that a read of this family should see; "" may read any family."""
        if not self._last_change:
            return []
        return [one for name, one in self._last_change.items() if family in ("", name) and not one.done()]

    def _run(self, job: Job, ahead: list[Future[None]]) -> None:
        if ahead:
            wait(ahead, READ_AFTER_WRITE_SECONDS)
        job.run()
        self._on_done()
