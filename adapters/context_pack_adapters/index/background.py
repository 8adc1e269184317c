"""Runs long work in a child process, so that calls never wait for it; the child never outlives us.

A child is held by its standard input: when this process ends, however it ends, the pipe closes and the child
sees it. On its standard output it says in one line why it failed. What a child does is a task, known by name
(`cli/index.py`); a lock file per task lets one process at a time do it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Thread

from attrs import define, field

from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.files.locking import PathLock
from context_pack_adapters.system import python_environment

MOST_WORDS = 300
RETRY_SECONDS = 30.0
"""How long a task that failed is left alone."""
STOP_SECONDS = 2.0
LOCK_SECONDS = 0.3
"""How long a child waits for its lock, which another process may hold while it checks it."""

Done = Callable[[str], None]
"""Called with the name of a finished task, in that task's thread."""


def task_command() -> list[str]:
    """How to run a task with this interpreter; its name is the last word, added later."""
    # -P: the working directory is the user's project, whose modules must not pass for ours.
    return [sys.executable, "-P", "-m", "context_pack", "task"]


def task_environment(root: str, source_root: str, cache: str) -> dict[str, str]:
    """The environment of a child: ours, with all places as they are here and our own packages importable."""
    places = {
        "CONTEXT_PACK_ROOT": root,
        "CONTEXT_PACK_SOURCE_ROOT": source_root,
        "CONTEXT_PACK_CACHE": cache,
    }
    return python_environment() | places


def task_lock(folder: PrivateFolder, task: str) -> PathLock:
    """The lock held by the process that does a task."""
    return folder.lock(f"{task}.lock", LOCK_SECONDS)


@define(eq=False)
class ChildBackground:
    """One child per task; safe for threads."""

    command: Sequence[str]
    environ: Mapping[str, str]
    folder: PrivateFolder = field(kw_only=True)
    cwd: str | None = field(default=None, kw_only=True)
    on_done: Done = field(default=lambda _: None, kw_only=True)
    _lock: Lock = field(factory=Lock, init=False)
    _children: dict[str, _Child] = field(factory=dict, init=False)

    def start(self, task: str) -> bool:
        """Begin the task unless it runs here or elsewhere; whether it runs now."""
        with self._lock:
            child = self._children.get(task)
            if child is not None and (child.is_alive() or child.failed_lately()):
                return child.is_alive()
            if self._held_elsewhere(task):
                return True
            try:
                process = Popen(
                    [*self.command, task],
                    env=self.environ, cwd=self.cwd, stdin=PIPE, stdout=PIPE, stderr=DEVNULL,
                )  # fmt: skip
            except (OSError, ValueError):
                return False
            child = self._children[task] = _Child(process, lambda: self.on_done(task))
            child.start()
            return True

    def trouble(self, task: str) -> str | None:
        """Why the task failed the last time, in one line; None if it did not, or did not say."""
        child = self._children.get(task)
        return (child.words or None) if child is not None and child.code else None

    def wait(self, task: str, seconds: float) -> bool:
        """Wait until the task of this process's worker is over; one that runs elsewhere is not waited for."""
        child = self._children.get(task)
        if child is not None:
            child.join(seconds)
        return child is None or not child.is_alive()

    def stop_all(self) -> None:
        """End every child and wait until it is gone."""
        with self._lock:
            children, self._children = list(self._children.values()), {}
        for child in children:
            child.process.terminate()
        for child in children:
            child.join(STOP_SECONDS)
            child.process.kill()
            child.join()

    def _held_elsewhere(self, task: str) -> bool:
        """Whether another process does the task; where no lock can be had the child will tell."""
        lock = task_lock(self.folder, task)
        with suppress(OSError):
            if not lock.attempt():
                return True
            lock.release()
        return False


class _Child(Thread):
    """One run of a task: reads what it says, and waits for its end."""

    def __init__(self, process: Popen[bytes], done: Callable[[], None]) -> None:
        super().__init__(daemon=True, name="task")
        self.process, self._done, self._ended_at = process, done, 0.0
        self.code: int | None = None
        self.words = ""

    def run(self) -> None:
        """Read until the process ends."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self.process.stdin, self.process.stdout:
            output = self.process.stdout.read().decode("utf-8", "replace")
            code = self.process.wait()
        self.words, self.code, self._ended_at = output.strip()[:MOST_WORDS], code, time.monotonic()
        if code == 0:
            self._done()

    def failed_lately(self) -> bool:
        """Whether the child failed a short while ago."""
        return bool(self.code) and time.monotonic() - self._ended_at < RETRY_SECONDS
