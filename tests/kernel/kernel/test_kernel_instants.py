"""Instants as RFC 3339 text, out in UTC and in from anywhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.times import format_instant, parse_instant

ZONES = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
INSTANTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=ZONES)


@pytest.mark.clause("KN-16", "KN-17")
@given(INSTANTS)
def test_an_instant_survives_its_text(instant: datetime) -> None:
    text = format_instant(instant)
    assert text.endswith("Z")
    assert parse_instant(text) == instant
    assert parse_instant(text).tzinfo is UTC


@pytest.mark.clause("KN-17")
@given(INSTANTS)
def test_an_instant_with_an_offset_is_read_as_the_same_moment(instant: datetime) -> None:
    assert parse_instant(instant.isoformat()) == instant


@pytest.mark.clause("KN-16")
def test_a_fraction_is_written_only_where_there_is_one() -> None:
    whole = datetime(2026, 2, 20, 13, 0, 0, tzinfo=timezone(timedelta(hours=1)))
    broken = whole.replace(microsecond=50_000)
    assert format_instant(whole) == "2026-02-20T12:00:00Z"
    assert format_instant(broken) == "2026-02-20T12:00:00.050000Z"
    assert format_instant(broken, whole_seconds=True) == "2026-02-20T12:00:00Z"


@pytest.mark.clause("KN-16")
def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        format_instant(datetime(2026, 2, 20))


@pytest.mark.clause("KN-17")
@pytest.mark.parametrize(
    ("text", "micro"),
    [
        ("2026-02-20T12:00:00.1Z", 100_000),
        ("2026-02-20t12:00:00.123456789z", 123_456),
        ("2026-02-20T12:00:00.999999999Z", 999_999),
        ("2026-02-20T12:00:00.000000001+00:00", 0),
        ("2026-02-20T17:30:00.5+05:30", 500_000),
    ],
)
def test_up_to_nine_fraction_digits_are_read(text: str, micro: int) -> None:
    assert parse_instant(text) == datetime(2026, 2, 20, 12, 0, 0, micro, UTC)


@pytest.mark.clause("KN-17")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-20",
        "2026-02-20T12:00Z",
        "2026-02-20T12:00:00",
        "2026-02-20 12:00:00Z",
        "2026-02-20T12:00:00.Z",
        "2026-02-20T12:00:00.1234567890Z",
        "2026-02-30T12:00:00Z",
        "2026-02-20T12:00:00+0100",
        "2026-02-20T12:00:00+24:00",
        "2026-02-20T12:00:00+01:60",
        "2026-02-20T12:00:00Z\n",
        " 2026-02-20T12:00:00Z",
        "２026-02-20T12:00:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    ],
)
def test_a_text_that_is_no_instant_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_instant(text)
