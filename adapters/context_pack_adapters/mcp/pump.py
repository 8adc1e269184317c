"""The server's life: one blocking wait, bytes in, jobs out, and an end that always comes.

The only module of the transport that blocks on the protocol streams. The main thread waits in one `poll` for
requests, for a closed stdout and for signals; it decodes, answers what is cheap and hands the rest to the
lanes. It never waits for a tool or for the peer to read. Nothing polls: an idle server costs nothing.
"""

from __future__ import annotations

import math
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from context_pack_adapters.mcp.framing import Decoder, Fault, encode
from context_pack_adapters.mcp.lanes import NUDGE_SECONDS, LaneJob, Lanes
from context_pack_adapters.mcp.process import Signals, Streams, claim_streams, speak_utf8
from context_pack_adapters.mcp.writer import Writer

READ_BYTES = 64 * 1024
"""What a pipe holds; much more, and each read would ask the system for fresh memory."""
FEW_BYTES = 4096
"""What is read at once where memory is short."""
BUSY_NUDGE_SECONDS = 0.02
"""How long the lanes may be without headway while requests keep coming."""
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
"""How long the first message may take before the server looks after its parent without it."""
HANG_UP = getattr(select, "POLLRDHUP", 0)
"""What to ask for besides the end of a pipe, which is always told: half of a socket that was closed."""


class Conversation(Protocol):
    """What the pump asks of a session."""

    exit_code: int | None
    heard: bool

    @property
    def tried(self) -> bool: ...
    def receive(self, body: bytes) -> Sequence[LaneJob]: ...
    def reject(self, fault: Fault) -> None: ...
    def cancel_all(self) -> None: ...
    def finish(self) -> None: ...


class Limits(NamedTuple):
    """What bounds a connection; `warn` gets the one line said when nobody spoke."""

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
        self._main = threading.get_ident()
        self._inline: list[bytes] = []
        self._writer = None if streams.writes is None else Writer(streams.writes, self._signals.poke)
        self._session = make_session(self._send)
        self._began = time.monotonic()
        self._holds: bool | None = None  # Whether requests are left unread; None until somebody has looked.
        self._over: float | None = None  # Since when the input is known to have an end, though unread.
        self._follows = False

    def run(self) -> int:
        """The whole life of the connection."""
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
        if threading.get_ident() == self._main:
            self._inline.append(frame)
        elif self._writer is not None:
            self._writer.send(frame, more=self._lanes.waiting)

    def _converse(self, reads: int, writer: Writer) -> None:
        wait = select.poll()
        wait.register(self._signals.descriptor, select.POLLIN)
        wait.register(self._streams.writes or 0, 0)
        nudged = time.monotonic()
        while True:
            self._attend(wait, reads, writer)
            events = dict(wait.poll(self._patience(writer)))
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
            if reads in events and self._holds:
                self._over = now
                wait.unregister(reads)  # it would be told again and again
            elif reads in events:
                self._take(reads, writer)
            self._mind_the_time(now)
            self._flush_inline(writer)

    def _attend(self, wait: select.poll, reads: int, writer: Writer) -> None:
        """Wait for requests while there is room for their replies, else only for the end of the input."""
        holds = writer.full or self._lanes.full
        if holds == self._holds:
            return
        self._holds = holds
        if holds and self._over is not None:
            wait.unregister(reads)
        else:
            wait.register(reads, HANG_UP if holds else select.POLLIN)

    def _patience(self, writer: Writer) -> float | None:
        """How many milliseconds the wait may last; None, for ever, when there is nothing to look after."""
        if self._lanes.waiting or writer.unsent:
            return NUDGE_SECONDS * 1000
        due = self._due()
        return None if due == math.inf else max(0.0, due - time.monotonic()) * 1000

    def _due(self) -> float:
        """When the time itself is the next thing to look at."""
        if self._over is not None:
            return self._over + GRACE_SECONDS
        if self._session.heard:
            return self._lanes.due
        patience = self._limits.first_message_ms / 1000
        return self._began + (patience if self._follows else min(SILENT_SECONDS, patience))

    def _mind_the_time(self, now: float) -> None:
        """Look after the parent once the first answer cannot wait for that; end when time is over."""
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

    def _take(self, reads: int, writer: Writer) -> None:
        """Read once and serve every message that is now complete."""
        try:
            data = _read(reads)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        items = self._decoder.feed(data) if data else self._decoder.eof()
        for item in items:
            if isinstance(item, Fault):
                self._session.reject(item)
            else:
                for job in self._session.receive(item):
                    self._lanes.submit(job)
            if self._session.exit_code is not None:
                break
        self._flush_inline(writer)
        if self._session.exit_code is not None:
            raise _End(self._session.exit_code, STOP_SECONDS)
        if not data:
            passed = 0.0 if self._over is None else time.monotonic() - self._over
            raise _End(0, max(0.0, GRACE_SECONDS - passed))

    def _flush_inline(self, writer: Writer) -> None:
        if self._inline:
            writer.offer(b"".join(self._inline))
            self._inline.clear()

    def _close(self, end: _End, writer: Writer) -> int:
        """Let running work finish for a moment, cancel the rest, send what is ready."""
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
        """Let the tools be loaded for whoever asked before the end: a piped question is answered like any."""
        patience = time.monotonic() + LOAD_SECONDS
        while not self._session.tried and time.monotonic() < patience:
            if self._lanes.settle(LOOK_SECONDS) or self._signals.stop_wanted():
                return


def _read(reads: int) -> bytes:
    """What has arrived, or the first of it where memory is short."""
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
