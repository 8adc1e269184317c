"""The server process: its two protocol streams and its signals.

The protocol streams are private copies of descriptors 0 and 1. Descriptor 1 then points at stderr and 0 at
nothing, so that a stray print or a child process can neither tear a reply nor eat a request. Signals arrive
as bytes on a pipe that the pump's one wait watches: one that came just before the wait would not end it.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def claim_streams() -> tuple[int, int] | None:
    """Take descriptors 0 and 1 for the protocol and leave harmless ones; None if one of them is closed."""
    nothing = os.open(os.devnull, os.O_RDWR)  # is 2 itself if that was closed
    try:
        streams = os.dup(0), os.dup(1)
    except OSError:
        return None
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return streams


class Signals:
    """Stop signals, readable from `descriptor`."""

    def __init__(self) -> None:
        self.descriptor, self._writes = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._writes, False)
        for number in STOPPING:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)

    def poke(self) -> None:
        """Wake the wait that watches `descriptor`; callable from any thread."""
        with suppress(BlockingIOError):  # the pipe is full of wake-ups already
            os.write(self._writes, b"\0")

    def stop_wanted(self) -> bool:
        """Consume what has arrived; True if one of it ends the process."""
        try:
            numbers = os.read(self.descriptor, 4096)
        except BlockingIOError:
            return False
        return any(number in STOPPING for number in numbers)
