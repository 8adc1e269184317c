"""Samples of a file name every known text that stands in it, wherever that is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.packs.domain.probes import STEPS, Probes

lines = st.lists(st.sampled_from(["", "}", "    return value", "x" * 60, "y = compute(1, 2)  # " + "z" * 90]))


@given(before=lines, text=lines.filter(len), after=lines, times=st.integers(1, 12))
def test_a_text_on_whole_lines_of_a_file_is_always_found(
    before: list[str], text: list[str], after: list[str], times: int
) -> None:
    text = [f"{line}{number}" if line else line for number, line in enumerate(text * times)]
    probes = Probes[str]()
    probes.add("\n".join(text), "here")
    for step in STEPS:
        probes.add("elsewhere\n" * (step // 5), "long and not here")
    probes.add("elsewhere", "short and not here")
    assert set(probes.found("".join(line + "\n" for line in (*before, *text, *after)))) == {"here"}


@pytest.mark.parametrize("count", [1, 6, 8, 40])
def test_every_place_of_a_text_of_any_length_is_found(count: int) -> None:
    text = "\n".join(f"value_{number} = compute({number})" for number in range(count))
    probes = Probes[int]()
    probes.add(text, 1)
    for shift in range(2 * max(STEPS)):
        assert 1 in probes.found(f"{'#' * shift}\n{text}\nthe rest\n"), shift
