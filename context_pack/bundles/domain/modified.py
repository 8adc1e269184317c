"""When an entity was last changed: what it says itself, else when its file was, in one spelling.

The spelling is ISO 8601 in UTC with milliseconds and `Z`. Offsets are converted, a date alone is its midnight
in UTC, and a time without an offset is taken as UTC, so that no answer depends on where the server runs.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?",
    re.ASCII,
)


def spelled(instant: datetime) -> str:
    """An instant in the one spelling; what is finer than a millisecond is cut off."""
    plain = instant.astimezone(UTC).replace(tzinfo=None)
    return plain.isoformat(timespec="milliseconds") + "Z"


def last_modified(stated: Any, modified_ns: int) -> str:
    """What an entity's `lastModifiedDate` says, else the time of its file."""
    said = _read(stated.strip()) if isinstance(stated, str) else None
    return spelled(file_time(modified_ns) if said is None else said)


def file_time(modified_ns: int) -> datetime:
    """A file's time stamp as an instant; beyond the calendar, its nearest end."""
    try:
        return _EPOCH + timedelta(microseconds=modified_ns // 1000)
    except OverflowError:
        return _FIRST if modified_ns < 0 else _LAST


def _read(text: str) -> datetime | None:
    """The instant that a text names; None if it names none."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    micro = int((found[7] or "0").ljust(6, "0")[:6])
    try:
        zone = _zone(found[8], int(found[9] or 0), int(found[10] or 0))
        return datetime(year, month, day, hour, minute, second, micro, zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _zone(sign: str | None, hours: int, minutes: int) -> timezone:
    if hours > 23 or minutes > 59:
        raise ValueError("not a time zone offset")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if sign == "-" else offset)
