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
from typing import TYPE_CHECKING, NamedTuple, Protocol

from context_pack_adapters.mcp.framing import Decoder, Fault, encode
from context_pack_adapters.mcp.lanes import NUDGE_SECONDS, UNROUTED, Entry, LaneJob, Lanes
from context_pack_adapters.mcp.process import Signals, Streams, claim_streams, speak_utf8
from context_pack_adapters.mcp.writer import PIPE_ATOMIC, Writer

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
    return Pump(claim_streams(), make_session, limits).run()


class Pump:
    """One connection over two descriptors."""

    def __init__(
        self,
        streams: Streams,
        make_session: Callable[[Callable[[bytes], None]], Conversation],
        limits: Limits,
    ) -> None:
        self._streams = streams
        self._limits = limits
        self._signals = Signals()
        self._decoder = Decoder(limits.max_message_bytes)
        self._lanes = Lanes(self._signals.poke)
        self._inline: dict[int, list[bytes]] = {threading.get_ident(): []}
        """What is sent by a thread that reads, until it has dealt with what it read."""
        self._front: Front | None = None
        self._raised: BaseException | None = None  # What ended the reading at the front.
        self._wait = select.poll()
        self._linger: set[tuple[str, str]] = set()  # Kinds of calls that the front has no time for.
        self._writer = None if streams.writes is None else Writer(streams.writes, self._signals.poke)
        self._session = make_session(self._send)
        self._began = time.monotonic()
        self._awaits: int | None = None  # What of the input is waited for; None until somebody has looked.
        self._over: float | None = None  # Since when the input is known to have an end, though unread.
        self._follows = False

    def run(self) -> int:
        """Run the connection to its end; returns the exit code."""
        if self._writer is None or self._streams.reads is None:
            return 0
        try:
            self._converse(self._streams.reads, self._writer)
        except _End as end:
            return self._close(end, self._writer)
        return 0

    def _send(self, body: bytes) -> None:
        """Send one body in the connection's mode; safe from any thread."""
        frame = encode(body, self._decoder.mode or "framed")
        thread, front = threading.get_ident(), self._front
        inline = self._inline.get(thread)
        if inline is not None:
            inline.append(frame)
        elif self._writer is None:
            return
        elif front is None or front.thread != thread or not front.answers:
            self._writer.send(frame, more=self._lanes.waiting)
        elif len(frame) > PIPE_ATOMIC:
            self._writer.send(frame)
            front.answered()
        else:
            front.relax()  # first: the next request may follow this reply at once
            self._writer.offer(frame)
            front.answered()

    def _converse(self, reads: int, writer: Writer) -> None:
        wait = self._wait
        wait.register(self._signals.descriptor, select.POLLIN)
        wait.register(self._streams.writes or 0, 0)
        nudged = time.monotonic()
        while True:
            self._attend(reads, writer)
            events = dict(wait.poll(self._timeout(writer)))
            now = time.monotonic()
            if not events or now - nudged > BUSY_NUDGE_SECONDS:
                nudged = now
                self._lanes.nudge()
                if writer.unsent:
                    writer.push()
            if self._signals.descriptor in events and self._signals.stop_wanted():
                raise _End(0, STOP_SECONDS)
            if writer.closed or events.get(self._streams.writes or 0):
                raise _End(0, 0.0)
            self._handle_events(reads, events, now, writer)
            self._mind_the_time(now)
            self._flush_inline(writer)

    def _handle_events(self, reads: int, events: Mapping[int, int], now: float, writer: Writer) -> None:
        """Read input, or take reading back from a front that is busy."""
        front = self._front
        if self._raised is not None:
            raise self._raised
        if front is not None and front.reads:
            if reads in events or front.standby.fileno() in events:
                self._lingering(front.take_back())
        elif reads in events and self._awaits == HANG_UP:
            self._over = now
            self._wait.unregister(reads)  # it would be told again and again
        elif reads in events:
            entry = self._take(reads, writer)
            if entry is not None and self._front is not None:
                self._front.give(entry)

    def _lingering(self, job: LaneJob | None) -> None:
        """Leave the kind of a job to its lane that kept the front from the request after its reply."""
        if job is not None:
            self._linger.add((job.lane, job.family))

    def _attend(self, reads: int, writer: Writer) -> None:
        """Wait for requests while there is room for their replies, else only for the end of the input.

        Nothing is waited for while the front reads; that the other side is gone is told all the same.
        """
        holds = writer.full or self._lanes.full
        awaits = 0 if self._front is not None and self._front.reads else HANG_UP if holds else select.POLLIN
        if awaits == self._awaits:
            return
        self._awaits = awaits
        if holds and self._over is not None:
            self._wait.unregister(reads)
        else:
            self._wait.register(reads, awaits)

    def _timeout(self, writer: Writer) -> float | None:
        """Milliseconds that the wait may last; None for ever."""
        self._lanes.alarm = math.inf  # first, so that no job that the front adopts now is overlooked
        if self._lanes.waiting or writer.unsent:
            return NUDGE_SECONDS * 1000
        due = self._lanes.alarm = self._due()
        return None if due == math.inf else max(0.0, due - time.monotonic()) * 1000

    def _due(self) -> float:
        """When the next timer is due."""
        if self._over is not None:
            return self._over + GRACE_SECONDS
        if self._session.heard:
            return self._lanes.due
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
        if now >= self._lanes.due:
            self._lanes.look()

    def _take(self, reads: int, writer: Writer) -> Entry | None:
        """Read once and serve every message that is now complete; a call that came alone is for the front."""
        try:
            data = _read(reads)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        items = self._decoder.feed(data) if data else self._decoder.eof()
        lone: Entry | None = None
        for item in items:
            if isinstance(item, Fault):
                self._session.reject(item)
                continue
            for job in self._session.receive(item):
                if len(items) > 1 or lone is not None or (lone := self._adopted(job, reads, writer)) is None:
                    self._lanes.submit(job)
            if self._session.exit_code is not None:
                break
        self._flush_inline(writer)
        if self._session.exit_code is not None:
            raise _End(self._session.exit_code, STOP_SECONDS)
        if not data:
            passed = 0.0 if self._over is None else time.monotonic() - self._over
            raise _End(0, max(0.0, GRACE_SECONDS - passed))
        return lone

    def _adopted(self, job: LaneJob, reads: int, writer: Writer) -> Entry | None:
        """The job for the front, if that is idle and no other job runs."""
        if self._lanes.open or job.lane == UNROUTED or (job.lane, job.family) in self._linger:
            return None
        if self._front is None and not self._open_front(reads, writer):
            return None
        front = self._front
        return self._lanes.adopt(job) if front is not None and (front.reads or front.idle) else None

    def _open_front(self, reads: int, writer: Writer) -> bool:
        """Start the front; False where the system has no means for it, or none now."""
        try:
            from context_pack_adapters.mcp.front import Front

            front = Front(
                reads, lambda: self._take_ahead(reads, writer), self._lanes.serve, self._signals.poke
            )
        except (AttributeError, ImportError, OSError, RuntimeError, MemoryError):
            return False
        self._wait.register(front.standby, select.POLLIN)
        self._front = front
        return True

    def _take_ahead(self, reads: int, writer: Writer) -> tuple[Entry | None, bool]:
        """Read for the front: the call that came alone, and whether the front may read on."""
        self._inline[threading.get_ident()] = []
        try:
            lone = self._take(reads, writer)
        except BaseException as caught:  # the main thread deals with it
            self._raised = caught
            return None, False
        finally:
            del self._inline[threading.get_ident()]
        return lone, self._lanes.open == (lone is not None)

    def _flush_inline(self, writer: Writer) -> None:
        inline = self._inline[threading.get_ident()]
        if inline:
            writer.offer(b"".join(inline))
            inline.clear()

    def _close(self, end: _End, writer: Writer) -> int:
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
        self._flush_inline(writer)
        writer.push()
        writer.flush(max(min(end.grace, FLUSH_SECONDS), until - time.monotonic()))
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
