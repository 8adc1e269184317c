"""One exclusive lock per path, across processes and threads, with a timeout.

The lock is the operating system's, taken by `filelock` on a descriptor of our own, so it is gone the moment
its holder dies. Each acquisition opens the file anew, which is why threads of one process exclude each other
as well. Removing a lock file would split waiters over two inodes: one who holds the removed file and one who
made a new one. So a file is removed only by its holder, and who gets a lock compares what is locked with what
has the name now.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from types import TracebackType

from filelock import lock_descriptor, unlock_descriptor

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.ports import Reason
from context_pack.toolkit.call import check_call
from context_pack_adapters.files.opening import Handle, Place, Refused, status_of

_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Held = Callable[[], AbstractContextManager[Handle]]
"""Gives a folder, open for a while."""


class PathLock:
    """An exclusive lock on one path; not re-entrant, used once.

    The path is a name in the folder that `held` gives, or else its folder is one that a setting named.
    Raises `lock_timeout` when it stays taken, and OSError when the lock file cannot be opened.
    """

    def __init__(self, path: str, timeout: float, held: Held | None = None, mode: int = 0o666) -> None:
        folder, self._name = os.path.split(path)
        self._held = held or Place.of(folder or os.curdir).held
        self._timeout = timeout
        self._mode = mode
        self._descriptor: int | None = None

    def __enter__(self) -> PathLock:
        self.acquire()
        return self

    def acquire(self, waiting: Callable[[], None] = check_call) -> None:
        """Take the lock, waiting until the timeout; what `waiting` raises meanwhile ends the wait."""
        deadline = time.monotonic() + self._timeout
        while not self.attempt():
            waiting()
            left = deadline - time.monotonic()
            if left <= 0:
                raise _timed_out(self._name, self._timeout)
            # Waiters that wake in step would starve one another: each waits from 1 to 18 ms.
            time.sleep(min(0.001 + os.urandom(1)[0] / 15_000, left))

    def attempt(self) -> bool:
        """Take the lock if it is free; never waits."""
        with self._held() as folder:
            descriptor = os.open(self._name, _OPEN, self._mode, dir_fd=folder)
            try:
                opened = os.fstat(descriptor)
                if not stat.S_ISREG(opened.st_mode):
                    raise Refused(Reason.NOT_A_FILE)
                with suppress(FileNotFoundError):
                    if lock_descriptor(descriptor, blocking=False) and os.path.samestat(
                        opened, status_of(folder, self._name)
                    ):
                        self._descriptor, descriptor = descriptor, -1
                return descriptor < 0
            finally:
                if descriptor >= 0:
                    os.close(descriptor)

    def retire(self) -> None:
        """Remove the lock file, as the holder's last act: what it protected is gone."""
        with suppress(OSError), self._held() as folder:
            os.unlink(self._name, dir_fd=folder)

    def release(self) -> None:
        """Give the lock back."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                # Explicitly, because a forked child may still have the descriptor open.
                unlock_descriptor(descriptor)
            finally:
                os.close(descriptor)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def attempt_lock(path: str, held: Held | None = None, mode: int = 0o666) -> PathLock | None:
    """The lock if it is free and can be had at all, else None; never waits and never raises OSError."""
    lock = PathLock(path, 0.0, held, mode)
    try:
        return lock if lock.attempt() else None
    except OSError:
        return None


def _timed_out(name: str, seconds: float) -> Failure:
    hint = "another process or call is writing; wait a moment, read the pack again and retry"
    return Failure(
        Code.LOCK_TIMEOUT,
        f"{name} stayed locked for {seconds:g} s: {hint}",
        {"lock": name, "timeout_seconds": seconds, "hint": hint},
    )
