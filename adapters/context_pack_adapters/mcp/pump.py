"""The main loop: one blocking wait, bytes in, jobs out, and a shutdown that always ends.

The only module of the transport that blocks on the protocol streams. The main thread waits in one `poll` for
requests, for a closed stdout and for signals; it decodes, answers what is cheap and hands the rest to the
lanes, or a request that came alone to the front, which then reads on. It never waits for a tool or for the
peer to read. Nothing polls: an idle server costs nothing.
"""

from __future__ import annotations

import math
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol

from context_pack_adapters.mcp.framing import Decoder, Fault, encode
from context_pack_adapters.mcp.lane import LaneJob
from context_pack_adapters.mcp.lanes import NUDGE_SECONDS, UNROUTED, Lanes
from context_pack_adapters.mcp.process import Signals, claim_streams, speak_utf8
from context_pack_adapters.mcp.writer import Writer

if TYPE_CHECKING:
    from context_pack_adapters.mcp.front import Front

READ_BYTES = 64 * 1024
"""What a pipe holds; much more, and each read would ask the system for fresh memory."""
FEW_BYTES = 4096
"""What is read at once where memory is short."""
BUSY_NUDGE_SECONDS = 0.02
"""How long the lanes may make no progress while requests keep coming."""
GRACE_SECONDS = 1.0
"""How long what was fully received may still be answered after the end of input."""
STOP_SECONDS = 0.5
FLUSH_SECONDS = 0.25
"""How long a peer may still read what is ready once the time for the work is over."""
LOAD_SECONDS = 5.0
"""How long what was received before the tools were loaded may wait for them: that is not work of its own."""
LOOK_SECONDS = 0.02
LAST_RESORT_SECONDS = 1.6
"""After this the process ends, whatever hangs."""
SILENT_SECONDS = 0.5
"""How long to wait for the first message before the parent process is followed."""
HANG_UP = getattr(select, "POLLRDHUP", 0)
"""What to ask for besides the end of a pipe, which is always told: half of a socket that was closed."""


class Conversation(Protocol):
    """The methods of a session that the pump calls."""

    exit_code: int | None
    heard: bool

    @property
    def tried(self) -> bool: ...
    def receive(self, body: bytes) -> Sequence[LaneJob]: ...
    def reject(self, fault: Fault) -> None: ...
    def cancel_all(self) -> None: ...
    def finish(self) -> None: ...


class Limits(NamedTuple):
    """Time limits of a connection; `warn` gets the one line logged when the client stayed silent."""

    max_message_bytes: int
    first_message_ms: int
    warn: Callable[[str], None]


class _End(Exception):
    """The conversation is over."""

    def __init__(self, code: int, grace: float) -> None:
        super().__init__(code, grace)
        self.code, self.grace = code, grace


def serve(make_session: Callable[[Callable[[bytes], None]], Conversation], limits: Limits) -> int:
    """Serve stdin and stdout until the conversation ends; returns the exit code.

    Threads may still be busy when this returns: the caller ends the process with `os._exit`.
    """
    speak_utf8()
    streams = claim_streams()
    if streams.reads is None or streams.writes is None:
        return 0
    return Pump(streams.reads, streams.writes, make_session, limits).run()


class Pump:
    """One connection over two descriptors."""

    def __init__(
        self,
        reads: int,
        writes: int,
        make_session: Callable[[Callable[[bytes], None]], Conversation],
        limits: Limits,
    ) -> None:
        self._reads, self._writes = reads, writes
        self._limits = limits
        self._signals = Signals()
        self._decoder = Decoder(limits.max_message_bytes)
        self._lanes = Lanes(self._signals.poke)
        self._writer = Writer(writes, self._signals.poke)
        self._main = threading.get_ident()
        self._unsent: list[bytes] = []  # What the main thread sends, until it has dealt with what it read.
        self._front: Front | None = None
        self._wait = select.poll()
        self._session = make_session(self._send)
        self._began = time.monotonic()
        self._awaits: int | None = None  # What of the input is waited for; None until somebody has looked.
        self._over: float | None = None  # Since when the input is known to have an end, though unread.
        self._follows = False

    def run(self) -> int:
        """Run the connection to its end; returns the exit code."""
        try:
            self._converse()
        except _End as end:
            return self._close(end)

    def _send(self, body: bytes) -> None:
        """Send one body in the connection's mode; safe from any thread."""
        frame = encode(body, self._decoder.mode)
        thread, front = threading.get_ident(), self._front
        if thread == self._main:
            self._unsent.append(frame)
        elif front is not None and thread == front.thread:
            front.send(frame)
        else:
            self._writer.send(frame, more=self._lanes.waiting)

    def _converse(self) -> NoReturn:
        wait, writer = self._wait, self._writer
        wait.register(self._signals.descriptor, select.POLLIN)
        wait.register(self._writes, 0)
        nudged = time.monotonic()
        while True:
            self._attend()
            events = dict(wait.poll(self._timeout()))
            now = time.monotonic()
            if not events or now - nudged > BUSY_NUDGE_SECONDS:
                nudged = now
                self._lanes.nudge()
                if writer.unsent:
                    writer.push()
            if self._signals.descriptor in events and self._signals.stop_wanted():
                raise _End(0, STOP_SECONDS)
            if writer.closed or events.get(self._writes):
                raise _End(0, 0.0)
            self._handle_events(events, now)
            self._mind_the_time(now)
            self._flush(self._unsent)

    def _handle_events(self, events: Mapping[int, int], now: float) -> None:
        """Read input, or take reading back from a front that is busy."""
        front = self._front
        if front is not None and front.raised is not None:
            raise front.raised
        if front is not None and front.reads:
            if self._reads in events or front.standby.fileno() in events:
                front.take_back()
        elif self._reads in events and self._awaits == HANG_UP:
            self._over = now
            self._wait.unregister(self._reads)  # it would be told again and again
        elif self._reads in events:
            job = self._take(self._unsent)
            if job is not None and self._front is not None:
                self._front.give(job)

    def _attend(self) -> None:
        """Wait for requests while there is room for their replies, else only for the end of the input.

        Nothing is waited for while the front reads; that the other side is gone is told all the same.
        """
        holds = self._writer.full or self._lanes.full
        awaits = 0 if self._front is not None and self._front.reads else HANG_UP if holds else select.POLLIN
        if awaits == self._awaits:
            return
        self._awaits = awaits
        if holds and self._over is not None:
            self._wait.unregister(self._reads)
        else:
            self._wait.register(self._reads, awaits)

    def _timeout(self) -> float | None:
        """Milliseconds that the wait may last; None for ever."""
        front = self._front
        if front is not None:
            front.alarm = math.inf  # first, so that no job that begins there now is overlooked
        if self._lanes.waiting or self._writer.unsent:
            return NUDGE_SECONDS * 1000
        due = self._due()
        if front is not None:
            front.alarm = due
        return None if due == math.inf else max(0.0, due - time.monotonic()) * 1000

    def _due(self) -> float:
        """When the next timer is due."""
        if self._over is not None:
            return self._over + GRACE_SECONDS
        if self._session.heard:
            return self._lanes.due if self._front is None else min(self._lanes.due, self._front.due)
        patience = self._limits.first_message_ms / 1000
        return self._began + (patience if self._follows else min(SILENT_SECONDS, patience))

    def _mind_the_time(self, now: float) -> None:
        """Handle timers: follow the parent after the first answer, end a silent connection."""
        heard, age = self._session.heard, now - self._began
        if not self._follows and (heard or age >= SILENT_SECONDS):
            self._follows = True
            if self._signals.follow_parent():
                raise _End(0, 0.0)
        if not heard and age >= self._limits.first_message_ms / 1000:
            self._limits.warn(f"no message within {self._limits.first_message_ms} ms; the server ends")
            raise _End(1, 0.0)
        if self._over is not None and now >= self._over + GRACE_SECONDS:
            raise _End(0, 0.0)
        if self._front is not None and now >= self._front.due:
            self._front.look()
        if now >= self._lanes.due:
            self._lanes.look()

    def _take(self, unsent: list[bytes]) -> LaneJob | None:
        """Read once and serve every message that is now complete; a call that came alone is for the front.

        What is sent meanwhile is gathered in `unsent` and sent at the end.
        """
        try:
            data = _read(self._reads)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        items = self._decoder.feed(data) if data else self._decoder.eof()
        lone: LaneJob | None = None
        for item in items:
            if isinstance(item, Fault):
                self._session.reject(item)
                continue
            jobs = self._session.receive(item)
            if len(items) == len(jobs) == 1 and self._is_for_front(jobs[0]):
                lone = jobs[0]
                continue
            for job in jobs:
                self._lanes.submit(job)
            if self._session.exit_code is not None:
                break
        if unsent:
            self._flush(unsent)
        if self._session.exit_code is not None:
            raise _End(self._session.exit_code, STOP_SECONDS)
        if not data:
            passed = 0.0 if self._over is None else time.monotonic() - self._over
            raise _End(0, max(0.0, GRACE_SECONDS - passed))
        return lone

    def _is_for_front(self, job: LaneJob) -> bool:
        """Whether no other job runs and the front is there for this one."""
        if self._lanes.open or job.lane == UNROUTED:
            return False
        front = self._front or self._open_front()
        return front is not None and (front.reads or front.idle)

    def _open_front(self) -> Front | None:
        """Start the front; None where the system has no means for it, or none now."""
        try:
            from context_pack_adapters.mcp.front import Front

            front = Front(self._reads, self._take, self._lanes, self._writer, self._signals.poke)
        except (AttributeError, ImportError, OSError, RuntimeError, MemoryError):
            return None
        self._wait.register(front.standby, select.POLLIN)
        self._front = front
        return front

    def _flush(self, unsent: list[bytes]) -> None:
        if unsent:
            self._writer.offer(b"".join(unsent))
            unsent.clear()

    def _close(self, end: _End) -> int:
        """Let running work finish for a moment, cancel the rest, send what is ready."""
        if self._front is not None:
            self._front.take_back()
        if end.grace == GRACE_SECONDS:
            self._await_tools()
        _end_after(LAST_RESORT_SECONDS, end.code)
        until = time.monotonic() + end.grace
        self._lanes.settle(end.grace)
        self._session.finish()
        self._session.cancel_all()
        self._flush(self._unsent)
        self._writer.push()
        self._writer.flush(max(min(end.grace, FLUSH_SECONDS), until - time.monotonic()))
        return end.code

    def _await_tools(self) -> None:
        """Wait for the tools to load if requests came before the end of input, so that these are answered."""
        patience = time.monotonic() + LOAD_SECONDS
        while not self._session.tried and time.monotonic() < patience:
            if self._lanes.settle(LOOK_SECONDS) or self._signals.stop_wanted():
                return


def _read(reads: int) -> bytes:
    """Read the available bytes; fewer of them if memory is short."""
    try:
        return os.read(reads, READ_BYTES)
    except MemoryError:
        return os.read(reads, FEW_BYTES)


def _end_after(seconds: float, code: int) -> None:
    """End the process after so many seconds, whatever hangs."""
    last = threading.Timer(seconds, os._exit, (code,))
    last.daemon = True
    try:
        last.start()
    except (RuntimeError, MemoryError):  # no thread to be had: the kernel's own alarm ends it
        signal.setitimer(signal.ITIMER_REAL, seconds)
