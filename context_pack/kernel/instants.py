"""Instants as text: RFC 3339 in UTC with `Z` on the way out, any offset on the way in.

Readers accept up to nine fraction digits, because other writers of the same files count nanoseconds. What is
finer than a microsecond counts for nothing, but it is written again as it was read: a file that is rewritten
loses no digit of a moment that nobody changed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_INSTANT = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Instant(datetime):
    """A moment in UTC with the fraction it was written with; whatever is computed from it has none."""

    fraction: str = ""


def format_instant(value: datetime, whole_seconds: bool = False) -> str:
    """The instant in UTC with `Z`; its fraction, as it was read, only where there is one and it is wanted.

    Raises:
        ValueError: `value` has no time zone.
    """
    if value.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    fraction = value.fraction if isinstance(value, Instant) and value.tzinfo is UTC else ""
    utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    text = utc.isoformat(timespec="seconds" if whole_seconds or fraction else "auto").removesuffix("+00:00")
    return f"{text}.{fraction}Z" if fraction and not whole_seconds else f"{text}Z"


def file_time(nanoseconds: int) -> datetime:
    """A file's time stamp as an instant; one outside the calendar is the nearest inside it."""
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError:
        return (datetime.min if nanoseconds < 0 else datetime.max).replace(tzinfo=UTC)


def parse_instant(text: str) -> datetime:
    """The instant, in UTC, that an RFC 3339 text names.

    Raises:
        ValueError: the text is not one, or names no real date.
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise ValueError("not an RFC 3339 instant such as 2026-02-20T12:00:00Z")
    *calendar, fraction, sign, hours, minutes = found.groups()
    year, month, day, hour, minute, second = map(int, calendar)
    micro = int((fraction or "0").ljust(6, "0")[:6])
    local = datetime(year, month, day, hour, minute, second, micro, _zone(sign, hours, minutes))
    try:
        utc = local.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("an instant outside the calendar") from error
    if fraction is None or fraction == f"{micro:06}" != "000000":
        return utc  # what would be written for it anyway
    exact = Instant(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, micro, UTC)
    exact.fraction = fraction
    return exact


def _zone(sign: str | None, hours: str, minutes: str) -> timezone:
    if sign is None:
        return UTC
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError("not a time zone offset")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    return timezone(-offset if sign == "-" else offset)
