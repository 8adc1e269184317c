"""The main loop: one blocking wait, bytes in, jobs out, and a shutdown that always ends.

The main thread waits in one `poll` for requests, for a closed stdout and for signals; it decodes, answers
what is cheap, hands the rest to the pools, and looks after deadlines once a second while jobs are open. It
never waits for a tool or for the peer to read, and an idle server costs nothing.

The protocol streams are private copies of descriptors 0 and 1. Descriptor 1 then points at stderr and 0 at
nothing, so that a stray print or a child process can neither tear a reply nor eat a request. Signals arrive
as bytes on a pipe that the one wait watches: one that came just before the wait would not end it.

The end: after the end of input all that was received is answered, as long as answers go out; a signal or
`exit` leaves half a second, a closed stdout nothing.
"""

from __future__ import annotations

import math
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from context_pack_adapters.server.framing import Decoder, encode
from context_pack_adapters.server.jobs import CALL_SECONDS, DEAF_SECONDS
from context_pack_adapters.server.session import ProtocolSession
from context_pack_adapters.server.threads import WorkerPools, Writer

READ_BYTES = 64 * 1024
MAX_OPEN_JOBS = 4096
MAX_UNSENT_BYTES = 32 * 1024 * 1024
"""Above these no more requests are read."""
CHECK_SECONDS = 1.0
"""How often the deadlines of open jobs are checked."""
STOP_SECONDS = 0.5
FLUSH_SECONDS = 0.25
LAST_RESORT_SECONDS = 1.6
"""How long the very end may take, whatever hangs."""

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

MakeSession = Callable[[Callable[[bytes], None]], ProtocolSession]


class Limits(NamedTuple):
    """Limits of a connection; `warn` gets the one line logged when the client stayed silent."""

    max_message_bytes: int
    first_message_ms: int
    warn: Callable[[str], None]
    stall_seconds: float = CALL_SECONDS
    """How long after the end of input nothing may come of what was received."""


def serve(make_session: MakeSession, limits: Limits) -> int:
    """Serve stdin and stdout until the conversation ends; returns the exit code.

    Threads may still be busy when this returns: the caller ends the process with `os._exit`.
    """
    streams = claim_streams()
    return 0 if streams is None else Pump(*streams, make_session, limits).run()


class Pump:
    """One connection over two descriptors."""

    def __init__(self, reads: int, writes: int, make_session: MakeSession, limits: Limits) -> None:
        self._reads, self._writes, self._limits = reads, writes, limits
        self._signals = Signals()
        self._decoder = Decoder(limits.max_message_bytes)
        self._awaits_progress = False  # Whether the main thread waits for jobs or for the writer.
        self._writer, self._pools = Writer(writes, self._progressed), WorkerPools(self._progressed)
        self._session = make_session(self._send)
        self._poll = select.poll()
        self._input: int | None = None  # Which events of the input are waited for; None: it has ended.
        self._silent_until = time.monotonic() + limits.first_message_ms / 1000
        self._next_check = 0.0
        self._code: int | None = None  # The exit code, once the conversation is to end.
        self._ends_at = math.inf
        self._left = (0, 0)  # Open jobs and unsent bytes when the end of input was last looked at.

    def run(self) -> int:
        """Run the connection to its end; returns the exit code."""
        self._poll.register(self._signals.descriptor, select.POLLIN)
        self._poll.register(self._writes, 0)  # its end is always told
        self._await_input(select.POLLIN)
        while not self._is_over():
            events = dict(self._poll.poll(self._timeout()))
            if self._signals.descriptor in events and self._signals.stop_wanted():
                self._end(0, STOP_SECONDS)
            if self._writer.closed or self._writes in events:
                self._end(0, 0.0)
            elif self._reads in events:
                self._read_input()
            self._mind_the_time(time.monotonic())
        return self._close(self._code or 0)

    def _send(self, body: bytes) -> None:
        self._writer.send(encode(body, self._decoder.mode))

    def _progressed(self) -> None:
        """A job is over or bytes were written; called from their threads."""
        if self._awaits_progress:
            self._signals.poke()

    def _end(self, code: int, seconds: float) -> None:
        """Let the conversation end when everything is answered, or after so many seconds."""
        self._code = code
        self._ends_at = min(self._ends_at, time.monotonic() + seconds)
        self._await_input(None)

    def _is_over(self) -> bool:
        full = len(self._session.jobs) > MAX_OPEN_JOBS or self._writer.unsent > MAX_UNSENT_BYTES
        self._awaits_progress = full or self._input is None
        left = (len(self._session.jobs), self._writer.unsent)  # after the flag, so that no end is missed
        if self._code is not None:
            return left == (0, 0) or time.monotonic() >= self._ends_at
        if self._input is not None:
            self._await_input(0 if full else select.POLLIN)
            return False
        # The input has ended: as long as answers go out, there is time for the others.
        if left == (0, 0):
            return True
        if left != self._left:
            self._left = left
            self._ends_at = time.monotonic() + self._limits.stall_seconds + DEAF_SECONDS
        return time.monotonic() >= self._ends_at

    def _await_input(self, events: int | None) -> None:
        """Wait for requests, only for the end of input while there is no room for replies, or not at all."""
        if events is None and self._input is not None:
            self._poll.unregister(self._reads)
        elif events is not None and events != self._input:
            self._poll.register(self._reads, events)
        self._input = events

    def _timeout(self) -> float | None:
        """Milliseconds that the wait may last; None for ever."""
        due = self._ends_at
        if self._session.jobs:
            due = min(due, self._next_check)
        if not self._session.heard:
            due = min(due, self._silent_until)
        return None if due == math.inf else max(0.0, due - time.monotonic()) * 1000 + 1

    def _mind_the_time(self, now: float) -> None:
        """Handle timers: deadlines of jobs, and a silent client."""
        if now >= self._next_check:
            self._next_check = now + CHECK_SECONDS
            for job in list(self._session.jobs):
                if job.check_deadline():
                    self._pools.replace(job, list(self._session.jobs))
        if not self._session.heard and now >= self._silent_until:
            self._limits.warn(f"no message within {self._limits.first_message_ms} ms; the server ends")
            self._end(1, 0.0)

    def _read_input(self) -> None:
        """Read once, and serve every message that is now complete."""
        try:
            data = os.read(self._reads, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        for item in self._decoder.feed(data) if data else self._decoder.eof():
            for job in self._session.receive(item):
                self._pools.submit(job)
            if self._session.exit_code is not None:
                self._end(self._session.exit_code, STOP_SECONDS)
                return
        if not data:
            self._await_input(None)

    def _close(self, code: int) -> int:
        """Cancel what still runs, and send what is ready."""
        last_resort = threading.Timer(LAST_RESORT_SECONDS, os._exit, (code,))
        last_resort.daemon = True
        last_resort.start()
        self._session.finish()
        self._session.cancel_all()
        self._writer.close(FLUSH_SECONDS)
        return code


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
