"""What a search pattern means: read once, and the same as `regex` has it, line by line."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from context_pack.code.domain.search_pattern import LINEAR, SQUARE, UNKNOWN, compiled, is_plain
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
    "(" * 100 + ")" * 100, "$^", "^$^", r"$\b", r"\b$^", "($)(^)", r"\s*$^", "[[:alpha:]]",
    "[[:^digit:]a]", "[^[:space:]]+$", r"\z", r".+b", r".*?b", r"\w*$",
    "(?P<n>a|b)(?P=n)", "a(?i)B", "(?-i)Foo", "(?i)a(?-i:B)", r"\012",
    r"\U00000041",
    r"a(?!\s)", r"(?<!\s)b", r"(?<=\W)b", r"\S+(?=\s|$)", "[^b]$", "[^b]+$", r"[\s\S]$", r"[\S\s]b", "(?>.*)",
]  # fmt: skip
"""Patterns that mean what `regex` says they mean."""


def starts(pattern: str, fold: bool) -> list[int | None]:
    """Where each line matches first, asked of the whole text."""
    meant = compiled(pattern, not fold)
    flags = regex.V0 | regex.MULTILINE | (regex.IGNORECASE if meant.fold else 0)
    found: list[int | None] = [None] * len(LINES)
    for match in regex.compile(f"(?:{meant.source})[^\\n]*\\n", flags).finditer(TEXT):
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
def test_a_pattern_over_the_whole_text_matches_as_regex_does_per_line(pattern: str, fold: bool) -> None:
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
        ("[a&&b]", r"[a&b]"),
        (r"(?<n>a)\k<n>", r"(a)\1"),
        (r"(?<n>a)\k{n}", r"(a)\1"),
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
def test_patterns_of_other_regex_dialects_are_translated(pattern: str, meant: str) -> None:
    assert starts(pattern, False) == starts_by_line(meant, False)


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "(a", "[", "[a", "[]", "[^", "[z-a]", "*", "+a", "?", "a**", "a{2}{3}", "{1}",
        "a|*", "a{2,1}", "\\",
        r"\q", r"\x4", r"\xg", r"\u12", r"\u{110000}", r"\U00110000", r"\1", r"(a)\2", r"\k<x>", "(?P=x)",
        "(?z)", "(?", "(?P", "(?<", "(?P<1>a)", "(?R)", "(?1)", "(?|a)", "(?(1)a)", "(?#", r"\p{Nonsense}",
        r"\p{", "[[:nope:]]", "[[:alpha:]",
        "a{99999}", "a{20001}", "(a{200}){200}", "((((ab|c){100}){100}){100}){100}",
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
    "pattern",
    [
        "foo|bar", r"\bfoo\b", "^foo", "foo$", r"foo\(|b", r"[A-Za-z_]\w*", "[^,]+,", r"(?:a|b)+c{2,3}",
        r"a.*?b", r"[\w.-]+@\d", r"\s+$", "(a|b)c", "x{3}y", "e|f", "[+-]1",
    ],
)  # fmt: skip
def test_ripgrep_counts_patterns_with_the_same_meaning(pattern: str) -> None:
    assert compiled(pattern, True).ripgrep == pattern


@pytest.mark.clause("CD-66")
@pytest.mark.parametrize(
    "pattern",
    [
        "a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", r"(a)\1", "a++", "a*+b", "a?+b", "a{2}+b", "(?>a)", r"a\Kb",
        "$^", "a$b", "a^", "é|a", "(?i)a|b", r"a\Ab", r"\<a|b", "[[:alpha:]]a", "[a&&b]", "[+--b]", "[a~~b]",
        r"\x61|b", "import {e}|b", "a{,2}", r"\p{Lu}|a", "(?P<n>a)|b", "a|\tb", r"\Qa\E|b",
        "foo", r"\w+Handler",  # `regex` is faster at these
    ],
)  # fmt: skip
def test_ripgrep_is_never_asked_about_anything_else(pattern: str) -> None:
    assert compiled(pattern, True).ripgrep is None


@pytest.mark.clause("CD-66")
def test_plain_texts_have_no_returns_and_no_character_that_tables_differ_about() -> None:
    plain = ["", "a\n\tb", "größe déjà", "数据", "поиск → 😀", "\0"]
    others = ["a\r\nb", "a\rb", "\ufeffa", "\u212a", "ſ", "İ", "ı", "\u0558", "\U00011de0", "\ue000"]
    assert [text for text in plain if not is_plain(text.encode())] == []
    assert [text for text in others if is_plain(text.encode())] == []


@pytest.mark.clause("CD-68")
@pytest.mark.parametrize(
    "pattern, cost",
    [
        ("foo", LINEAR),
        ("a|b|c", LINEAR),
        (r"\d{3}", LINEAR),
        ("a?b?c?", LINEAR),
        (r"\w+x", SQUARE),
        ("foo.*bar", SQUARE),
        ("(?:a|b)c*", SQUARE),
        ("a.*b.*c", UNKNOWN),
        ("(a+)+", UNKNOWN),
        ("(ab)*", UNKNOWN),
        ("(?:ab){2}", UNKNOWN),
        (r"(a)\1", UNKNOWN),
        ("(?=a)b", UNKNOWN),
        ("a{1,1000}b", UNKNOWN),
        ("a?" * 30 + "a" * 30, UNKNOWN),
        ("(a|a)" * 30, UNKNOWN),
    ],
)
def test_worst_case_cost_of_a_pattern(pattern: str, cost: int) -> None:
    assert compiled(pattern, False).cost == cost


@pytest.mark.clause("CD-63")
@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("abc)", 3), ("a**", 2), ("a+?+", 3), ("a{2}{3}", 4), (r"ab\p{Nope}", 2), (r"[a\p{Nope}]", 0),
        ("a(b", 3), ("ab[c", 4), (r"\s\s[z-a]", 4), ("ab\\", 2), (r"a\q", 1), ("a|*", 2), ("(?<=a)(?z)", 6),
    ],
)  # fmt: skip
def test_a_bad_pattern_says_where(pattern: str, position: int) -> None:
    with pytest.raises(Failure) as caught:
        compiled(pattern, False)
    assert caught.value.details["details"].endswith(f"at position {position}")
