"""Kept statistics: small, bounded, added up, and never in anybody's way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.toolkit.limits import Metrics
from context_pack_adapters.files.private import PrivateFolder
from context_pack_adapters.memory.stats import KEPT_DURATIONS, KEPT_FILES, StatsFiles, merge, to_record

COUNTS = st.integers(0, 1000)
RECORDS = st.builds(
    lambda tools: {"format": 1, "ended_at": "x", "tools": tools},
    st.dictionaries(
        st.sampled_from(["input", "output", "other"]),
        st.fixed_dictionaries(
            {
                "calls": COUNTS,
                "failures": st.dictionaries(st.sampled_from(["validation", "conflict"]), COUNTS),
                "recent": st.lists(st.floats(0, 1e6), max_size=20),
            }
        ),
    ),
)


def metrics(calls: int = 3) -> Metrics:
    """Calls of two tools, one of them failing."""
    made = Metrics()
    for number in range(calls):
        made.record("input", float(number), "validation" if number == 0 else None)
    made.record("output", 5.0, None)
    return made


@pytest.mark.clause("CLI-20")
def test_saved_metrics_of_connections_are_merged_on_load(tmp_path: Path) -> None:
    files = StatsFiles(PrivateFolder(tmp_path))
    files.save(metrics(), "20260101T000000Z", "aa")
    files.save(metrics(1), "20260102T000000Z", "bb")
    assert merge(files.load()).snapshot() == {
        "input": {"calls": 4, "failures": {"validation": 2}, "p50": 0.0, "p95": 2.0, "p99": 2.0},
        "output": {"calls": 2, "failures": {}, "p50": 5.0, "p95": 5.0, "p99": 5.0},
    }


@pytest.mark.clause("CLI-20")
def test_a_connection_without_calls_leaves_nothing(tmp_path: Path) -> None:
    StatsFiles(PrivateFolder(tmp_path)).save(Metrics(), "20260101T000000Z", "aa")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("CLI-20")
def test_only_the_newest_files_are_kept(tmp_path: Path) -> None:
    for number in range(KEPT_FILES + 5):
        StatsFiles(PrivateFolder(tmp_path)).save(metrics(), f"20260101T{number:06}Z", "aa")
    names = sorted(path.name for path in (tmp_path / "stats").glob("*.json"))
    assert len(names) == KEPT_FILES
    assert names[0] == "20260101T000005Z-aa.json"


@pytest.mark.clause("CLI-20")
def test_a_file_stays_small_however_long_the_connection_was(tmp_path: Path) -> None:
    StatsFiles(PrivateFolder(tmp_path)).save(metrics(5000), "20260101T000000Z", "aa")
    (path,) = (tmp_path / "stats").glob("*.json")
    record = json.loads(path.read_text("utf-8"))
    assert record["tools"]["input"]["calls"] == 5000
    assert len(record["tools"]["input"]["recent"]) == KEPT_DURATIONS
    assert record["tools"]["input"]["recent"][-1] == 4999.0
    assert path.stat().st_size < 10_000


@pytest.mark.clause("CLI-20")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"format":2,"tools":{}}',
        b'{"format":1}',
        b'{"format":1,"tools":{"input":[]}}',
        b'{"format":1,"tools":{"input":{"calls":-1,"failures":{},"recent":[]}}}',
        b'{"format":1,"tools":{"input":{"calls":1,"failures":{"x":"1"},"recent":[]}}}',
        b'{"format":1,"tools":{"input":{"calls":1,"failures":{},"recent":["fast"]}}}',
        b'{"format":1,"tools":{"input":{"calls":1,"failures":{},"recent":[NaN]}}}',
        b'{"format":1,"tools":{"input":{"calls":true,"failures":{},"recent":[]}}}',
        b" " * 1_000_000,
        b"[" * 100_000,
    ],
)
def test_a_file_that_makes_no_sense_is_passed_over(tmp_path: Path, content: bytes) -> None:
    files = StatsFiles(PrivateFolder(tmp_path))
    files.save(metrics(), "20260101T000000Z", "aa")
    (tmp_path / "stats" / "20260102T000000Z-bb.json").write_bytes(content)
    (tmp_path / "stats" / "20260103T000000Z-cc.json").mkdir()
    (tmp_path / "stats" / "notes.txt").write_text("hello")
    assert [record["ended_at"] for record in files.load()] == ["20260101T000000Z"]


@given(st.lists(RECORDS, max_size=6))
def test_adding_up_loses_no_call_and_no_failure(records: list[dict[str, Any]]) -> None:
    merged = merge(records)
    for name in {name for record in records for name in record["tools"]}:
        kept = [record["tools"][name] for record in records if name in record["tools"]]
        failures = sum(count for tool in kept for count in tool["failures"].values())
        assert merged.tools[name].calls == sum(tool["calls"] for tool in kept)
        assert merged.tools[name].failures.total() == failures
        assert list(merged.tools[name].recent) == [spent for tool in kept for spent in tool["recent"]]


def test_a_record_of_metrics_merges_back_into_the_same_metrics() -> None:
    assert merge([to_record(metrics(), "x")]).snapshot() == metrics().snapshot()
