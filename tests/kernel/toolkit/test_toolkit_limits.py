"""Rate limits: a sliding window in which refused calls do not count, for one thread and for many."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.limits import RateLimiter


def admitted(limiter: RateLimiter, now: float, tool: str = "grep") -> bool:
    try:
        limiter.admit(tool, now)
    except Failure:
        return False
    return True


def refusal(limiter: RateLimiter, now: float) -> Failure:
    with pytest.raises(Failure) as caught:
        limiter.admit("grep", now)
    return caught.value


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that are switched as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.clause("TK-10")
def test_the_limit_is_admitted_and_the_next_call_refused() -> None:
    limiter = RateLimiter({"grep": 3})
    assert [admitted(limiter, second) for second in range(5)] == [True, True, True, False, False]
    failure = refusal(limiter, 10)
    assert (failure.code, failure.message) == (Code.RATE_LIMITED, "Rate limit exceeded for grep")
    assert failure.details["limit"] == 3


@pytest.mark.clause("TK-10")
def test_a_burst_may_take_all_and_each_share_of_the_minute_gives_one_back() -> None:
    limiter = RateLimiter({"grep": 4})
    assert [admitted(limiter, 0) for _ in range(5)] == [True, True, True, True, False]
    assert [admitted(limiter, second) for second in (14.9, 15, 15.1, 30, 45)] == [
        False,
        True,
        False,
        True,
        True,
    ]
    assert [admitted(limiter, 200) for _ in range(5)] == [True, True, True, True, False]


@pytest.mark.clause("TK-11")
def test_a_refusal_says_when_to_try_again_and_what_changes_the_limit() -> None:
    limiter = RateLimiter({"grep": 2})
    assert admitted(limiter, 0)
    assert admitted(limiter, 0)
    told = refusal(limiter, 10).details
    assert told["retryAfterMs"] == 20_001
    assert told["hint"] == "try again in 20.0 s; CONTEXT_PACK_RATE_LIMITS changes the limit"


@pytest.mark.clause("TK-11")
def test_refused_calls_do_not_count() -> None:
    limiter = RateLimiter({"grep": 1})
    assert admitted(limiter, 0)
    assert not any(admitted(limiter, 0.5 * step) for step in range(1, 120))
    assert admitted(limiter, 60)


@pytest.mark.clause("TK-10")
def test_tools_have_buckets_of_their_own_and_others_none() -> None:
    limiter = RateLimiter({"grep": 1, "read": 1})
    assert admitted(limiter, 0, "grep")
    assert admitted(limiter, 0, "read")
    assert not admitted(limiter, 0, "read")
    assert all(admitted(limiter, 0, "output") for _ in range(1000))


@pytest.mark.clause("TK-10")
def test_a_limit_of_zero_admits_nothing() -> None:
    assert refusal(RateLimiter({"grep": 0}), 5).details["retryAfterMs"] == 60_000


@pytest.mark.clause("TK-12")
@given(st.floats(0, 1e6), st.lists(st.floats(0, 80), min_size=1, max_size=30), st.integers(1, 4))
def test_a_call_after_its_retry_delay_is_admitted(start: float, pauses: list[float], limit: int) -> None:
    limiter = RateLimiter({"grep": limit})
    now = start
    for pause in pauses:
        now += pause
        try:
            limiter.admit("grep", now)
        except Failure as failure:
            wait = failure.details["retryAfterMs"]
            assert 0 < wait <= 60_000
            assert wait == 1 or not admitted(limiter, now + (wait - 2) / 1000)
            now += wait / 1000
            limiter.admit("grep", now)


@pytest.mark.clause("TK-10")
@given(st.lists(st.floats(0, 20), max_size=60), st.integers(1, 5))
def test_no_time_span_admits_more_than_a_burst_and_its_share(pauses: list[float], limit: int) -> None:
    limiter, now = RateLimiter({"grep": limit}), 0.0
    counted: list[float] = []
    for pause in pauses:
        now += pause
        if admitted(limiter, now):
            counted.append(now)
    for first, start in enumerate(counted):
        for count, end in enumerate(counted[first:], 1):
            assert count <= limit + (end - start) * limit / 60 + 1e-3


@pytest.mark.clause("TK-13")
@pytest.mark.usefixtures("hasty_threads")
def test_threads_together_get_exactly_the_limit() -> None:
    for start in (0.0, 60.0, 120.0):
        limiter = RateLimiter({"grep": 50}, Lock())
        if start:
            assert all(admitted(limiter, start - 60) for _ in range(50))
        gate = Barrier(8)

        def hammer(limiter: RateLimiter = limiter, now: float = start, gate: Barrier = gate) -> int:
            gate.wait()
            return sum(admitted(limiter, now) for _ in range(100))

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(lambda _: hammer(), range(8))) == 50
