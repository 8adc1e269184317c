"""Texts written as YAML come back equal from readers of YAML 1.1 and 1.2."""

from __future__ import annotations

import pytest
import yaml
from context_pack.kernel.yaml_text import block_of, line_of
from hypothesis import example, given
from hypothesis import strategies as st

from context_pack_adapters.stores import yaml_core

WHOLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LINES = st.lists(st.text("ab #:-'\"\t|>é", max_size=8), min_size=1, max_size=5).map("\n".join)


@given(st.one_of(WHOLE, LINES))
@example("yes")
@example("2026-02-13")
@example("12:30:45")
@example("0o17")
@example("a: b")
@example("a #b")
@example("\u2028\ufeff\x85")
@example("")
def test_a_yaml_line_reads_back_equal_in_every_reader(text: str) -> None:
    written = line_of(text)
    assert "\n" not in written
    assert yaml.safe_load(f"k: {written}\n") == {"k": text}
    assert yaml_core.load(f"k: {written}\n") == {"k": text}


@given(st.one_of(WHOLE, LINES))
@example("one\n\ntwo\n")
@example("one\ntwo ")
@example(" one\ntwo")
@example("one\n\n")
def test_a_yaml_block_reads_back_equal_in_every_reader_or_is_none(text: str) -> None:
    written = block_of(text, "  ")
    if written is not None:
        assert yaml.safe_load(f"k: {written}\n") == {"k": text}
        assert yaml_core.load(f"k: {written}\n") == {"k": text}


def test_ordinary_text_is_written_as_plain_yaml() -> None:
    assert line_of("Billing of the shop") == "Billing of the shop"
    assert block_of("one\ntwo\n", "  ") == "|\n  one\n  two"
    assert block_of("one line", "  ") is None


def test_a_lone_surrogate_fails_when_yaml_text_is_encoded() -> None:
    with pytest.raises(UnicodeEncodeError):
        line_of("a\ud800b").encode()
