"""The real clock and the real randomness."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from inmemory import FixedClock, SeededIds

from context_pack_adapters.system import SystemClock, SystemIds


def test_the_system_clock_is_aware_in_utc_and_moves_forward() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert abs(datetime.now(UTC) - clock.now()) < timedelta(minutes=1)
    first = clock.monotonic()
    assert clock.monotonic() >= first


def test_system_tokens_have_the_size_and_do_not_repeat() -> None:
    ids = SystemIds()
    tokens = {ids.token(5) for _ in range(500)}
    assert {len(token) for token in tokens} == {5}
    assert len(tokens) == 500


def test_a_fixed_clock_moves_only_by_advance_and_never_back() -> None:
    clock = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2026, 1, 1, tzinfo=UTC)
    clock.advance(minutes=5, seconds=1)
    assert clock.now() == datetime(2026, 1, 1, 0, 5, 1, tzinfo=UTC)
    assert clock.monotonic() == 301.0
    with pytest.raises(ValueError, match="back"):
        clock.advance(seconds=-1)
    with pytest.raises(ValueError, match="zone"):
        FixedClock(datetime(2026, 1, 1))


def test_seeded_tokens_follow_from_the_seed() -> None:
    assert [SeededIds(1).token(5)] * 2 == [SeededIds(1).token(5) for _ in range(2)]
    assert SeededIds(1).token(5) != SeededIds(2).token(5)
    one = SeededIds(3)
    assert one.token(5) != one.token(5)
