"""Tokens: what a text is said to have, and answers that stay within them."""

from __future__ import annotations

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from context_pack.toolkit.tokens import estimate_tokens, fitting, room_of

# Texts, and the most tokens that cl100k, o200k and the published tokenizer of Claude 2 have for them.
COUNTED = {
    "def add(self, item: Item) -> None:\n    self.items.append(item)\n": 20,
    "\tif err != nil {\n\t\treturn nil, err\n\t}\n": 17,
    "The quick brown fox jumps over the lazy dog.": 10,
    "让我们说中文": 10,
    "if(a&&b){return c||d}": 11,
}


@frozen
class Shown:
    """Something with a text."""

    text: str


@pytest.mark.clause("TK-14")
@pytest.mark.parametrize("text", COUNTED)
def test_token_estimates_are_never_below_tokenizers_and_close_for_code(text: str) -> None:
    assert COUNTED[text] <= estimate_tokens(text) <= 2 * COUNTED[text]


@pytest.mark.clause("TK-14")
@given(st.text(), st.text())
def test_a_longer_text_has_more_tokens(text: str, more: str) -> None:
    whole = estimate_tokens(f"{text} \n {more}")
    assert estimate_tokens(text) <= whole + 1
    assert whole <= estimate_tokens(text) + estimate_tokens(more) + 5


@pytest.mark.clause("TK-14")
@pytest.mark.parametrize("piece", ["word ", "数", "\\u0000;", "a1B2", "{}[]();", "        deep\n"])
def test_an_answer_is_made_again_in_less_room_until_it_fits(piece: str) -> None:
    rooms: list[int] = []

    def make(room: int) -> Shown:
        rooms.append(room)
        return Shown((piece * room).encode()[:room].decode("utf-8", "ignore"))

    made = fitting(1000, make)
    assert estimate_tokens(made.text) <= 1000
    assert rooms[0] == room_of(1000)
    assert len(rooms) <= 3
    assert estimate_tokens(made.text) > 900 or len(rooms) == 1


@pytest.mark.clause("TK-14")
@pytest.mark.parametrize("pieces", [("word ", "{}[]();"), ("{}[]();", "word "), ("x = 1\n", "x = 1\n")])
def test_a_large_answer_fits_wherever_its_tokens_are(pieces: tuple[str, str]) -> None:
    cheap, dear = pieces
    whole = cheap * (60_000 // len(cheap)) + dear * (60_000 // len(dear))
    made = fitting(20_000, lambda room: Shown(whole[:room]))
    assert 14_000 < estimate_tokens(made.text) <= 20_000
