"""Lives: their bounds, their end, and what is left of them in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.times import expiry, extended, human, is_expired, remaining_seconds

MAX_MINUTES = 2_628_000
NOW = datetime(2026, 2, 20, 12, 0, 0, 500_000, tzinfo=UTC)
INSTANTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
MINUTES = st.integers(1, MAX_MINUTES)


@pytest.mark.clause("KN-13")
@given(INSTANTS, MINUTES)
def test_a_pack_expires_exactly_after_its_minutes(now: datetime, minutes: int) -> None:
    end = expiry(now, minutes)
    assert remaining_seconds(end, now) == minutes * 60
    assert is_expired(end, end)
    assert not is_expired(end, end - timedelta(microseconds=1))


@pytest.mark.clause("KN-13")
@pytest.mark.parametrize("minutes", [0, -1, MAX_MINUTES + 1, 10**30])
def test_a_time_to_live_out_of_bounds_is_refused(minutes: int) -> None:
    with pytest.raises(Failure) as caught:
        expiry(NOW, minutes)
    assert (caught.value.code, caught.value.details["field"]) == (Code.INVALID_DATA, "ttl_minutes")
    with pytest.raises(Failure) as caught:
        extended(NOW, minutes, NOW)
    assert (caught.value.code, caught.value.details["field"]) == (Code.INVALID_DATA, "extend_minutes")


@pytest.mark.clause("KN-14")
@given(INSTANTS, MINUTES, MINUTES)
def test_an_extension_adds_to_the_expiry_within_the_longest_life(
    now: datetime, first: int, more: int
) -> None:
    end = expiry(now, first)
    if first + more <= MAX_MINUTES:
        assert extended(end, more, now) == expiry(now, first + more)
    else:
        with pytest.raises(Failure) as caught:
            extended(end, more, now)
        assert caught.value.details["field"] == "extend_minutes"


@pytest.mark.clause("KN-14")
def test_the_longest_time_to_live_counts_from_now() -> None:
    full = expiry(NOW, MAX_MINUTES)
    with pytest.raises(Failure):
        extended(full, 1, NOW)
    with pytest.raises(Failure):
        extended(full, 1, NOW + timedelta(seconds=59, microseconds=999_999))
    assert extended(full, 1, NOW + timedelta(minutes=1)) == full + timedelta(minutes=1)


@pytest.mark.clause("KN-14")
def test_an_expiry_at_the_end_of_the_calendar_is_refused_and_not_overflowed() -> None:
    with pytest.raises(Failure) as caught:
        extended(datetime(9999, 12, 31, 23, 59, tzinfo=UTC), 10, NOW)
    assert caught.value.code is Code.INVALID_DATA


@pytest.mark.clause("KN-15")
def test_remaining_seconds_are_floored_and_never_negative() -> None:
    assert remaining_seconds(NOW + timedelta(seconds=1, microseconds=999_999), NOW) == 1
    assert remaining_seconds(NOW + timedelta(microseconds=1), NOW) == 0
    assert remaining_seconds(NOW - timedelta(microseconds=1), NOW) == 0
    assert remaining_seconds(NOW - timedelta(days=1), NOW) == 0


@pytest.mark.clause("KN-15")
@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "<1m"),
        (59, "<1m"),
        (60, "1m"),
        (32 * 60 + 59, "32m"),
        (3599, "59m"),
        (3600, "1h"),
        (6 * 3600 - 1, "5h"),
        (86_399, "23h"),
        (86_400, "1d"),
        (13 * 86_400 - 1, "12d"),
        (MAX_MINUTES * 60, "1825d"),
    ],
)
def test_a_duration_is_written_in_its_largest_whole_unit(seconds: int, words: str) -> None:
    assert human(seconds) == words
