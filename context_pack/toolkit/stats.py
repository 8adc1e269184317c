"""The resource `context://stats`: what the tools of this process have done."""

from __future__ import annotations

import json

from context_pack.toolkit.limits import Metrics
from context_pack.toolkit.offers import ResourceEntry, ResourceFamily, ResourceText

STATS_URI = "context://stats"


def stats_text(metrics: Metrics) -> str:
    """The metrics as the JSON text of `context://stats`."""
    return json.dumps(metrics.snapshot(), ensure_ascii=False, indent=2)


def stats_family(metrics: Metrics) -> ResourceFamily:
    """`context://stats`: what this process's tools have done so far."""
    title, about = "Tool statistics", "Calls, failures by kind and latency quantiles of each tool, as JSON."
    entry = ResourceEntry(STATS_URI, "stats", title, about, "application/json")

    def read(uri: str) -> ResourceText | None:
        return ResourceText(uri, stats_text(metrics), "application/json") if uri == STATS_URI else None

    return ResourceFamily(
        prefix=STATS_URI,
        uri_template=None,
        name="stats",
        title=title,
        description=about,
        mime_type="application/json",
        entries=lambda: [entry],
        read=read,
    )
