"""Rate limits of a connection, size limits of answers, and metrics of the tools.

Pure: time is passed in. Threads record at the same time and there is no lock in this half of the house: each
step is one the interpreter does not interrupt (a plain `+= 1`, a copy made in one go).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from attrs import define, field

from context_pack.kernel.errors import Code, Failure

WINDOW_SECONDS = 60.0
DEFAULT_MAX_TOKENS = 20_000
LEAST_TOKENS, MOST_TOKENS = 200, 200_000
"""What a caller may ask an answer to weigh."""

KEPT_SAMPLES = 2048

# Clocks count in binary fractions: a caller that waited as long as it was told must not miss by a rounding.
_GRAIN = 1e-6


@define
class _Bucket:
    """The slots of one tool: when those in use are free again, soonest first, and a count of unused ones."""

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
    """Take the slot that is free first; None while there is none or other threads hold them all."""
    try:
        return used.popleft()
    except IndexError:
        return None


def _last(used: deque[float], default: float) -> float:
    """When the slot that was taken last is free again."""
    try:
        return used[-1]
    except IndexError:
        return default


@define
class ToolMetrics:
    """One tool's counts and its most recent durations in milliseconds."""

    calls: int = 0
    failures: Counter[str] = field(factory=Counter)
    recent: deque[float] = field(factory=lambda: deque(maxlen=KEPT_SAMPLES))

    def snapshot(self) -> dict[str, Any]:
        """The numbers as published."""
        ordered = sorted(self.recent)
        return {
            "calls": self.calls,
            "failures": dict(sorted(self.failures.items())),
            "p50": quantile(ordered, 0.50),
            "p95": quantile(ordered, 0.95),
            "p99": quantile(ordered, 0.99),
        }


@define
class Metrics:
    """All tools' metrics."""

    tools: dict[str, ToolMetrics] = field(factory=dict)

    def record(self, tool: str, milliseconds: float, failure: str | None) -> None:
        """Count one finished call."""
        entry = self.tools.get(tool)
        if entry is None:
            entry = self.tools.setdefault(tool, ToolMetrics())
        entry.calls += 1
        entry.recent.append(milliseconds)
        if failure is not None:
            # `Counter` runs Python code for a missing key, and another thread might get in between.
            entry.failures.setdefault(failure, 0)
            entry.failures[failure] += 1

    def snapshot(self) -> dict[str, Any]:
        """Every tool that was called, by name."""
        return {name: self.tools[name].snapshot() for name in sorted(self.tools)}


def quantile(ordered: list[float], share: float) -> float | None:
    """The nearest-rank quantile of sorted values, rounded to microseconds."""
    if not ordered:
        return None
    rank = max(1, -(-round(share * 100) * len(ordered) // 100))
    return round(ordered[rank - 1], 3)
