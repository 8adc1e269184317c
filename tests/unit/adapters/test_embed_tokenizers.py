"""Our tokenizers beside ids that the `tokenizers` package made from the same descriptions."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.retrieval.ports import EmbedderFailed
from context_pack_adapters.embed.byte_pairs import LONGEST_WORD, BytePairs
from context_pack_adapters.embed.word_pieces import WordPieces

STORED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "fixtures/embed/tokenizers.json").read_text("utf-8")
)


def tokenizer(name: str) -> BytePairs | WordPieces:
    """One of the stored tokenizers."""
    make = BytePairs if name == "byte_pairs" else WordPieces
    return make(STORED[name]["tokenizer"])


@pytest.mark.clause("EM-05")
@pytest.mark.parametrize("name", STORED)
def test_every_stored_text_has_the_stored_ids_the_second_time_too(name: str) -> None:
    ours = tokenizer(name)
    for _ in range(2):
        for stored in STORED[name]["texts"]:
            assert ours.ids(stored["text"], 100_000) == stored["ids"], stored["text"][:60]


@pytest.mark.clause("EM-05")
@pytest.mark.parametrize("name", STORED)
def test_a_long_text_keeps_its_beginning_and_the_end_mark(name: str) -> None:
    ours = tokenizer(name)
    for stored in STORED[name]["texts"]:
        for longest in (2, 3, 16):
            ids = ours.ids(stored["text"], longest)
            whole = stored["ids"]
            assert ids == (whole if len(whole) <= longest else [*whole[: longest - 1], whole[-1]])


@pytest.mark.clause("EM-05")
@pytest.mark.parametrize("name", STORED)
@settings(max_examples=50, deadline=None)
@given(text=st.text(st.characters(codec=None), max_size=80))
def test_any_text_has_ids_of_the_vocabulary_between_the_marks(name: str, text: str) -> None:
    ours = tokenizer(name)
    ids = ours.ids(text, 32)
    assert 2 <= len(ids) <= 32
    assert all(0 <= number <= ours.largest for number in ids)
    assert ids[0] == ours.ids("", 32)[0]
    assert ids[-1] == ours.ids("", 32)[-1]


@pytest.mark.clause("EM-05")
@pytest.mark.parametrize("name", STORED)
def test_special_tokens_in_a_text_are_only_text(name: str) -> None:
    ours = tokenizer(name)
    for mark in ("<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "[MASK]"):
        first, *inside, last = ours.ids(f"one {mark} two", 64)
        assert first not in inside
        assert last not in inside


@pytest.mark.clause("EM-05")
@pytest.mark.parametrize("name", STORED)
def test_data_without_blanks_takes_no_more_than_its_beginning(name: str) -> None:
    ours = tokenizer(name)
    data = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3" * 100_000
    assert len(ours.ids(data, 256)) <= 256
    assert len(ours.ids(" " * 3_000_000 + "x", 256)) <= 256


@pytest.mark.clause("EM-05")
def test_merged_vocabulary_may_be_written_as_pairs() -> None:
    description = copy.deepcopy(STORED["byte_pairs"]["tokenizer"])
    written = description["model"]["merges"]
    other = [pair.split(" ") if isinstance(pair, str) else " ".join(pair) for pair in written]
    description["model"]["merges"] = other
    text = "Lock files stay: unlinking them would split the waiters."
    assert BytePairs(description).ids(text, 64) == tokenizer("byte_pairs").ids(text, 64)


@pytest.mark.clause("EM-05")
def test_forgetting_kept_words_changes_no_ids() -> None:
    for name in ("byte_pairs", "cased"):
        ours = tokenizer(name)
        before = ours.ids("Lock files stay", 64)
        for start in range(0, 52_000, 4000):
            ours.ids(" ".join(f"w{number}" for number in range(start, start + 4000)), 30_000)
        assert ours.ids("Lock files stay", 64) == before


@pytest.mark.clause("EM-08")
@pytest.mark.parametrize(
    "description",
    [
        {},
        {"model": None},
        {"model": {"type": "Unigram", "vocab": []}},
        {"model": {"vocab": {"a": 0}}},
        {"model": []},
    ],
)
def test_a_description_of_something_else_is_refused(description: dict[str, Any]) -> None:
    for make in (BytePairs, WordPieces):
        with pytest.raises(EmbedderFailed, match=r"tokenizer\.json"):
            make(description)


@pytest.mark.clause("EM-05")
def test_a_word_of_any_length_is_merged_in_bounded_time() -> None:
    ours = tokenizer("byte_pairs")
    assert len(ours.ids("a" * (LONGEST_WORD * 3), 100_000)) > 3
