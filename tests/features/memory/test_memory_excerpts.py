"""What a search shows of a piece of code: its head and the lines that matter."""

from __future__ import annotations

import pytest

from context_pack.memory.excerpts import excerpt
from context_pack.retrieval.words import tokens

LONG = """\
def rotate_keys(store, now):
    \"\"\"Replace what is too old.\"\"\"
    first = store.first()
    second = store.second()
    third = store.third()
    if first.expired(now):
        store.renew_token(first)
    fourth = store.fourth()
    return store.commit()
"""


@pytest.mark.clause("ME-44")
def test_of_a_long_piece_the_signature_and_the_lines_that_matter_are_shown() -> None:
    assert excerpt(LONG, tokens("where is a token renewed")) == (
        "def rotate_keys(store, now):\n…\n        store.renew_token(first)\n…"
    )


@pytest.mark.clause("ME-44")
def test_a_short_piece_is_shown_whole_and_a_head_may_take_lines() -> None:
    short = LONG[: LONG.index("    third")]
    assert excerpt(short, ["nothing"]) == short
    many = "@cache\n@traced\n" + LONG
    assert excerpt(many, ["zebra"]) == "@cache\n@traced\ndef rotate_keys(store, now):\n…"


@pytest.mark.clause("ME-44")
@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("strasse naive", "    # die Straße ist naïve"),
        ("C#", "    # as C# has it"),
        ("日本", "    # 日本語"),
        ("parsehttp", "    call(parse_http)"),
    ],
)
def test_accents_signs_and_joined_words_are_found_in_a_line(question: str, line: str) -> None:
    text = f"def one():\n{'    pass  # x#y → z' * 9}\n" + "    pass\n" * 9 + line
    assert excerpt(text, tokens(question)) == f"def one():\n…\n{line}"
