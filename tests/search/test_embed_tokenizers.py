"""The bundled model's tokenizer beside ids that the `tokenizers` package made from the same description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from context_pack_adapters.embed.granite import BytePairs

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
