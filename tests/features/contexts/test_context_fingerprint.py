"""The two fingerprints, to the bit, and what they say about freshness."""

from __future__ import annotations

import hashlib

import pytest

from context_pack.contexts.fingerprint import (
    compared,
    fingerprint,
    stat_row,
)


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

    def outcome(stored: str) -> tuple[str, str, str]:
        found = compared(stored, "aaaaaaaa", content)
        return found.state.value, found.computed, found.method.value

    assert (outcome("aaaaaaaa"), asked) == (("fresh", "aaaaaaaa", "stat"), [])
    assert (outcome("cccccccc"), asked) == (("fresh", "cccccccc", "content"), ["content"])
    assert outcome("bbbbbbbb") == ("stale", "aaaaaaaa", "stat")
