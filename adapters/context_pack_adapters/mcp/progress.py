"""Progress of calls: monotone, bounded in rate, silent once the reply has gone. No clock of its own."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

from context_pack_adapters.mcp.jsonrpc import Id
from context_pack_adapters.mcp.wire import notification

PER_SECOND = 10.0
BURST = 10.0
LARGEST = 1e300
HEARTBEAT_SECONDS = 5.0
NUDGE = 0.001
"""The step of a heartbeat's progress value: each value must be greater than the last."""


class ProgressNotes:
    """Sends `notifications/progress` on one token."""

    def __init__(self, token: Id, send: Callable[[bytes], None], monotonic: Callable[[], float]) -> None:
        self._token = token
        self._send = send
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._open = True
        self._next_beat = monotonic() + HEARTBEAT_SECONDS
        self._allowance = BURST
        self._moment: float | None = None
        self._last: float | None = None
        self._total: float | None = None

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Send a value greater than the last one; the end is never dropped for its rate."""
        if not _is_sane(done) or (total is not None and not _is_sane(total)):
            return
        with self._lock:
            if not self._open or (self._last is not None and done <= self._last):
                return
            if not self._admit() and (total is None or done < total):
                return
            self._total = total
            self._emit(done, total, message)

    def keep_alive(self) -> float:
        """Send a heartbeat if it is time; seconds until the next one."""
        now = self._monotonic()
        if now >= self._next_beat:
            self._next_beat = now + HEARTBEAT_SECONDS
            self.beat()
        return self._next_beat - now

    def beat(self) -> None:
        """Send a heartbeat with a slightly higher value; without a total once that is exceeded.

        Never waits: none is needed while another thread sends progress.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            if not self._open:
                return
            last = 0.0 if self._last is None else self._last
            total = self._total if self._total is not None and self._total > last else None
            step = NUDGE if total is None else min(NUDGE, (total - last) / 2)
            value = last + step
            self._emit(value if value > last else math.nextafter(last, math.inf), total, None)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Send nothing from now on."""
        with self._lock:
            self._open = False

    def _admit(self) -> bool:
        now = self._monotonic()
        passed = 0.0 if self._moment is None else now - self._moment
        self._allowance = min(BURST, self._allowance + passed * PER_SECOND)
        self._moment = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True

    def _emit(self, done: float, total: float | None, message: str | None) -> None:
        self._last = done
        params: dict[str, Any] = {"progressToken": self._token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self._send(notification("notifications/progress", params))


def _is_sane(value: float) -> bool:
    """Whether a value is a finite number that a later one can exceed."""
    return -LARGEST < value < LARGEST
