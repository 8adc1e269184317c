"""Times to live and expiry. Pure: the present is always passed in.

Something is expired from the very instant of its expiry on. The longest life is counted from now, so that
no series of extensions can reach further than one setting could.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from context_pack.kernel.errors import invalid

MAX_MINUTES = 2_628_000

_LONGEST = timedelta(minutes=MAX_MINUTES)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def _life(minutes: int, name: str) -> timedelta:
    if not 1 <= minutes <= MAX_MINUTES:
        raise invalid(f"'{name}' must be an integer from 1 to {MAX_MINUTES}", name)
    return timedelta(minutes=minutes)


def expiry(now: datetime, minutes: int) -> datetime:
    """When something that lives for `minutes` from now expires.

    Raises:
        Failure: `invalid_data`, field `ttl_minutes`, for minutes out of bounds.
    """
    return now + _life(minutes, "ttl_minutes")


def extended(expires_at: datetime, minutes: int, now: datetime) -> datetime:
    """The expiry put off by `minutes`.

    Raises:
        Failure: `invalid_data`, field `extend_minutes`, when that is further than the longest life from now.
    """
    more = _life(minutes, "extend_minutes")
    # Differences are compared, not dates, so that an expiry near the end of the calendar cannot overflow.
    room = _LONGEST - (expires_at - now)
    if more > room:
        left = max(0, room // timedelta(minutes=1))
        raise invalid(
            f"'extend_minutes' would put the expiry more than {MAX_MINUTES} minutes from now; "
            f"extend by at most {left}",
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
