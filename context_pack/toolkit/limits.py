"""Bounds on what a connection may ask and on what an answer may weigh. Pure: time is passed in."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from attrs import define, field

from context_pack.kernel.errors import Code, Failure

WINDOW_SECONDS = 60.0
DEFAULT_MAX_TOKENS = 20_000
BYTES_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of a text, estimated as bytes / 4, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


@define
class RateLimiter:
    """A sliding window per tool; a refused call does not count."""

    per_minute: Mapping[str, int]
    _seen: dict[str, deque[float]] = field(factory=dict, init=False)

    def admit(self, tool: str, now: float) -> None:
        """Count one call at `now`.

        Raises:
            Failure: `rate_limited`, with `retryAfterMs`.
        """
        limit = self.per_minute.get(tool)
        if limit is None:
            return
        seen = self._seen.setdefault(tool, deque())
        while seen and now - seen[0] >= WINDOW_SECONDS:
            seen.popleft()
        if len(seen) >= limit:
            wait = WINDOW_SECONDS - (now - seen[0]) if seen else WINDOW_SECONDS
            raise Failure(
                Code.RATE_LIMITED,
                f"Rate limit exceeded for {tool}",
                {"retryAfterMs": max(1, int(wait * 1000)), "limit": limit},
            )
        seen.append(now)
