"""Instants as text, times to live and expiry. Pure: the present is always passed in.

Instants are RFC 3339, in UTC with `Z` on the way out, with any offset on the way in. Something is expired
from the very instant of its expiry on. The longest life is counted from now, so that no series of extensions
can reach further than one setting could.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from context_pack.kernel.errors import invalid

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


MAX_MINUTES = 2_628_000

_LONGEST = timedelta(minutes=MAX_MINUTES)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def expiry(now: datetime, minutes: int) -> datetime:
    """When something that lives for `minutes` from now expires.

    Raises:
        Failure: `invalid_data`; a program that restores a pack gives minutes that no command has checked.
    """
    if not 1 <= minutes <= MAX_MINUTES:
        raise invalid(f"'ttl_minutes' must be an integer from 1 to {MAX_MINUTES}", "ttl_minutes")
    return now + timedelta(minutes=minutes)


def extended(expires_at: datetime, minutes: int, now: datetime) -> datetime:
    """The expiry put off by `minutes`.

    Raises:
        Failure: `invalid_data`, field `extend_minutes`, when that is further than the longest life from now.
    """
    more = timedelta(minutes=minutes)
    # Differences are compared, not dates, so that an expiry near the end of the calendar cannot overflow.
    room = _LONGEST - (expires_at - now)
    if more > room:
        most = max(0, room // timedelta(minutes=1))
        raise invalid(
            f"'extend_minutes' would put the expiry more than {MAX_MINUTES} minutes from now; "
            f"extend by at most {most}",
            "extend_minutes",
        )
    return expires_at + more


def is_expired(expires_at: datetime, now: datetime) -> bool:
    """Whether the expiry has passed."""
    return now >= expires_at


def remaining_seconds(expires_at: datetime, now: datetime) -> int:
    """Whole seconds left, rounded down, never negative."""
    return max(0, (expires_at - now) // timedelta(seconds=1))


def human(seconds: int) -> str:
    """A duration in its largest whole unit, rounded down: `<1m`, `32m`, `5h`, `12d`."""
    if seconds < _MINUTE:
        return "<1m"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h"
    return f"{seconds // _DAY}d"
