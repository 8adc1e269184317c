"""When an entity was last changed: what it says itself, else when its file was, in one spelling.

The spelling is ISO 8601 in UTC with milliseconds and `Z`. Offsets are converted, a date alone is its midnight
in UTC, and a time without an offset is taken as UTC, so that no answer depends on where the server runs.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from context_pack.kernel.instants import file_time

_SHAPE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
"""What is read of all that ISO 8601 allows."""


def spelled(instant: datetime) -> str:
    """An instant in the one spelling; what is finer than a millisecond is cut off."""
    plain = instant.astimezone(UTC).replace(tzinfo=None)
    return plain.isoformat(timespec="milliseconds") + "Z"


def last_modified(stated: Any, modified_ns: int) -> str:
    """What an entity's `lastModifiedDate` says, else the time of its file."""
    said = _read(stated.strip()) if isinstance(stated, str) else None
    return spelled(file_time(modified_ns) if said is None else said)


def _read(text: str) -> datetime | None:
    """The instant that a text names; None if it names none."""
    if _SHAPE.fullmatch(text) is None:
        return None
    try:
        found = datetime.fromisoformat(text.upper())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
