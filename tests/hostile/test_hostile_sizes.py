"""Texts that would keep comparisons and edits busy for minutes."""

from __future__ import annotations

import random

import pytest
from hanging import never_hanging

from context_pack.contexts.edits import revise
from context_pack.packs.following import similar_block


@pytest.mark.clause("AN-07")
def test_a_large_file_whose_lines_repeat_just_below_one_in_a_hundred_is_compared() -> None:
    chance = random.Random(3)
    words = [f"a{number:03}" for number in range(101)]
    kept = [line for number in range(1000) for line in (chance.choice(words), f"o{number}")]
    lines = [chance.choice(words) if number % 2 else f"u{number}" for number in range(300_000)]
    with never_hanging():
        assert similar_block(kept, [*lines[:200_000], *kept, *lines[200_000:]]) is not None


@pytest.mark.clause("CX-32")
def test_a_field_with_very_many_blank_lines_is_edited() -> None:
    text = "summary: old\nmaintenance: |\n" + "\n" * 200_000 + "  end\nlast_updated: now\n"
    with never_hanging():
        changed = revise(text.encode(), {"summary": "new"})
    assert changed is not None
    assert changed.decode() == text.replace("old", "new")
