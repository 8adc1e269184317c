"""The two fingerprints, to the bit, and what they say about freshness."""

from __future__ import annotations

import hashlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.contexts.fingerprint import (
    FreshnessState,
    Method,
    compared,
    content_row,
    fingerprint,
    stat_row,
)

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=6)


@pytest.mark.clause("CX-05")
def test_an_empty_folder_has_the_fingerprint_of_nothing() -> None:
    assert fingerprint([]) == "e3b0c442"


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
@given(st.integers(0, 4_000_000_000_000_000_000))
def test_milliseconds_are_computed_as_javascript_does(modified_ns: int) -> None:
    seconds, rest = divmod(modified_ns, 10**9)
    assert stat_row("n", modified_ns, 0) == f"n:{math.floor(seconds * 1000.0 + rest / 1e6)}:0"


@pytest.mark.clause("CX-05")
def test_rows_are_sorted_by_utf_16_code_units_and_not_by_characters() -> None:
    rows = ["\U0001f600:1:1", "\uff5e:1:1", "a:1:1"]
    wanted = "\n".join([rows[2], rows[0], rows[1]])
    assert sorted(rows) != wanted.split("\n")
    assert fingerprint(rows) == hashlib.sha256(wanted.encode()).hexdigest()[:8]


@pytest.mark.clause("CX-05")
def test_whole_rows_are_sorted_and_not_names() -> None:
    rows = [stat_row("a", 0, 1), stat_row("a!", 0, 1)]
    assert fingerprint(rows) == hashlib.sha256(b"a!:0:1\na:0:1").hexdigest()[:8]


@pytest.mark.clause("CX-05", "CX-06")
@given(st.lists(NAMES, unique=True, max_size=6), st.randoms(use_true_random=False))
def test_the_order_in_which_files_are_met_does_not_matter(names: list[str], chance: object) -> None:
    rows = [content_row(name, "00") for name in names]
    mixed = list(rows)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert fingerprint(rows) == fingerprint(mixed)


@pytest.mark.clause("CX-06")
def test_a_content_row_is_the_name_and_the_digest() -> None:
    digest = hashlib.sha256(b"x").hexdigest()
    assert fingerprint([content_row("a", digest)]) == hashlib.sha256(f"a:{digest}".encode()).hexdigest()[:8]


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


@pytest.mark.clause("CX-07")
def test_unreadable_contents_do_not_make_a_context_fresh() -> None:
    assert compared("bbbbbbbb", "aaaaaaaa", lambda: None).state is FreshnessState.STALE
