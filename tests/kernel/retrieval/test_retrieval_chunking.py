"""Passages: whole sections where they fit, cut where it hurts least, always the document's own characters."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.retrieval.chunking import LIMIT, TARGET, chunks, size
from context_pack.retrieval.model import Piece

PARAGRAPH = (
    "Every line of this paragraph says something of its own, and none of it is said twice by number {}. "
)


def cut(text: str, suffix: str = ".md", title: str = "Title", key: str = "docs/a") -> tuple[Piece, ...]:
    return chunks(text, key.removesuffix(suffix) + suffix, title).pieces


def assert_verbatim(text: str, pieces: tuple[Piece, ...]) -> None:
    """Each piece stands at its lines, and begins and ends on them."""
    lines = text.removeprefix("\ufeff").split("\n")
    for piece in pieces:
        there = "\n".join(lines[piece.start - 1 : piece.end])
        assert piece.text in there
        assert piece.text.strip()
        assert piece.text.count("\n") == piece.end - piece.start


def paragraphs(count: int, first: int = 0) -> list[str]:
    return [(PARAGRAPH.format(number) * 2).strip() for number in range(first, first + count)]


@pytest.mark.clause("RT-11")
def test_each_section_that_fits_is_one_passage_with_its_heading() -> None:
    text = "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n### Linux\n\nMore.\n\n## Use\n\n```\n# code\n```\n"
    pieces = cut(text, title="Guide")
    assert [(piece.heading, piece.start, piece.end) for piece in pieces] == [
        ("Guide", 1, 3),
        ("Install", 5, 7),
        ("Linux", 9, 11),
        ("Use", 13, 17),
    ]
    assert_verbatim(text, pieces)


@pytest.mark.clause("RT-11")
def test_a_heading_without_a_body_goes_with_what_follows() -> None:
    text = "# Guide\n\n## Install\n### Linux\nRun it.\n\n## Last\n"
    pieces = cut(text)
    assert [(piece.heading, piece.start, piece.end) for piece in pieces] == [("Linux", 1, 5), ("Last", 7, 7)]
    assert cut("Title\n=====\n\nSub\n---\n\ntext\n")[0].start == 1


@pytest.mark.clause("RT-11")
def test_text_before_the_first_heading_and_blank_documents() -> None:
    assert [(piece.heading, piece.text) for piece in cut("what stands before\n\n# A\ntext\n")] == [
        ("", "what stands before"),
        ("A", "# A\ntext"),
    ]
    (anchored,) = cut("(anchor)=\n\n# A\ntext\n")
    assert (anchored.heading, anchored.start, anchored.text) == ("A", 1, "(anchor)=\n\n# A\ntext")
    assert cut("") == cut(" \n\t\n") == ()
    assert [piece.text for piece in cut("# not a heading\n", ".txt")] == ["# not a heading"]


@pytest.mark.clause("RT-11")
def test_a_long_section_is_cut_between_paragraphs() -> None:
    blocks = paragraphs(30)
    text = "# Long\n\n" + "\n\n".join(blocks) + "\n"
    pieces = cut(text)
    assert_verbatim(text, pieces)
    assert len(pieces) > 3
    assert all(TARGET / 2 <= size(piece.text) <= LIMIT for piece in pieces[:-1])
    assert {piece.heading for piece in pieces} == {"Long"}
    for before, after in pairwise(pieces):
        assert before.text.endswith(".")
        assert before.end < after.start
        assert after.text[0] == "E", "what follows a cut begins with a sentence"


@pytest.mark.clause("RT-11")
def test_list_items_and_fences_stay_whole() -> None:
    items = [f"- item {number}: " + "words of an item " * 8 + "\n  goes on here" for number in range(40)]
    fence = "```python\n" + "\n\n".join(f"value_{number} = {number}" for number in range(40)) + "\n```"
    text = "# L\n\n" + "\n".join(items) + "\n\n" + fence + "\n\n" + "\n\n".join(paragraphs(8)) + "\n"
    pieces = cut(text)
    assert_verbatim(text, pieces)
    assert sum(fence in piece.text for piece in pieces) == 1
    assert all(piece.text.count("```") in (0, 2) for piece in pieces)
    assert all(piece.text.startswith(("# L", "- item", "```", "Every")) for piece in pieces)
    assert all(any(item in piece.text for piece in pieces) for item in items)


@pytest.mark.clause("RT-11")
def test_a_table_stays_whole_where_lines_could_be_cut() -> None:
    rows = [f"| option {number} | what it does, said in a few words |" for number in range(30)]
    table = "\n".join(["| name | meaning |", "|:--|--:|", *rows])
    text = "# T\n\n" + "words in lines\n" * 60 + "\n" + table + "\n\n" + "more words in lines\n" * 60
    pieces = cut(text)
    assert_verbatim(text, pieces)
    assert sum(table in piece.text for piece in pieces) == 1
    assert sum("option 7 " in piece.text for piece in pieces) == 1


@pytest.mark.clause("RT-11")
@pytest.mark.parametrize(
    "text",
    [
        "# T\n\n" + "x" * 50_000 + "\n",
        "# T\n\n" + "word " * 10_000 + "\n",
        "# T\n\n" + "漢字仮名。" * 5_000 + "\n",
        "```\n" + "code(1, 2)\n" * 3_000 + "```\n",
        "```\n" + "y" * 30_000 + "\n```\n",
        "| a | b |\n|---|---|\n" + "| cell | cell |\n" * 2_000,
        "- " + "nested\n  - deep\n" * 3_000,
        "> quoted line\n" * 2_000,
        "a\n" * 20_000,
    ],
)
def test_text_without_paragraphs_is_still_cut_within_the_limit(text: str) -> None:
    pieces = cut(text)
    assert_verbatim(text, pieces)
    assert all(size(piece.text) <= LIMIT for piece in pieces)
    assert all(before.end <= after.end for before, after in pairwise(pieces))
    covered = {line for piece in pieces for line in range(piece.start, piece.end + 1)}
    said = {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert said <= covered


LONG = ["A sentence that is said. Another one! And a third?", "word " * 120, "漢字。" * 150, "z" * 700]
SHORT = [
    "",
    "",
    "# Head",
    "## Sub #",
    "Under",
    "===",
    "---",
    "```",
    "~~~",
    "- item",
    "  more",
    "    code",
    "> q",
    "\t",
]
LINES = st.sampled_from(LONG + SHORT)


@pytest.mark.clause("RT-13")
@settings(max_examples=150)
@given(
    st.lists(LINES, max_size=60), st.sampled_from([".md", ".rst", ".txt"]), st.sampled_from(["\n", "\r\n"])
)
def test_every_passage_stands_verbatim_at_its_lines_and_nothing_is_left_out(
    lines: list[str], suffix: str, end: str
) -> None:
    text = end.join(lines)
    pieces = cut(text, suffix)
    assert_verbatim(text, pieces)
    assert all(size(piece.text) <= LIMIT for piece in pieces)
    covered = {line for piece in pieces for line in range(piece.start, piece.end + 1)}
    said = {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert said <= covered
    assert [(piece.start, piece.end) for piece in pieces] == sorted(
        (piece.start, piece.end) for piece in pieces
    )


@pytest.mark.clause("RT-14")
def test_a_passage_carries_its_title_its_heading_path_and_its_names() -> None:
    text = "# Guide\n\nIntro.\n\n## Install\n\ntext\n\n### On Linux\n\nmore\n\n## Use\n\ntext\n"
    by_heading = {piece.heading: piece for piece in cut(text, title="Guide", key="docs/guide.md")}
    linux = by_heading["On Linux"]
    assert linux.context == "Guide\nInstall > On Linux"
    assert linux.facts == {"path": ["Guide", "Install", "On Linux"]}
    assert set(linux.names.split()) == {"Guide", "docs", "guide", "Install", "On", "Linux"}
    assert by_heading["Use"].facts == {"path": ["Guide", "Use"]}
    assert by_heading["Guide"].context == "Guide"
    assert "Guide" not in linux.text


@pytest.mark.clause("RT-14")
def test_a_base_name_that_stands_for_a_title_is_named_once() -> None:
    (piece,) = cut("text\n", title="retry-rules.md", key="docs/retry-rules.md")
    assert piece.names.split() == ["docs", "retry-rules"]
    assert piece.context == "retry-rules.md"


@pytest.mark.clause("RT-10", "RT-14")
def test_a_heading_of_any_length_takes_little_room_in_each_passage() -> None:
    text = "a line of a heading\n" * 20_000 + "---\n\n" + "and a word of its body. " * 2000
    pieces = cut(text)
    assert len(pieces) > 200
    assert sum(len(each.context) + len(each.names) + len(each.heading) for each in pieces) < 10 * len(text)
    assert_verbatim(text, pieces)


@pytest.mark.parametrize(("suffix", "title"), [(".md", "Own"), (".txt", "a.txt")])
def test_a_document_without_a_given_title_has_its_own(suffix: str, title: str) -> None:
    found = chunks("# Own\n\ntext\n", f"docs/a{suffix}")
    assert (found.title, found.pieces[0].context) == (title, title)
