"""The real clock and the real randomness."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
