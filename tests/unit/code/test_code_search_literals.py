"""What a pattern cannot match without."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from context_pack.code.domain.search_literals import needs_of
from context_pack.code.domain.search_tokens import tokens_of


def needed(pattern: str) -> list[str]:
    """The literals of which every match must hold one."""
    return list(needs_of(list(tokens_of(pattern))))


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("foo", ["foo"]),
        ("foo.*longer", ["longer"]),
        ("jwt.sign", ["sign"]),
        (r"\w+Error", ["Error"]),
        ("TODO|FIXME", ["TODO", "FIXME"]),
        ("(?:get|set)Name", ["Name"]),
        ("(?:getter|setter)X", ["getter", "setter"]),
        ("(foo)+bar?", ["foo"]),
        ("fooo?(ba|bc)r{2}", ["foo"]),
        ("(foo)?bar", ["bar"]),
        ("(foo)*", []),
        ("a|b", []),
        ("foo|b*", []),
        ("x", []),
        ("(?=foo)", []),
        ("foo(?!barbaz)", ["foo"]),
        ("(?>atomic)", ["atomic"]),
        (r"one\ntwo", ["one"]),
        ("|".join(f"word{number}" for number in range(20)), []),
    ],
)
def test_the_best_literals_of_a_pattern(pattern: str, expected: list[str]) -> None:
    assert needed(pattern) == expected


@given(
    st.lists(
        st.sampled_from(
            ["ab", "cd", "a|b", "(ab|cd)", "(ab)?", "c*", ".", r"\w", "[ab]c", "(a(b|c)d)+", "(?:xy){2}"]
        ),
        min_size=1,
        max_size=5,
    ),
    st.text("abcdxy", max_size=12),
)
@pytest.mark.clause("CD-65")
def test_every_match_holds_one_of_the_literals(parts: list[str], line: str) -> None:
    pattern = "".join(parts)
    literals = needed(pattern)
    match = regex.search(pattern, line, regex.IGNORECASE)
    if literals and match is not None:
        assert any(literal in match[0] for literal in literals)
