"""What a search pattern means: read once, and the same as `regex` has it, line by line."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from context_pack.code.domain.search_escapes import BadPattern
from context_pack.code.domain.search_nodes import LAST, merged, outside, without
from context_pack.code.domain.search_pattern import compiled
from context_pack.code.domain.search_regex import regex_source
from context_pack.code.domain.search_ripgrep import Reach
from context_pack.code.domain.search_syntax import read_pattern
from context_pack.code.domain.search_walk import Cost, cost_of, may_be_empty
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

SAME = [
    "a", "foo", "a.b", r"a\.b", "a*", "a+b", "a?b", "a{2}", "a{2,}", "a{1,2}b", "a{,2}b", "a*?b", "(a|b)+",
    "^a", "b$", "^$",
    "^ *$", r"\s+$", r"^\s", r"\w+", r"\W", r"\d{3}", r"\D", r"\bfoo\b", r"\Bar", r"[abc]", "[^abc]",
    "[a-f]+", r"[\w.]+@",
    r"[^\w\s]", r"[\]]", "[]a]", "[^]a]", "[a-]", "[-a]", r"[\d-]", "[[]", "[{}]", r"\[", r"\{", r"\\",
    "x{", "}", "]", "a|",
    "|a", "()", "(?:)", "(?:ab)+", "(a)(b)", r"(a)\1", r"(\w)\1", r"(?P<n>a)(?P=n)", "(?=b)", "a(?!b)",
    "(?<=a)b", "(?<!a)b",
    r"(?<=\s)\w", "a++b", "(?>a+)b", "(?#note)a", r"\x41", r"\u0041", "é", "[à-ü]", r"\s", r"\S", r"[\s]",
    r"[^\s]", r"\t",
    r"\r", r"[\r\n]", r"\0", r"\x00", r"a\b", r"\A\w", r"\w\Z", "^*a", r"(?:\b)+a", ".", "^.$", ".*", "$",
    "^", r"\$\d",
    r"\p{Lu}", r"\P{L}", r"\pN", r"[\p{Greek}]", r"foo\Kbar| \Kbar", r"\h+", "[+--]", r"\x7b", "k", "s",
    "ß", "σ",
    r"(?i)FOO", "(?i:f)oo", r"[^\W\d]+", r"[\W_]", r"[\D]", "(a|ab)(c|bcd)?", r"(?:a|b){2,3}?",
    r"\w+\s*=\s*\w+", r"\w*b", r".*b",
    r"\s*$", r"[a-z]+\d*", r"\d+$", "(?<!a)(?<!b)c", r"(?=.*b)a", r"(?!\s)\S",
]  # fmt: skip
"""Patterns that mean what `regex` says they mean."""


def starts(pattern: str, fold: bool) -> list[int | None]:
    """Where each line matches first, asked of the whole text."""
    source = regex_source(read_pattern(pattern, fold))
    flags = regex.V0 | regex.MULTILINE | (regex.IGNORECASE if source.fold else 0)
    found: list[int | None] = [None] * len(LINES)
    for match in regex.compile(f"(?:{source.text})[^\\n]*\\n", flags).finditer(TEXT):
        line = TEXT.count("\n", 0, match.start())
        assert found[line] is None
        found[line] = match.start() - (TEXT.rfind("\n", 0, match.start()) + 1)
    return found


def starts_by_line(pattern: str, fold: bool) -> list[int | None]:
    """Where each line matches first, asked line by line with the pattern as it is."""
    searched = regex.compile(pattern, regex.V0 | (regex.IGNORECASE if fold else 0))
    matches = [searched.search(line) for line in LINES]
    return [None if match is None else match.start() for match in matches]


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("pattern", SAME)
def test_a_pattern_means_in_the_whole_text_what_regex_says_of_each_line(pattern: str, fold: bool) -> None:
    assert starts(pattern, fold) == starts_by_line(pattern, fold)


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize(
    "pattern, meant",
    [
        (r"\x{41}", "A"),
        (r"\u{1F600}", "\U0001f600"),
        (r"\Qa.b\E", r"a\.b"),
        (r"\Q[", r"\["),
        (r"\<div\>", "<div>"),
        (r"\/", "/"),
        ("import {e}", r"import \{e\}"),
        ("{d}", r"\{d\}"),
        ("[[:alpha:]]", "[A-Za-z]"),
        ("[[:^digit:]a]", "[^0-9]"),
        ("[a&&b]", r"[a&b]"),
        (r"(?<n>a)\k<n>", r"(a)\1"),
        (r"(?<n>a)\k{n}", r"(a)\1"),
        ("a(?i)B", "a[bB]"),
        ("(?-i)Foo", "Foo"),
        ("(?i)a(?-i:B)", "[aA]B"),
        ("(?x) f o  o # all of it", "foo"),
        ("(?x) fo o +", "fooo*"),
        ("(?s).a", ".a"),
        ("(?m)^a", "^a"),
        ("(?U)a+", "a+"),
        (r"a\z", "a$"),
        (r"a\nb", "(?!)"),
        ("a\nb", "(?!)"),
        (r"[\n]", "(?!)"),
        (r"a|\n", "a"),
        (r"\H", r"[^\t \xa0\u1680\u2000-\u200a\u202f\u205f\u3000]"),
    ],
)
def test_other_dialects_are_understood_where_they_take_nothing_away(pattern: str, meant: str) -> None:
    assert starts(pattern, False) == starts_by_line(meant, False)


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "(a", "[", "[a", "[]", "[^", "[z-a]", "*", "+a", "?", "a**", "a{2}{3}", "{1}",
        "a|*", "a{2,1}", "\\",
        r"\q", r"\x4", r"\xg", r"\u12", r"\u{110000}", r"\x{D800}", r"\1", r"(a)\2", r"\k<x>", "(?P=x)",
        "(?P<a>x)(?P<a>y)",
        "(?z)", "(?", "(?P", "(?<", "(?P<1>a)", "(?R)", "(?1)", "(?|a)", "(?(1)a)", "(?#", r"\p{Nonsense}",
        r"\p{", "[[:nope:]]",
        "a{99999}", "a{20001}", "(a{200}){200}", "((((ab|c){100}){100}){100}){100}", "(" * 100 + ")" * 100,
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


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.booleans())
@pytest.mark.clause("CD-63")
def test_any_text_is_a_pattern_or_is_refused(pattern: str, case_sensitive: bool) -> None:
    refused = ""
    try:
        compiled(pattern, case_sensitive)
    except Failure as failure:
        refused = failure.message
    assert refused in ("", "Invalid regex pattern")


PIECES = st.sampled_from(
    [
        "a",
        "b",
        ".",
        r"\w",
        r"\d",
        r"\s",
        r"\b",
        r"\B",
        "^",
        "$",
        "[ab]",
        "[^a]",
        r"[\w-]",
        "(a)",
        "(?:b|)",
        "a|b",
        " ",
        "é",
        "o",
    ]
)
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?", "?+"])


@given(st.lists(st.tuples(PIECES, REPEATS), min_size=1, max_size=5), st.booleans())
@pytest.mark.clause("CD-65")
def test_random_patterns_mean_what_regex_says(parts: list[tuple[str, str]], fold: bool) -> None:
    pattern = "".join(f"(?:{piece}){repeat}" if repeat else piece for piece, repeat in parts)
    assert starts(pattern, fold) == starts_by_line(pattern, fold)


@pytest.mark.clause("CD-66")
@pytest.mark.parametrize(
    "pattern", ["a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", r"(a)\1", "a++", "(?>a)", r"a\Kb"]
)
def test_what_ripgrep_cannot_run_has_no_words_for_it(pattern: str) -> None:
    assert compiled(pattern, True).ripgrep is None


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize(
    "pattern, case_sensitive, reach",
    [
        ("foo", False, Reach.ANY),
        ("é", True, Reach.ANY),
        ("é", False, Reach.ASCII),
        (r"\s+", False, Reach.ANY),
        (r"[^a-z]", False, Reach.ANY),
        (r"\w", True, Reach.USUAL),
        (r"\bx", True, Reach.USUAL),
        (r"\p{Lu}", True, Reach.ASCII),
        (r"[\x80-\U0010ffff]", True, Reach.ANY),
        (r"[\x80-\U0010ffff]", False, Reach.ASCII),
    ],
)
def test_a_pattern_says_which_characters_ripgrep_may_be_trusted_with(
    pattern: str, case_sensitive: bool, reach: Reach
) -> None:
    source = compiled(pattern, case_sensitive).ripgrep
    assert source is not None
    assert source.reach is reach


@pytest.mark.clause("CD-68")
@pytest.mark.parametrize(
    "pattern, cost",
    [
        ("foo", Cost.LINEAR),
        ("a|b|c", Cost.LINEAR),
        (r"\d{3}", Cost.LINEAR),
        ("a?b?c?", Cost.LINEAR),
        (r"\w+x", Cost.SQUARE),
        ("foo.*bar", Cost.SQUARE),
        ("(?:a|b)c*", Cost.SQUARE),
        ("a.*b.*c", Cost.UNKNOWN),
        ("(a+)+", Cost.UNKNOWN),
        ("(ab)*", Cost.UNKNOWN),
        ("(?:ab){2}", Cost.UNKNOWN),
        (r"(a)\1", Cost.UNKNOWN),
        ("(?=a)b", Cost.UNKNOWN),
        ("a{1,1000}b", Cost.UNKNOWN),
        ("a?" * 30 + "a" * 30, Cost.UNKNOWN),
        ("(a|a)" * 30, Cost.UNKNOWN),
    ],
)
def test_what_a_pattern_may_cost_at_worst(pattern: str, cost: Cost) -> None:
    assert cost_of(read_pattern(pattern, True)) is cost


@pytest.mark.clause("CD-65")
@pytest.mark.parametrize(
    "pattern, empty",
    [
        ("a", False),
        ("a*", True),
        ("a?b", False),
        ("^$", True),
        (r"\b", True),
        ("(a|)", True),
        ("(?=a)", True),
        ("a{0}", True),
    ],
)
def test_whether_a_pattern_may_match_nothing(pattern: str, empty: bool) -> None:
    assert may_be_empty(read_pattern(pattern, False)) is empty


SPANS = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 10)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=6,
)


@given(SPANS, st.integers(0, 60))
def test_spans_are_sets(spans: list[tuple[int, int]], code: int) -> None:
    members = {member for low, high in spans for member in range(low, high + 1)}

    def holds(found: tuple[tuple[int, int], ...], number: int) -> bool:
        return any(low <= number <= high for low, high in found)

    assert all(holds(merged(spans), number) == (number in members) for number in range(70))
    assert all(holds(outside(spans), number) == (number not in members) for number in (*range(70), LAST))
    assert all(holds(without(spans, code), number) == (number in members - {code}) for number in range(70))


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("abc)", 3), ("a**", 2), ("a+?+", 3), ("a{2}{3}", 4), (r"ab\p{Nope}", 2), (r"[a\p{Nope}]", 2),
        ("a(b", 1), ("ab[c", 2), ("[z-a]", 1), ("ab\\", 2), (r"a\q", 1), ("a|*", 2), ("(?<=a)(?z)", 8),
    ],
)  # fmt: skip
def test_a_bad_pattern_says_where(pattern: str, position: int) -> None:
    with pytest.raises(BadPattern, match=rf"at position {position}$"):
        read_pattern(pattern, False)
