"""Rate limits of a connection, size limits of answers, and metrics of the tools with their resource.

Pure: the time and the lock are passed in.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from attrs import define, field

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText

WINDOW_SECONDS = 60.0
DEFAULT_MAX_TOKENS = 20_000
LEAST_TOKENS, MOST_TOKENS = 200, 200_000
"""What a caller may ask an answer to weigh."""

KEPT_SAMPLES = 2048
STATS_URI = "context://stats"

# Clocks count in binary fractions: a caller that waited as long as it was told must not miss by a rounding.
_GRAIN = 1e-6


@define
class RateLimiter:
    """A bucket per tool: so many calls at once, and one more each time its share of the minute has passed.

    A bucket is the times at which the places in use are free again, soonest first. `lock` is for callers with
    several threads: this half of the project starts none and so has no lock of its own.
    """

    per_minute: Mapping[str, int]
    lock: AbstractContextManager[Any] = field(factory=nullcontext)
    _taken: defaultdict[str, deque[float]] = field(factory=lambda: defaultdict(deque), init=False)

    def admit(self, tool: str, now: float) -> None:
        """Count one call at `now`; a refused one does not count.

        Raises:
            Failure: `rate_limited`, with `retryAfterMs`.
        """
        limit = self.per_minute.get(tool)
        if limit is None:
            return
        share = WINDOW_SECONDS / max(1, limit)
        with self.lock:
            taken = self._taken[tool]
            while taken and taken[0] <= now + _GRAIN:
                taken.popleft()
            if len(taken) < limit:
                taken.append(max(now, taken[-1] if taken else now) + share)
                return
            wait = taken[0] - now if taken else share
        details = {
            "retryAfterMs": min(int(wait * 1000) + 1, int(WINDOW_SECONDS * 1000)),
            "limit": limit,
            "hint": f"try again in {wait:.1f} s; CONTEXT_PACK_RATE_LIMITS changes the limit",
        }
        raise Failure(Code.RATE_LIMITED, f"Rate limit exceeded for {tool}", details)


@define
class Metrics:
    """What the tools have done: calls, failures by kind, and their most recent durations in milliseconds."""

    lock: AbstractContextManager[Any] = field(factory=nullcontext)
    _calls: Counter[str] = field(factory=Counter, init=False)
    _failures: Counter[tuple[str, str]] = field(factory=Counter, init=False)
    _recent: dict[str, deque[float]] = field(factory=dict, init=False)

    def record(self, tool: str, milliseconds: float, failure: str | None) -> None:
        """Count one finished call."""
        with self.lock:
            if tool not in self._recent:
                self._recent[tool] = deque(maxlen=KEPT_SAMPLES)
            self._recent[tool].append(milliseconds)
            self._calls[tool] += 1
            if failure is not None:
                self._failures[tool, failure] += 1

    def snapshot(self) -> dict[str, Any]:
        """The numbers of every tool that was called, by name."""
        with self.lock:
            tools: dict[str, Any] = {}
            for name, recent in sorted(self._recent.items()):
                failures = {kind: n for (tool, kind), n in sorted(self._failures.items()) if tool == name}
                tools[name] = {"calls": self._calls[name], "failures": failures}
                tools[name] |= {f"p{percent}": quantile(sorted(recent), percent) for percent in (50, 95, 99)}
            return tools


def quantile(ordered: list[float], percent: int) -> float:
    """The nearest-rank quantile of sorted values, of which there are some, rounded to microseconds."""
    return round(ordered[-(-percent * len(ordered) // 100) - 1], 3)


def stats_text(metrics: Metrics, files: Callable[[], Any] = tuple) -> str:
    """The metrics as the JSON text of `context://stats`, with the files that are read most."""
    body = metrics.snapshot()
    if most_read := files():
        body["filesRead"] = most_read
    return json.dumps(body, ensure_ascii=False, indent=2)


def stats_family(metrics: Metrics, files: Callable[[], Any] = tuple) -> ResourceFamily:
    """`context://stats`: what this process's tools have done so far, and which files are read most."""
    title, about = "Tool statistics", "Calls, failures by kind and latency quantiles of each tool, as JSON."
    entry = ResourceEntry(STATS_URI, "stats", title, about, "application/json")

    def read(uri: str) -> ResourceText | None:
        return ResourceText(uri, stats_text(metrics, files), "application/json") if uri == STATS_URI else None

    return ResourceFamily(
        STATS_URI, None, "stats", title, about, "application/json", entries=lambda: [entry], read=read
    )
