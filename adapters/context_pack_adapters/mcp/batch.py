"""JSON-RPC batches: replies are held back until every request of the batch has one."""

from __future__ import annotations

import threading
from collections.abc import Callable

from context_pack_adapters.mcp.wire import joined


class ReplyBatch:
    """Collects the replies of a batch in the order of its requests; sends nothing if there are none."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._replies: list[bytes | None] = []
        self._open = 1  # the reader itself, until it has handed out every member

    def member(self) -> Callable[[bytes | None], None]:
        """Reserve a place in the array; call the result with the reply, or with None for no reply."""
        with self._lock:
            place = len(self._replies)
            self._replies.append(None)
            self._open += 1

        def take(body: bytes | None) -> None:
            self._replies[place] = body
            self.close()

        return take

    def close(self) -> None:
        """Mark one request as answered; the last one sends the array."""
        with self._lock:
            self._open -= 1
            if self._open:
                return
        replies = [body for body in self._replies if body is not None]
        if replies:
            self._send(joined(replies))
