"""The server process: its two protocol streams, its signals, and its parent.

The protocol streams are private copies of descriptors 0 and 1. Descriptor 1 then points at stderr and 0 at
nothing, so that a stray print or a child process can neither tear a reply nor eat a request. Signals arrive
as bytes on a pipe that the pump's one blocking wait watches, so no handler ever interrupts work half-way.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import NamedTuple

PARENT_GONE = signal.SIGUSR1
STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1


def speak_utf8() -> None:
    """Restart in UTF-8 mode if the locale has another encoding for file names."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1" and sys.executable:
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


class Streams(NamedTuple):
    """The private protocol descriptors; None where the process was started without one."""

    reads: int | None
    writes: int | None


def claim_streams() -> Streams:
    """Take descriptors 0 and 1 for the protocol and leave harmless ones in their place."""
    reads, writes = _copy(0), _copy(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    if not _is_open(2):
        os.dup2(nothing, 2)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing) if nothing > 2 else None
    sys.stdout = sys.stderr
    return Streams(reads, writes)


def _copy(descriptor: int) -> int | None:
    try:
        return os.dup(descriptor)
    except OSError:
        return None


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


class Signals:
    """Stop signals and the parent's death, readable from `descriptor`."""

    def __init__(self) -> None:
        self._parent = os.getppid()  # first: a parent that dies meanwhile is told by its changed id
        self.descriptor, self._writes = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._writes, False)
        for number in (*STOPPING, PARENT_GONE):
            signal.signal(number, _ignore_signal)
        signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)

    def poke(self) -> None:
        """Wake the wait that watches `descriptor`; callable from any thread."""
        try:
            os.write(self._writes, b"\0")
        except BlockingIOError:
            return  # the pipe is full of wake-ups already

    def follow_parent(self) -> bool:
        """Ask the kernel for a signal when the parent dies; True if it is already gone."""
        if sys.platform == "linux":
            # A system that lets us load nothing now leaves the end of the input to tell it.
            with suppress(ImportError, OSError, MemoryError):
                import ctypes

                ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(PARENT_GONE), 0, 0, 0)
        return self.orphaned()

    def orphaned(self) -> bool:
        """Whether the process that started us is gone.

        The kernel also signals when only the parent's *thread* that started us ends, so the signal alone
        proves nothing: a changed parent id does.
        """
        return os.getppid() != self._parent

    def stop_wanted(self) -> bool:
        """Consume what has arrived; True if one of it ends the process."""
        try:
            numbers = os.read(self.descriptor, 4096)
        except BlockingIOError:
            return False
        return any(number in STOPPING for number in numbers) or (PARENT_GONE in numbers and self.orphaned())


def _ignore_signal(number: int, frame: object) -> None:
    """Signal handler that does nothing: the wake-up descriptor carries the signal."""
