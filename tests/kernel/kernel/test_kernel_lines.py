"""Lines end at a line feed and nowhere else; ranges are bounded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import LineRange, split_lines


@pytest.mark.clause("KN-10")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("\r\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\r\r\nb", ["a\r", "b"]),
        ("a\rb\r", ["a\rb"]),
        ("a\u2028b\u2029c\x85d\fe\vf\x1cg\n", ["a\u2028b\u2029c\x85d\fe\vf\x1cg"]),
    ],
)
def test_lines_split_on_line_feeds_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.clause("KN-10")
@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=5)), st.sampled_from(["\n", "\r\n"]))
def test_lines_with_endings_split_back_into_the_same_lines(lines: list[str], ending: str) -> None:
    found = split_lines("".join(line + ending for line in lines))
    expected = lines if ending == "\r\n" else [line.removesuffix("\r") for line in lines]
    assert found == expected


@pytest.mark.clause("KN-11")
@pytest.mark.parametrize(("start", "end"), [(1, 1), (42, 67), (1, 2000), (10**9, 10**9 + 1999)])
def test_a_range_counts_both_ends(start: int, end: int) -> None:
    lines = LineRange(start, end)
    assert lines.count == end - start + 1
    assert str(lines) == f"{start}-{end}"


@pytest.mark.clause("KN-11")
@pytest.mark.parametrize(
    ("start", "end", "field"),
    [
        (0, 1, "line_start"),
        (-1, 1, "line_start"),
        (2, 1, "line_end"),
        (1, 2001, "line_end"),
    ],
)
def test_a_wrong_range_names_its_field(start: int, end: int, field: str) -> None:
    with pytest.raises(Failure) as caught:
        LineRange(start, end)
    assert (caught.value.code, caught.value.details["field"]) == (Code.INVALID_DATA, field)


@pytest.mark.clause("KN-11")
@pytest.mark.parametrize("wrong", [True, 1.0, "1", None, [1]])
def test_a_stored_range_of_anything_but_whole_numbers_is_refused(wrong: Any) -> None:
    for start, end in ((wrong, 2), (1, wrong)):
        with pytest.raises(Failure):
            LineRange.stored(start, end)
    assert LineRange.stored(1, 2) == LineRange(1, 2)
