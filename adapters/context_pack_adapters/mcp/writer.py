"""The one writer of the protocol: a thread that writes whole frames, in order; no sender ever waits."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from queue import SimpleQueue

BATCH_BYTES = 256 * 1024


class Writer:
    """Sends frames over one descriptor; `on_progress` is called when some were written, or cannot be."""

    def __init__(self, descriptor: int, on_progress: Callable[[], None]) -> None:
        self._descriptor, self._on_progress = descriptor, on_progress
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = threading.Lock()
        self.unsent = 0
        """Bytes that were sent and not yet written."""
        self.closed = False
        """Whether the peer reads no more."""
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def send(self, frame: bytes) -> None:
        """Queue one frame; safe from any thread."""
        with self._lock:
            self.unsent += len(frame)
        self._queue.put(frame)

    def close(self, seconds: float) -> None:
        """Write what is queued, for so many seconds at most."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while (frame := self._queue.get()) is not None:
            frames, size = [frame], len(frame)
            while size < BATCH_BYTES and not self._queue.empty():
                following = self._queue.get()
                if following is None:  # it is for the next turn
                    self._queue.put(None)
                    break
                frames.append(following)
                size += len(following)
            self._write(b"".join(frames))
            with self._lock:
                self.unsent -= size
            self._on_progress()

    def _write(self, data: bytes) -> None:
        """Write all of `data`; once the peer is gone everything is dropped."""
        view = memoryview(data)
        while view and not self.closed:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:  # somebody made the shared pipe non-blocking
                select.select([], [self._descriptor], [])
            except OSError:
                self.closed = True
