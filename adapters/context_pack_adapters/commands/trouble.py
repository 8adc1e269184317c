"""Failures in words: the message, then what the details name, one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from context_pack.kernel.errors import Failure

MOST_LINES = 20


def words_for(failure: Failure) -> list[str]:
    """The lines that tell a person what failed and where."""
    lines = [f"{failure.code}: {failure.message}", *(f"  {line}" for line in _details(failure.details))]
    if len(lines) > MOST_LINES:
        return [*lines[:MOST_LINES], f"  and {len(lines) - MOST_LINES} more"]
    return lines


def _details(details: Mapping[str, Any]) -> Iterator[str]:
    """The details that a person can act on."""
    for file in details.get("files", ()):
        yield f"{file.get('file')}: {file.get('reason')}"
    for ref in details.get("refs", ()):
        yield f"{ref.get('section')}/{ref.get('ref')} {ref.get('path')}: {ref.get('reason')}"
    for problem in details.get("problems", ())[1:]:
        yield str(problem.get("message"))
    if "hint" in details:
        yield str(details["hint"])
