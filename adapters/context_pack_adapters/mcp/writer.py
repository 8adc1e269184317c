"""The one writer of the protocol: whole frames, in order, never torn, never blocking the reader.

Senders append to one queue, and whichever thread holds the drain writes everything queued in one go. Threads
that read only write what fits the pipe at once; the rest is handed to a thread of the writer's own, so that a
client that does not read its replies can never stop the server from reading its requests. Small
replies that others follow at once may be put off a moment, to go out together.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from contextlib import suppress

PIPE_ATOMIC = 4096
"""What a pipe that polls as writable takes without blocking."""
USUAL_PIPE_BYTES = 64 * 1024
WIDE_PIPE_BYTES = 1024 * 1024
BATCH_BYTES = 256 * 1024
PUT_OFF_BYTES = 16 * 1024
FULL_BYTES = 32 * 1024 * 1024


class Writer:
    """Sends frames over one descriptor from many threads."""

    def __init__(self, descriptor: int, on_event: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_event = on_event
        self._queue: deque[bytes] = deque()
        self._drain = threading.Lock()
        self._lock = threading.Lock()
        self._room = threading.Condition(self._lock)
        self._size = 0
        self._hands = threading.Semaphore(0)
        self._writable = select.poll()  # for whoever has the drain: two threads cannot share one
        self._writable.register(descriptor, select.POLLOUT)
        self._flushing = False
        self._helped = False
        self._widened = False
        self.closed = False

    @property
    def full(self) -> bool:
        """Whether so much is unsent that no more requests should be read."""
        return self._size > FULL_BYTES

    @property
    def unsent(self) -> bool:
        """Whether bytes are queued that no thread is writing."""
        return bool(self._queue) and not self._drain.locked()

    def send(self, frame: bytes, *, more: bool = False) -> None:
        """Send from a worker thread; may wait for the peer to read.

        With `more` to come at once it may be put off: then the reader thread calls `push` soon.
        """
        with self._lock:
            while self._size > FULL_BYTES and not self.closed:
                self._room.wait()
            self._size += len(frame)
        self._queue.append(frame)
        if not more or self._size > PUT_OFF_BYTES:
            self._write_queued()

    def offer(self, frames: bytes) -> None:
        """Send from a thread that reads; never waits."""
        with self._lock:
            self._size += len(frames)
        self._queue.append(frames)
        self.push()

    def push(self) -> None:
        """Send what is queued, from a thread that reads; never waits."""
        while self._queue and self._drain.acquire(blocking=False):
            try:
                if self._size > PIPE_ATOMIC or not self._writable.poll(0):
                    break
                self._write_batch()
            finally:
                self._drain.release()
        else:
            return
        if not self._helped:
            try:
                start_new_thread(self._serve, ())
            except (RuntimeError, MemoryError):
                return  # the system grants no thread now: what is unsent is pushed again soon
            self._helped = True
        self._hands.release()

    def flush(self, seconds: float) -> bool:
        """Wait until everything is sent, at most `seconds`; False if something is left."""
        with self._room:
            self._flushing = True
            return self._room.wait_for(lambda: self._size == 0 or self.closed, seconds)

    def _serve(self) -> None:
        while True:
            self._hands.acquire()
            self._write_queued()

    def _write_queued(self) -> None:
        """Drain the queue unless another thread does; that one checks the queue again before it stops."""
        while self._queue and self._drain.acquire(blocking=False):
            try:
                self._write_batch()
            finally:
                self._drain.release()

    def _write_batch(self) -> None:
        """Write what is queued, or a good part of it; the caller has the drain."""
        data = self._queue.popleft()
        if self._queue:
            data = self._with_others(data)
        self._write(data)
        with self._lock:
            self._size -= len(data)
            has_room = self._size <= FULL_BYTES < self._size + len(data)
            if has_room or self._flushing or self.closed:
                self._room.notify_all()
        if has_room:
            self._on_event()

    def _with_others(self, frame: bytes) -> bytes:
        frames, size = [frame], len(frame)
        while self._queue and size < BATCH_BYTES:
            frames.append(self._queue.popleft())
            size += len(frames[-1])
        return b"".join(frames)

    def _write(self, data: bytes) -> None:
        """Write all of `data`; once the peer is gone everything is dropped."""
        if len(data) > USUAL_PIPE_BYTES and not self._widened:
            self._widened = True
            _widen(self._descriptor)
        view = memoryview(data)
        while view and not self.closed:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                self._writable.poll()  # somebody made the shared pipe non-blocking
            except OSError:
                self.closed = True
                self._on_event()


def _widen(descriptor: int) -> None:
    """Enlarge the pipe's buffer, so that a long reply is written in one go."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # it is no pipe, or the system grants no more
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, WIDE_PIPE_BYTES)
