"""Discoveries as values: bounds, ids that follow from the words, records that come back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Failure
from context_pack.memory.discovery import (
    Discovery,
    DiscoveryType,
    from_record,
    id_of,
    normalised,
    to_record,
    uuid_of,
)

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def discovery(content: str = "Use JWT tokens in cookies", **changes: object) -> Discovery:
    given: dict[str, object] = {
        "id": id_of(content),
        "type": "pattern",
        "content": content,
        "session": uuid_of(bytes(16)),
        "date": NOW,
        "last_seen": NOW,
    }
    return Discovery(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.clause("ME-02")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use JWT tokens.", "use  jwt\ttokens"),
        ("Never log `tokens`!", "**Never** log tokens"),
        ("First, check; then act", "first check then act"),
        ("Größe zählt immer", "GRÖSSE zählt immer"),
        ("令牌绝不能写入日志文件。", "令牌绝不能写入日志文件"),
        ("令牌绝不能写入日志文件！", "令牌绝不能写入日志文件？"),
        ("टोकन कभी लॉग न करें।", "टोकन कभी लॉग न करें"),
    ],
)
def test_the_same_words_have_the_same_id(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)
    assert id_of(one) == id_of(other)


@pytest.mark.clause("ME-02")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("keep x >= 3 here", "keep x <= 3 here"),
        ("a != b counts", "a == b counts"),
        ("!" * 12, "?" * 12),
        ("*" * 12, "`" * 12),
        ("。" * 12, "." * 12),
    ],
)
def test_operators_and_marks_without_words_make_another_discovery(one: str, other: str) -> None:
    assert id_of(one) != id_of(other)


@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=10, max_size=200).filter(
        lambda text: len(text.strip()) >= 10
    ),
    st.sampled_from(list(DiscoveryType)),
)
def test_a_record_comes_back_equal(content: str, kind: DiscoveryType) -> None:
    kept = discovery(content, type=kind)
    assert from_record(to_record(kept), kept.content + "\n") == kept


@pytest.mark.clause("ME-04")
@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"type": "idea"},
        {"times": 0},
        {"date": "yesterday"},
        {"more": 1},
    ],
)
def test_a_record_that_breaks_a_rule_is_no_discovery(change: dict[str, object]) -> None:
    with pytest.raises((ValueError, Failure)):
        from_record({**to_record(discovery()), **change}, "Use JWT tokens in cookies")
