"""Budgets: bytes for tokens, and the rows of an answer that fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.toolkit.budget import fit, json_size, room_of, shrunk, size, tokens_of

# Texts, and the most tokens that cl100k, o200k and the published tokenizer of Claude 2 have for them.
COUNTED = {
    "def add(self, item: Item) -> None:\n    self.items.append(item)\n": 20,
    "\tif err != nil {\n\t\treturn nil, err\n\t}\n": 17,
    "The quick brown fox jumps over the lazy dog.": 10,
    "if(a&&b){return c||d}": 11,
}


@pytest.mark.clause("TK-14")
@pytest.mark.parametrize("text", COUNTED)
def test_code_and_prose_have_about_as_many_tokens_as_is_said(text: str) -> None:
    assert 0.75 * COUNTED[text] <= tokens_of(text) <= 2 * COUNTED[text]


@pytest.mark.clause("TK-14")
@given(st.text())
def test_a_text_fits_the_room_of_its_tokens(text: str) -> None:
    assert size(text) <= room_of(tokens_of(text))
    assert not text or size(text) > room_of(tokens_of(text) - 1)


JSON = st.recursive(
    st.none() | st.integers() | st.text(st.sampled_from('aé\n"\\'), max_size=300),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.clause("TK-14")
@settings(max_examples=200)
@given(
    st.lists(st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4), max_size=12), st.integers(0, 3000)
)
def test_rows_fit_their_room_and_the_first_come_whole(rows: list[dict[str, Any]], room: int) -> None:
    body = {"rows": rows, "beside": 1}
    answer = fit(body, "rows", room + 400, lambda end: f"continue with offset {end}")
    shown = answer["rows"]
    if "more" not in answer:
        assert answer == body
        return
    assert 0 < len(shown) <= len(rows)
    assert shown[:-1] == rows[: len(shown) - 1]
    assert answer["more"].startswith(f"{len(shown)} of {len(rows)} rows are here; ")
    if len(shown) > 1:
        assert shown[-1] == rows[len(shown) - 1]  # of a page only a row that is alone is cut
        assert json_size(answer) <= room + 400


@pytest.mark.clause("TK-14")
def test_pages_of_rows_show_each_once() -> None:
    rows = [{"id": number, "text": "x" * (number % 40)} for number in range(200)]
    seen: list[Any] = []
    while len(seen) < len(rows):
        start = len(seen)
        answer = fit({"rows": rows}, "rows", 1_000, lambda end: f"continue with offset {end}", start=start)
        assert json_size(answer) <= 1_000
        seen += answer["rows"]
        assert ("more" in answer) is (len(seen) < len(rows))
    assert seen == rows


@pytest.mark.clause("TK-14")
@given(JSON, st.integers(60, 2000))
def test_a_value_that_is_cut_keeps_its_shape(value: Any, room: int) -> None:
    small = shrunk(value, room)
    assert type(small) is type(value)
    if isinstance(value, str) and small != value:
        assert json_size(small) <= room
        assert value.startswith(small.removesuffix("…"))
    if isinstance(value, dict) and small != value:
        assert set(small) == {*value, "truncated"}
