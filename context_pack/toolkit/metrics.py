"""What the tools have done: calls, failures by kind, latency quantiles.

Bounded memory, no clock of its own. Threads record at the same time and there is no lock in this half of the
house: each step is one the interpreter does not interrupt (a plain `+= 1`, a copy made in one go).
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from context_pack.kernel.classes import define, field

KEPT_SAMPLES = 2048


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
