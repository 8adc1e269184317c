"""Metrics of past connections: one small JSON file each in `{state}/stats/`, the newest few kept.

A file is written whole when a connection that called tools ends, and never changed afterwards, so there is
nothing to lock. A file that cannot be read is passed over.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

from context_pack.toolkit.limits import Metrics, ToolMetrics
from context_pack_adapters.files.private import PrivateFolder

KEPT_FILES = 64
KEPT_DURATIONS = 200
LARGEST_FILE = 256 * 1024
FORMAT = 1


class StatsFiles:
    """The statistics of the last connections to one project."""

    def __init__(self, state: PrivateFolder) -> None:
        self._folder = state.below("stats")

    def save(self, metrics: Metrics, stamp: str, token: str) -> None:
        """Save the metrics of one connection, and remove the oldest.

        `stamp` sorts by time and `token` tells apart connections that end together. A connection without
        calls leaves nothing.

        Raises:
            OSError: the file could not be written.
        """
        if not metrics.tools:
            return
        body = json.dumps(to_record(metrics, stamp), separators=(",", ":")).encode()
        self._folder.write(f"{stamp}-{token}.json", body)
        for name in self._names()[:-KEPT_FILES]:
            with suppress(FileNotFoundError):
                self._folder.remove(name)

    def load(self) -> list[Mapping[str, Any]]:
        """Every record that can be read, the oldest first."""
        return [record for record in map(self._read, self._names()) if record is not None]

    def _names(self) -> list[str]:
        try:
            names = self._folder.names()
        except OSError:
            return []
        return sorted(name for name in names if name.endswith(".json") and not name.startswith("."))

    def _read(self, name: str) -> Mapping[str, Any] | None:
        try:
            record = json.loads(self._folder.read(name, LARGEST_FILE)[0])
            return record if _is_record(record) else None
        except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
            return None


def to_record(metrics: Metrics, ended_at: str) -> dict[str, Any]:
    """A connection's metrics as they are kept: counts, and the most recent durations for the quantiles."""
    tools = {
        name: {
            "calls": tool.calls,
            "failures": dict(sorted(tool.failures.items())),
            "recent": [round(spent, 3) for spent in list(tool.recent)[-KEPT_DURATIONS:]],
        }
        for name, tool in sorted(metrics.tools.items())
    }
    return {"format": FORMAT, "ended_at": ended_at, "tools": tools}


def merge(records: Iterable[Mapping[str, Any]]) -> Metrics:
    """One set of metrics over several records, the newest durations last."""
    merged = Metrics()
    for record in records:
        for name, kept in record["tools"].items():
            tool = merged.tools.setdefault(name, ToolMetrics())
            tool.calls += kept["calls"]
            tool.failures.update(Counter(kept["failures"]))
            tool.recent.extend(kept["recent"])
    return merged


def _is_record(value: Any) -> bool:
    """Whether a parsed file has the shape that `to_record` gives it; else False, or it raises."""
    tools = value["tools"].values() if value["format"] == FORMAT else [{}]
    return all(
        all(map(_is_count, (tool["calls"], *tool["failures"].values())))
        and all(type(spent) in {int, float} and isfinite(spent) for spent in tool["recent"])
        for tool in tools
    )


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
