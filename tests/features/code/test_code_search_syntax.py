"""What a search pattern means: read once, and the same as `regex` has it, line by line."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from context_pack.code.patterns import compiled
from context_pack.kernel.errors import Code, Failure

LINES = [
    "", " ", "a", "A", "ab", "aab", "abab", "foo bar", "Foo_Bar(baz)", "x = y + 1", "  indented",
    "trailing  ",
    "tab\there", "a.b.c", "[brackets]", "{braces}", "import {e} from 'x'", "<div>", "a|b", "$5^2",
    "back\\slash",
    "naïve größe", "ÄÖÜ äöü", "ΑΒΓ αβγς", "数据", "\U0001f600 smile", "1234567", "0x1F", "user@example.org",
    "lone\rreturn", "form\x0cfeed", "nul\0byte", "\u2028separator", "K kelvin \u212a", "ſtraße", "İı iI",
    "---", "aaaaab",
]  # fmt: skip
TEXT = "".join(line + "\n" for line in LINES)


def starts(pattern: str, fold: bool) -> list[int | None]:
    """Where each line matches first, asked of the whole text."""
    found: list[int | None] = [None] * len(LINES)
    count, places = compiled(pattern, not fold).find(TEXT, lambda: None, len(LINES))
    assert count == len(places) == len(dict(places))
    for line, column in places:
        found[line] = column
    return found


def starts_by_line(pattern: str, fold: bool) -> list[int | None]:
    """Where each line matches first, asked line by line with the pattern as it is."""
    searched = regex.compile(pattern, regex.V0 | (regex.IGNORECASE if fold else 0))
    matches = [searched.search(line) for line in LINES]
    return [None if match is None else match.start() for match in matches]


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize(
    "pattern, meant",
    [
        (r"\<div\>", "<div>"),
        (r"\/", "/"),
        ("import {e}", r"import \{e\}"),
        ("{d}", r"\{d\}"),
        ("(?x) f o  o # all of it", "foo"),
        ("(?s).a", ".a"),
        ("(?m)^a", "^a"),
        (r"a\nb", "(?!)"),
        ("a\nb", "(?!)"),
        (r"[\n]", "(?!)"),
        (r"a|\n", "a"),
    ],
)
def test_a_brace_that_counts_nothing_is_plain_and_no_match_crosses_lines(pattern: str, meant: str) -> None:
    assert starts(pattern, False) == starts_by_line(meant, False)


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "(a", "[", "[a", "[]", "[^", "[z-a]", "*", "+a", "?", "a**", "a{2}{3}", "{1}",
        "a|*", "a{2,1}", "\\",
        r"\q", r"\x4", r"\xg", r"\u12", r"\U00110000", r"\1", r"(a)\2", r"\k<x>", "(?P=x)",
        "(?z)", "(?", "(?P", "(?<", "(?P<1>a)", "(?1)", "(?(1)a)", "(?#", r"\p{Nonsense}",
        "[[:nope:]]", "[[:alpha:]",
        "(?i", r"[\q]", r"\c", r"(?&x)", "[invalid(",
    ],
)  # fmt: skip
def test_a_pattern_that_means_nothing_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(Failure) as caught:
        compiled(pattern, False)
    assert caught.value.code is Code.INVALID_DATA
    assert caught.value.message == "Invalid regex pattern"
    assert caught.value.details["pattern"] == pattern
    assert "at position" in caught.value.details["details"]


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    "pattern",
    [
        "a{99999}", "a{20001}", "(a{200}){200}", "((((ab|c){100}){100}){100}){100}",
        "(((a{1000}){1000}){1000})",
        "(?:[ab]{500}){500}", "(?x)(a{500} ){500}", "(a{1000,}){1000,}",
    ],
)  # fmt: skip
def test_a_pattern_that_grows_is_refused_before_it_is_compiled(pattern: str) -> None:
    with pytest.raises(Failure) as caught:
        compiled(pattern, False)
    assert caught.value.message == "Invalid regex pattern"
    assert "repeats too much" in caught.value.details["details"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.booleans())
@pytest.mark.clause("CD-63")
def test_any_text_is_a_pattern_or_is_refused(pattern: str, case_sensitive: bool) -> None:
    refused = ""
    try:
        compiled(pattern, case_sensitive)
    except Failure as failure:
        refused = failure.message
    assert refused in ("", "Invalid regex pattern")
