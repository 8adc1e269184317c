"""The server process: its two protocol streams, its signals, and its parent.

The protocol streams are private copies of descriptors 0 and 1. Descriptor 1 then points at stderr and 0 at
nothing, so that a stray print or a child process can neither tear a reply nor eat a request. Signals arrive
as bytes on a pipe that the pump's one wait watches: one that came just before the wait would not end it.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

PARENT_GONE = signal.SIGUSR1
STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def speak_utf8() -> None:
    """Restart in UTF-8 mode if the locale has another encoding for file names."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1" and sys.executable:
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def claim_streams() -> tuple[int, int] | None:
    """Take descriptors 0 and 1 for the protocol and leave harmless ones; None if one of them is closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.fstat(2)
    except OSError:
        os.dup2(nothing, 2)
    try:
        streams = os.dup(0), os.dup(1)
    except OSError:
        return None
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return streams


class Signals:
    """Stop signals and the parent's death, readable from `descriptor`."""

    def __init__(self) -> None:
        self._parent = os.getppid()  # first: a parent that dies meanwhile is told by its changed id
        self.descriptor, self._writes = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._writes, False)
        for number in (*STOPPING, PARENT_GONE):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)

    def poke(self) -> None:
        """Wake the wait that watches `descriptor`; callable from any thread."""
        with suppress(BlockingIOError):  # the pipe is full of wake-ups already
            os.write(self._writes, b"\0")

    def follow_parent(self) -> bool:
        """Ask the kernel for a signal when the parent dies; True if it is already gone."""
        if sys.platform == "linux":
            with suppress(ImportError, OSError):  # without it, the end of the input tells the same
                import ctypes

                ctypes.CDLL(None).prctl(1, int(PARENT_GONE), 0, 0, 0)  # PR_SET_PDEATHSIG
        return os.getppid() != self._parent

    def stop_wanted(self) -> bool:
        """Consume what has arrived; True if one of it ends the process."""
        try:
            numbers = os.read(self.descriptor, 4096)
        except BlockingIOError:
            return False
        # The parent's signal also comes when only the thread of it that started us ends.
        orphaned = PARENT_GONE in numbers and os.getppid() != self._parent
        return orphaned or any(number in STOPPING for number in numbers)
