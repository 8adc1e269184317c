"""Bounds on what a connection may ask and on what an answer may weigh. Pure: time is passed in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count

from attrs import define, field

from context_pack.kernel.errors import Code, Failure

WINDOW_SECONDS = 60.0
DEFAULT_MAX_TOKENS = 20_000
LEAST_TOKENS, MOST_TOKENS = 200, 200_000
"""What a caller may ask an answer to weigh."""
BYTES_PER_TOKEN = 4
DEFAULT_MAX_BYTES = DEFAULT_MAX_TOKENS * BYTES_PER_TOKEN
"""What an answer may weigh unless its caller says otherwise."""

# Clocks count in binary fractions: a caller that waited as long as it was told must not miss by a rounding.
_GRAIN = 1e-6


def estimate_tokens(text: str) -> int:
    """Tokens of a text, estimated as bytes / 4, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


@define
class _Window:
    """The admitted calls of one minute: times of places in use, and a count of places never used."""

    used: deque[float] = field(factory=deque)
    fresh: Iterator[int] = field(factory=count)


@define
class RateLimiter:
    """A sliding window per tool; a refused call does not count.

    Calls come from several threads and this half of the house has no locks, so a call takes a place: the one
    longest in use if its minute is over, else a fresh one. Taking one is a single operation on a deque or a
    counter, and places are never made from nothing, so that threads together never get more than the limit.
    """

    per_minute: Mapping[str, int]
    _windows: dict[str, _Window] = field(factory=dict, init=False)

    def admit(self, tool: str, now: float) -> None:
        """Count one call at `now`.

        Raises:
            Failure: `rate_limited`, with `retryAfterMs`.
        """
        limit = self.per_minute.get(tool)
        if limit is None:
            return
        window = self._windows.setdefault(tool, _Window())
        oldest = _taken(window.used)
        if oldest is not None and now - oldest >= WINDOW_SECONDS - _GRAIN:
            window.used.append(now)
            return
        if oldest is not None:
            window.used.appendleft(oldest)
        if next(window.fresh) < limit:
            window.used.append(now)
            return
        wait = WINDOW_SECONDS if oldest is None else WINDOW_SECONDS - (now - oldest)
        raise Failure(
            Code.RATE_LIMITED,
            f"Rate limit exceeded for {tool}",
            {"retryAfterMs": min(int(wait * 1000) + 1, int(WINDOW_SECONDS * 1000)), "limit": limit},
        )


def _taken(used: deque[float]) -> float | None:
    """The place longest in use, taken out, or None while there is none or others hold them all."""
    try:
        return used.popleft()
    except IndexError:
        return None
