"""Bounds on what a connection may ask and on what an answer may weigh. Pure: time is passed in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count

from context_pack.kernel.classes import define, field
from context_pack.kernel.errors import Code, Failure

WINDOW_SECONDS = 60.0
DEFAULT_MAX_TOKENS = 20_000
LEAST_TOKENS, MOST_TOKENS = 200, 200_000
"""What a caller may ask an answer to weigh."""

# Clocks count in binary fractions: a caller that waited as long as it was told must not miss by a rounding.
_GRAIN = 1e-6


@define
class _Bucket:
    """The places of one tool: when those in use are free again, soonest first, and a count of fresh ones."""

    used: deque[float] = field(factory=deque)
    fresh: Iterator[int] = field(factory=count)


@define
class RateLimiter:
    """A bucket per tool: so many calls at once, and one more each time its share of the minute has passed.

    Calls come from several threads and this half of the house has no locks, so a call takes a place: the one
    that is free again first, else a fresh one. Taking one is a single operation on a deque or a counter, and
    places are never made from nothing, so that threads together never get more than the limit.
    """

    per_minute: Mapping[str, int]
    _buckets: dict[str, _Bucket] = field(factory=dict, init=False)

    def admit(self, tool: str, now: float) -> None:
        """Count one call at `now`; a refused one does not count.

        Raises:
            Failure: `rate_limited`, with `retryAfterMs`.
        """
        limit = self.per_minute.get(tool)
        if limit is None:
            return
        bucket = self._buckets.setdefault(tool, _Bucket())
        share = WINDOW_SECONDS / limit if limit else WINDOW_SECONDS
        soonest = _taken(bucket.used)
        if soonest is not None and soonest > now + _GRAIN:
            bucket.used.appendleft(soonest)
        if (soonest is not None and soonest <= now + _GRAIN) or next(bucket.fresh) < limit:
            bucket.used.append(max(_last(bucket.used, now), now) + share)
            return
        wait = share if soonest is None else soonest - now
        again = f"try again in {wait:.1f} s; CONTEXT_PACK_RATE_LIMITS changes the limit"
        raise Failure(
            Code.RATE_LIMITED,
            f"Rate limit exceeded for {tool}",
            {
                "retryAfterMs": min(int(wait * 1000) + 1, int(WINDOW_SECONDS * 1000)),
                "limit": limit,
                "hint": again,
            },
        )


def _taken(used: deque[float]) -> float | None:
    """The place that is free first, taken out, or None while there is none or others hold them all."""
    try:
        return used.popleft()
    except IndexError:
        return None


def _last(used: deque[float], default: float) -> float:
    """When the place that was taken last is free again."""
    try:
        return used[-1]
    except IndexError:
        return default
