"""Long work in a child process, so that answering never waits for it; the child never outlives us.

A child is held by its standard input: when this process ends, however it ends, the pipe closes and the child
sees it. Each child is started and awaited by a thread of its own: Linux counts a parent by thread, and
somebody must take its exit code. What a child does is an errand, known by name (`commands/errand.py`); a lock
file per errand lets one process at a time do it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from context_pack_adapters.disk.locking import PathLock
from context_pack_adapters.disk.private import PrivateFolder

if TYPE_CHECKING:
    from subprocess import Popen

RETRY_SECONDS = 30.0
"""How long an errand that failed is left alone."""
STOP_SECONDS = 2.0
LOCK_SECONDS = 0.3
"""A child waits so long for its lock: somebody may be looking whether it is held."""


Done = Callable[[str], None]
"""Hears of an errand that was done, by its name, in a thread of the errand's."""


def errand_command() -> list[str]:
    """How to run an errand with this interpreter; its name is the last word, added later."""
    # -P: the working directory is the user's project, whose modules must not pass for ours.
    return [sys.executable, "-P", "-m", "context_pack", "errand"]


def errand_environment(environ: Mapping[str, str], root: str, source_root: str, cache: str) -> dict[str, str]:
    """The environment of a child: ours, with all places as they are here and our own tree importable."""
    home = str(Path(__file__).resolve().parents[3])
    tree = (
        home
        if os.path.isdir(os.path.join(home, "context_pack"))
        else str(Path(__file__).resolve().parents[2])
    )
    path = os.pathsep.join(filter(None, [tree, environ.get("PYTHONPATH", "")]))
    return {
        **environ,
        "PYTHONPATH": path,
        "CONTEXT_PACK_ROOT": root,
        "CONTEXT_PACK_SOURCE_ROOT": source_root,
        "CONTEXT_PACK_CACHE": cache,
    }


def errand_lock(folder: PrivateFolder, errand: str) -> PathLock:
    """The lock that whoever does an errand holds."""
    return folder.lock(f"{errand}.lock", LOCK_SECONDS)


class ChildBackground:
    """One child per errand; safe for threads."""

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        *,
        folder: PrivateFolder,
        cwd: str | None = None,
        on_done: Done = lambda _: None,
    ) -> None:
        self._command = list(command)
        self._environ = dict(environ)
        self._folder = folder
        self._cwd = cwd
        self._on_done = on_done
        self._lock = Lock()
        self._children: dict[str, _Child] = {}

    def start(self, errand: str) -> bool:
        """Begin the errand unless it runs here or elsewhere; whether it runs now."""
        with self._lock:
            child = self._children.get(errand)
            if child is not None and (child.alive() or child.failed_lately()):
                return child.alive()
            if self._held_elsewhere(errand):
                return True
            child = _Child([*self._command, errand], self._environ, self._cwd, lambda: self._on_done(errand))
            self._children[errand] = child
            return child.alive()

    def running(self, errand: str) -> bool:
        """Whether the errand is under way in this process's worker."""
        with self._lock:
            child = self._children.get(errand)
            return child is not None and child.alive()

    def stop_all(self) -> None:
        """End every child and wait until it is gone."""
        with self._lock:
            children, self._children = list(self._children.values()), {}
        for child in children:
            child.ask_to_end()
        for child in children:
            child.end()

    def _held_elsewhere(self, errand: str) -> bool:
        lock = errand_lock(self._folder, errand)
        try:
            if not lock.attempt():
                return True
            lock.release()
        except OSError:  # no folder yet, or no right to lock: the child will tell
            return False
        return False


class _Child:
    """One run of an errand, with the thread that started it and takes its exit code."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], cwd: str | None, done: Callable[[], None]
    ) -> None:
        self._done = done
        self._process: Popen[bytes] | None = None
        self._code: int | None = None
        self._ended_at = 0.0
        self._started, self._ended = Event(), Event()
        Thread(target=self._live, args=(command, environ, cwd), daemon=True, name="errand").start()
        self._started.wait()

    def _live(self, command: Sequence[str], environ: Mapping[str, str], cwd: str | None) -> None:
        import subprocess

        try:
            self._process = subprocess.Popen(
                command,
                env=dict(environ),
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError):
            self._code = -1
        finally:
            self._started.set()
        if self._process is not None:
            self._code = self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._ended_at = time.monotonic()
        self._ended.set()
        if self._code == 0:
            self._done()

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process is not None and not self._ended.is_set()

    def failed_lately(self) -> bool:
        """Whether it ended badly a short while ago."""
        return bool(self._code) and time.monotonic() - self._ended_at < RETRY_SECONDS

    def ask_to_end(self) -> None:
        """Tell it to end."""
        if self._process is not None:
            self._process.terminate()

    def end(self) -> None:
        """Wait a little for it to end, then make it."""
        if self._process is not None and not self._ended.wait(STOP_SECONDS):
            self._process.kill()
            self._ended.wait()
