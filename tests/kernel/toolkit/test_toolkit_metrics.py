"""Metrics: exact counts, failures by kind, and quantiles of what was recent."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.toolkit.limits import KEPT_SAMPLES, Metrics, quantile, stats_text


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that are switched as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.clause("TK-15")
def test_calls_and_failures_are_counted_by_tool_and_kind() -> None:
    metrics = Metrics()
    for tool, failure in [
        ("b", None),
        ("a", "conflict"),
        ("b", "validation"),
        ("b", "validation"),
        ("b", "io_error"),
    ]:
        metrics.record(tool, 2.0, failure)
    shown = metrics.snapshot()
    assert list(shown) == ["a", "b"]
    assert shown["b"] == {
        "calls": 4,
        "failures": {"io_error": 1, "validation": 2},
        "p50": 2.0,
        "p95": 2.0,
        "p99": 2.0,
    }
    assert json.loads(stats_text(metrics)) == shown


@pytest.mark.clause("TK-15")
def test_metrics_without_calls_are_an_empty_object() -> None:
    assert stats_text(Metrics()) == "{}"


@pytest.mark.clause("TK-16")
@pytest.mark.parametrize(
    ("values", "p50", "p95", "p99"),
    [
        ([7.0], 7.0, 7.0, 7.0),
        ([1.0, 2.0], 1.0, 2.0, 2.0),
        ([1.0, 2.0, 3.0], 2.0, 3.0, 3.0),
        ([float(value) for value in range(1, 101)], 50.0, 95.0, 99.0),
        ([float(value) for value in range(1, 21)], 10.0, 19.0, 20.0),
        ([0.00049, 0.0016], 0.0, 0.002, 0.002),
    ],
)
def test_quantiles_are_nearest_ranks(values: list[float], p50: float, p95: float, p99: float) -> None:
    assert [quantile(values, share) for share in (0.50, 0.95, 0.99)] == [p50, p95, p99]


@pytest.mark.clause("TK-16")
@given(st.lists(st.integers(0, 100), min_size=1, max_size=300), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_quantile_is_the_least_value_that_covers_its_share(values: list[int], share: float) -> None:
    ordered = sorted(map(float, values))
    found = quantile(ordered, share)
    percent = round(share * 100)
    covered = [
        value for value in ordered if 100 * sum(other <= value for other in ordered) >= percent * len(ordered)
    ]
    assert found == covered[0]


@pytest.mark.clause("TK-16")
def test_without_samples_there_is_no_quantile() -> None:
    assert quantile([], 0.5) is None


@pytest.mark.clause("TK-16")
def test_only_recent_durations_are_kept_but_all_calls_counted() -> None:
    metrics = Metrics()
    for _ in range(KEPT_SAMPLES):
        metrics.record("a", 1000.0, None)
    for _ in range(KEPT_SAMPLES):
        metrics.record("a", 1.0, None)
    shown = metrics.snapshot()["a"]
    assert (shown["calls"], shown["p50"], shown["p99"]) == (2 * KEPT_SAMPLES, 1.0, 1.0)


@pytest.mark.clause("TK-13")
@pytest.mark.usefixtures("hasty_threads")
def test_threads_lose_no_count_while_metrics_are_read() -> None:
    metrics, gate = Metrics(lock=Lock()), Barrier(5)

    def work(number: int) -> None:
        gate.wait()
        for step in range(400):
            metrics.record("a", float(step), f"kind{step % 40}")

    def look(_: int) -> None:
        gate.wait()
        for _ in range(50):
            metrics.snapshot()

    with ThreadPoolExecutor(5) as pool:
        done = [pool.submit(work, number) for number in range(4)] + [pool.submit(look, 0)]
        for future in done:
            future.result()
    shown = metrics.snapshot()["a"]
    assert shown["calls"] == 1600
    assert set(shown["failures"].values()) == {40}
