"""The two fingerprints, to the bit, and what they say about freshness."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import strategies as st

from context_pack.contexts.fingerprint import (
    FreshnessState,
    Method,
    compared,
    fingerprint,
    stat_row,
)

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=6)


@pytest.mark.clause("CX-05")
@pytest.mark.parametrize(
    ("modified_ns", "milliseconds"),
    [
        (0, 0),
        (1_760_000_000_123_456_789, 1_760_000_000_123),
        (1_760_000_000_999_999_999, 1_760_000_001_000),
        (1_760_000_000_122_999_999, 1_760_000_000_123),
        (1_760_000_000_122_999_000, 1_760_000_000_122),
        (-1, -1),
        (-1_000_000_000, -1000),
        (999_999, 0),
        (1_000_000, 1),
    ],
)
def test_milliseconds_are_those_of_a_double(modified_ns: int, milliseconds: int) -> None:
    assert stat_row("a", modified_ns, 3) == f"a:{milliseconds}:3"


@pytest.mark.clause("CX-05")
def test_rows_are_sorted_by_utf_16_code_units_and_not_by_characters() -> None:
    rows = ["\U0001f600:1:1", "\uff5e:1:1", "a:1:1"]
    wanted = "\n".join([rows[2], rows[0], rows[1]])
    assert sorted(rows) != wanted.split("\n")
    assert fingerprint(rows) == hashlib.sha256(wanted.encode()).hexdigest()[:8]


@pytest.mark.clause("CX-07")
def test_contents_are_hashed_only_if_the_stat_fingerprint_differs() -> None:
    asked: list[str] = []

    def content() -> str | None:
        asked.append("content")
        return "cccccccc"

    by_stat = compared("aaaaaaaa", "aaaaaaaa", content)
    assert (by_stat.state, by_stat.computed, by_stat.method, asked) == (
        FreshnessState.FRESH,
        "aaaaaaaa",
        Method.STAT,
        [],
    )
    by_content = compared("cccccccc", "aaaaaaaa", content)
    assert (by_content.state, by_content.computed, by_content.method) == (
        FreshnessState.FRESH,
        "cccccccc",
        Method.CONTENT,
    )
    stale = compared("bbbbbbbb", "aaaaaaaa", content)
    assert (stale.state, stale.stored, stale.computed, stale.method) == (
        FreshnessState.STALE,
        "bbbbbbbb",
        "aaaaaaaa",
        Method.STAT,
    )
