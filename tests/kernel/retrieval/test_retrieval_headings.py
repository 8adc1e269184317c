"""Headings and titles: CommonMark at the document's level, as another reader of Markdown sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.retrieval.headings import headings, title_of

Found = list[tuple[int, str, int]]


def ours(text: str, suffix: str = ".md") -> Found:
    return [(heading.level, heading.text, heading.line) for heading in headings(text, suffix)]


def texts(text: str, suffix: str = ".md") -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in headings(text, suffix)]


@pytest.mark.clause("RT-05")
def test_lines_that_only_resemble_headings_are_no_headings(checkout: Path) -> None:
    text = (checkout / "tests/fixtures/markdown/odd.md").read_text(encoding="utf-8")
    found = ours(text)
    assert len(found) > 15
    assert not any(" in a " in text.lower() or "not here" in text.lower() for _, text, _ in found)


BREAKS = ["\n", "\n", "\n\n", "\n    ", "\n  ", "\n- ", "\n> "]
BLOCKS = [
    "# ",
    "## ",
    "#",
    "=",
    "===",
    "---",
    "-",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "10. ",
    ">",
    "> ",
    "####### ",
]
CODE = ["```", "~~~", "```py", "`", "    ", "  ", "\t", "\\#", "***"]
HTML = ["<div>", "</div>", "<!--", "-->", "<a b='c'>", "<?", "?>", "<pre>", "</pre>", "<b>", "&amp;"]
WORDS = ["word", "two words", "_y_", "*x*", "[foo]", "[l](u)", "![i](u)"]
MARKDOWN = st.lists(st.sampled_from(BREAKS + BLOCKS + CODE + HTML + WORDS), max_size=30).map("".join)


@pytest.mark.clause("RT-05")
@given(MARKDOWN)
def test_crlf_counts_like_lf_and_a_mark_before_the_text_is_not_there(text: str) -> None:
    assert ours(text.replace("\n", "\r\n")) == ours(text)
    assert ours("\ufeff" + text) == ours(text)


@pytest.mark.clause("RT-05")
def test_a_rule_below_a_table_makes_no_heading_of_it() -> None:
    tables = ["| a | b |\n|---|:-:|\n| 1 | 2 |", "a | b\n--|--\n1 | 2"]
    for table in tables:
        for rule in ("----", "==="):
            found = headings(f"# Top\n\n{table}\n{rule}\n\nBelow\n-----\n")
            assert [heading.text for heading in found] == ["Top", "Below"], (table, rule)
    assert [each.text for each in headings("Read | write\n---\n")] == ["Read | write"]


@pytest.mark.clause("RT-05")
def test_headings_lose_closing_hashes_and_markup() -> None:
    assert texts("# **Bold** `code` [link](u) ![alt](i) ##\n") == [(1, "Bold code link alt")]
    assert texts("Over *two*\n__lines__\n===\n") == [(1, "Over two lines")]
    assert texts("# a\\*b &lt; c#\n") == [(1, "a*b < c#")]
    assert texts("## [1.0] and [2.0]\n\n[1.0]: x\n") == [(2, "1.0 and [2.0]")]
    assert texts("#\n##  ##\n# x\n") == [(1, ""), (2, ""), (1, "x")]


@pytest.mark.clause("RT-05")
def test_front_matter_holds_no_headings() -> None:
    assert texts("---\ntitle: x\n# comment\n---\n# Real\n") == [(1, "Real")]
    assert texts("---\ntitle: x\n...\n# Real\n") == [(1, "Real")]
    assert texts("+++\ntitle = 'x'\n# comment\n+++\n# Real\n") == [(1, "Real")]
    assert texts("---\r\na: b\r\n---\r\n# Real\r\n") == [(1, "Real")]


@pytest.mark.clause("RT-05")
def test_rules_around_a_heading_are_no_front_matter() -> None:
    assert texts("---\n\n# Real\n\n---\n") == [(1, "Real")]
    assert texts("---\nkey: value\n# Never closed\n") == [(1, "Never closed")]
    assert texts("\n---\nkey: value\n---\n") == [(2, "key: value")]
    assert texts("---\n---\n# Real\n") == [(1, "Real")]


@pytest.mark.clause("RT-05")
def test_restructured_text_has_underlined_headings_with_levels_by_appearance() -> None:
    text = (
        "=====\nTitle\n=====\n\nPart\n====\n\nText\n\nSub ``code``\n----------\n\nOther\n=====\nText\n"
        "----\n\n::\n\n   Literal\n   =======\n\n* list\n\n----\n\nEnd\n---\n\nno\n-\n"
    )
    assert texts(text, ".rst") == [
        (1, "Title"),
        (2, "Part"),
        (3, "Sub code"),
        (2, "Other"),
        (3, "Text"),
        (3, "End"),
    ]
    assert [heading.line for heading in headings(text, ".RST")] == [1, 5, 10, 13, 15, 27]


@pytest.mark.clause("RT-05")
def test_restructured_bullets_fields_tables_and_rules_are_no_titles() -> None:
    text = (
        "1. Counted\n==========\n\n- bullet\n--------\n\n:Author: me\n-----------\n\n"
        ".. note:: x\n-----------\n\n=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n\n"
        "+---+\n| a |\n+---+\n\ntwo\nlines\n-----\n"
    )
    assert texts(text, ".rst") == [(1, "1. Counted")]


@pytest.mark.clause("RT-05")
def test_restructured_titles_lose_roles_links_and_emphasis() -> None:
    text = (
        "The :class:`~a.Name` and `site <https://x.org>`_\n" + "=" * 60 + "\n\n*em* **bold** \\*\n" + "-" * 20
    )
    assert texts(text, ".rst") == [(1, "The a.Name and site"), (2, "em bold *")]


@pytest.mark.clause("RT-05")
def test_plain_text_has_no_headings() -> None:
    assert headings("# Not one\n\nNor this\n========\n", ".txt") == []


@pytest.mark.clause("RT-09")
def test_the_title_is_the_first_level_1_heading_then_front_matter_then_the_name() -> None:
    assert title_of("## Two\n\n#\n\n# One\n# Next\n", "a/b.md") == "One"
    assert title_of('---\ntitle: "From: *it*" # really\n---\n## Two\n', "a/b.md") == "From: *it*"
    assert title_of("---\ntitle: From it # comment\n---\n# Heading\n", "a/b.md") == "Heading"
    assert title_of("---\ntitle: >-\n  From\n  it\nother: x\n---\n", "a/b.md") == "From it"
    assert title_of("---\ntitle: 'It''s'\n---\n", "b.md") == "It's"
    assert title_of("+++\ntitle = 'T'\n+++\n", "b.md") == "T"
    assert title_of("---\nsubtitle: x\n---\n#\n", "a/b.md") == "b.md"
    assert title_of("# No heading\n", "a/b.txt") == "b.txt"
    assert title_of("Top\n===\n\nSub\n---\n", "a/b.rst") == "Top"


@pytest.mark.clause("RT-09")
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'"multi \"q\" \u00e9"', 'multi "q" \u00e9'),
        (r'"two\nlines\tand a tab" # said', "two lines and a tab"),
        (r"'raw \u00e9'", r"raw \u00e9"),
        (r"plain \u00e9", r"plain \u00e9"),
    ],
)
def test_escapes_in_a_double_quoted_title_are_read(written: str, meant: str) -> None:
    assert title_of(f"---\ntitle: {written}\n---\n", "b.md") == meant


HOSTILE = {
    "quotes": ">" * 100_000,
    "brackets": "# " + "[" * 100_000,
    "definitions": '[a]: b "x\n' * 10_000,
    "attributes": "<a" + " b" * 50_000,
    "underlines": "a\n" + "=\n" * 50_000,
    "front matter": "---\n" * 30_000,
    "labels": "".join(f"[l{n}]: u\n\n" for n in range(3000)) + "# [l1]\n" * 3000,
}


@pytest.mark.slow
@pytest.mark.clause("RT-10")
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("suffix", [".md", ".rst"])
def test_hostile_text_is_read_to_its_end(kind: str, suffix: str) -> None:
    """Each of these took minutes, or for ever, where time grew with the square of the length."""
    found = headings(HOSTILE[kind] + "\n\n<!-- -->\n\nEnd\n===\n", suffix)
    assert all(heading.level >= 1 for heading in found)
