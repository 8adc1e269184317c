"""Progress of a call: values that only rise, ten a second after the first ten, none after the reply."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

from context_pack_adapters.mcp.jsonrpc import Id
from context_pack_adapters.mcp.wire import notification

BURST = 10
REPORT_SECONDS = 0.1
HEARTBEAT_SECONDS = 5.0
HEARTBEAT_STEP = 0.001


class ProgressNotes:
    """Sends `notifications/progress` on one token."""

    def __init__(self, token: Id, send: Callable[[bytes], None], monotonic: Callable[[], float]) -> None:
        self._token, self._send, self._monotonic = token, send, monotonic
        self._lock = threading.Lock()
        self._open, self._count = True, 0
        self._sent_at = monotonic()
        self._last: float | None = None
        self._total: float | None = None

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Send a value greater than the last one; the end is never dropped for its rate."""
        with self._lock:
            rises = self._last is None or done > self._last
            soon = self._count >= BURST and self._monotonic() - self._sent_at < REPORT_SECONDS
            if rises and (not soon or (total is not None and done >= total)):
                self._total = total
                self._emit(done, message)

    def keep_alive(self) -> None:
        """Send a slightly higher value if nothing was sent for a while."""
        with self._lock:
            if self._monotonic() - self._sent_at >= HEARTBEAT_SECONDS:
                last = self._last or 0.0
                self._emit(max(last + HEARTBEAT_STEP, math.nextafter(last, math.inf)), None)

    def close(self) -> None:
        """Send nothing from now on."""
        with self._lock:
            self._open = False

    def _emit(self, done: float, message: str | None) -> None:
        if not self._open or not math.isfinite(done):
            return
        self._last, self._sent_at, self._count = done, self._monotonic(), self._count + 1
        params: dict[str, Any] = {"progressToken": self._token, "progress": done}
        if self._total is not None and done <= self._total < math.inf:
            params["total"] = self._total
        if message is not None:
            params["message"] = message
        self._send(notification("notifications/progress", params))
