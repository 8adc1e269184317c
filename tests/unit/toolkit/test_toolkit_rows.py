"""Rows of an answer within its budget."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.toolkit.rows import fitted


def size(rows: list[dict[str, Any]]) -> int:
    return len(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.clause("DC-45")
@given(
    st.lists(st.text(st.sampled_from('aé\n"\\'), max_size=200), max_size=12),
    st.integers(0, 3000),
)
@settings(max_examples=100)
def test_rows_never_exceed_their_budget_and_the_first_keep_most(texts: list[str], most: int) -> None:
    rows = [
        {"id": number, "content": text, "startLine": 3, "endLine": 3 + text.count("\n")}
        for number, text in enumerate(texts)
    ]
    found, fewer = fitted(rows, most)
    assert not found or size(found) <= most + 2
    assert fewer == (len(found) < len(rows))
    cut = [row.get("truncated", False) for row in found]
    assert cut == sorted(cut)
    for row, whole in zip(found, rows, strict=False):
        if row.get("truncated"):
            assert str(whole["content"]).startswith(row["content"])
        else:
            assert row == whole


@pytest.mark.clause("DC-45")
def test_stripped_rows_leave_room_for_the_content_of_the_best_one() -> None:
    rows = [{"id": number, "content": "line\n" * 60, "padding": "x" * 80} for number in range(20)]
    found, fewer = fitted(rows, 1800)
    assert fewer
    assert len(str(found[0]["content"])) >= 200
    assert len(found) > 1


@pytest.mark.clause("DC-45")
def test_the_best_row_of_each_question_shows_something_even_of_one_long_line() -> None:
    rows = [{"id": number, "content": "word " * 400, "startLine": 7, "endLine": 7} for number in range(60)]
    found, _ = fitted(rows, 1000)
    assert len(str(found[0]["content"])) > 200
    assert (found[0]["startLine"], found[0]["endLine"]) == (7, 7)
    several, _ = fitted(rows, 12_000, heads=4)
    assert [len(str(row["content"])) > 500 for row in several[:4]] == [True] * 4


@pytest.mark.clause("DC-45")
def test_a_long_line_below_a_heading_shows_its_beginning() -> None:
    row = {"content": "## Heading\n" + "word " * 4000, "startLine": 5, "endLine": 6}
    (found,), _ = fitted([row], 1000)
    assert found["content"].startswith("## Heading\nword word")
    assert (len(found["content"]) > 500, found["endLine"]) == (True, 6)
