"""Refs that do not hold as annotations of GitHub Actions: shown at their lines in a pull request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any


def annotated(pack: Mapping[str, Any], holding: Collection[str]) -> Iterator[str]:
    """One workflow command for each ref of a verified pack that does not hold."""
    for ref in pack["refs"]:
        if ref["state"] in holding:
            continue
        lines = f"line={ref['lines']['start']},endLine={ref['lines']['end']}"
        called = pack["name"] or pack["id"]
        reason = f": {ref['reason']}" if ref["reason"] else ""
        words = f"{ref['section']}/{ref['ref']} of the context pack {called} is {ref['state']}{reason}"
        level = "warning" if ref["state"] == "unknown" else "error"
        yield f"::{level} file={_property(ref['path'])},{lines},title=context-pack::{_data(words)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
