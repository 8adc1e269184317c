"""Instants as text: RFC 3339 in UTC with `Z` on the way out, any offset on the way in."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

# `fromisoformat` reads more than RFC 3339: dates alone, weeks, times without a zone.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:[0-5]\d)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_instant(value: datetime, whole_seconds: bool = False) -> str:
    """The instant in UTC with `Z`; its fraction only where there is one and it is wanted.

    Raises:
        ValueError: `value` has no time zone.
    """
    if value.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    text = value.astimezone(UTC).isoformat(timespec="seconds" if whole_seconds else "auto")
    return text.removesuffix("+00:00") + "Z"


def file_time(nanoseconds: int) -> datetime:
    """A file's time stamp as an instant; one outside the calendar is the nearest inside it."""
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return (datetime.min if nanoseconds < 0 else datetime.max).replace(tzinfo=UTC)


def parse_instant(text: str) -> datetime:
    """The instant, in UTC, that an RFC 3339 text names; what is finer than a microsecond is dropped.

    Raises:
        ValueError: the text is not one, or names no real date.
    """
    spelled = text.upper()
    if _INSTANT.fullmatch(spelled) is None:
        raise ValueError("not an RFC 3339 instant such as 2026-02-20T12:00:00Z")
    try:
        return datetime.fromisoformat(spelled).astimezone(UTC)
    except OverflowError as error:
        raise ValueError("an instant outside the calendar") from error
