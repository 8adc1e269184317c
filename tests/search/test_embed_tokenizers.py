"""The bundled model's tokenizer beside ids that the `tokenizers` package made from the same description."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack_adapters.embed.granite import LONGEST_WORD, BytePairs

STORED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "fixtures/embed/tokenizers.json").read_text("utf-8")
)["byte_pairs"]


def spaced(text: str) -> str:
    """A text as the stored tokenizer takes it, which puts a blank first."""
    return text if not text or text.startswith(" ") else f" {text}"


@pytest.fixture(scope="module")
def ours() -> BytePairs:
    return BytePairs(STORED["tokenizer"])


@pytest.mark.clause("EM-03")
def test_every_stored_text_has_the_stored_ids_the_second_time_too(ours: BytePairs) -> None:
    for _ in range(2):
        for stored in STORED["texts"]:
            assert ours.ids(spaced(stored["text"]), 100_000) == stored["ids"], stored["text"][:60]


@pytest.mark.clause("EM-03")
def test_a_long_text_keeps_its_beginning_and_the_end_mark(ours: BytePairs) -> None:
    for stored in STORED["texts"]:
        for longest in (2, 3, 16):
            ids = ours.ids(spaced(stored["text"]), longest)
            whole = stored["ids"]
            assert ids == (whole if len(whole) <= longest else [*whole[: longest - 1], whole[-1]])


@pytest.mark.clause("EM-03")
@settings(max_examples=50, deadline=None)
@given(text=st.text(st.characters(codec=None), max_size=80))
def test_any_text_has_ids_of_the_vocabulary_between_the_marks(ours: BytePairs, text: str) -> None:
    ids, largest = ours.ids(text, 32), max(STORED["tokenizer"]["model"]["vocab"].values())
    assert 2 <= len(ids) <= 32
    assert all(0 <= number <= largest for number in ids)
    assert ids[0] == ours.ids("", 32)[0]
    assert ids[-1] == ours.ids("", 32)[-1]


@pytest.mark.clause("EM-03")
def test_special_tokens_in_a_text_are_only_text(ours: BytePairs) -> None:
    for mark in ("<s>", "</s>", "<pad>"):
        first, *inside, last = ours.ids(f"one {mark} two", 64)
        assert first not in inside
        assert last not in inside


@pytest.mark.clause("EM-03")
def test_data_without_blanks_takes_no_more_than_its_beginning(ours: BytePairs) -> None:
    data = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3" * 100_000
    assert len(ours.ids(data, 256)) <= 256
    assert len(ours.ids(" " * 3_000_000 + "x", 256)) <= 256


@pytest.mark.clause("EM-03")
def test_merged_vocabulary_may_be_written_as_pairs(ours: BytePairs) -> None:
    description = copy.deepcopy(STORED["tokenizer"])
    written = description["model"]["merges"]
    other = [pair.split(" ") if isinstance(pair, str) else " ".join(pair) for pair in written]
    description["model"]["merges"] = other
    text = "Lock files stay: unlinking them would split the waiters."
    assert BytePairs(description).ids(text, 64) == ours.ids(text, 64)


@pytest.mark.clause("EM-03")
def test_a_word_of_any_length_is_merged_in_bounded_time(ours: BytePairs) -> None:
    assert len(ours.ids("a" * (LONGEST_WORD * 3), 100_000)) > 3
