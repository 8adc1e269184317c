"""Descriptions over several pages: a code fence that a page break goes through stays a code fence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from context_pack.kernel.markdown import escape_structure
from context_pack.packs.pages import Body, BodyPart, Style, part
from context_pack.toolkit.budget import size

MARK = re.compile(r"(?:code|text)_\d+")
CURSOR = re.compile(r'"cursor": "([^"]+)"')


def pieces(description: str, room: int) -> Iterator[BodyPart]:
    """The parts of a description that fit into so many bytes each."""
    body, line = Body(Style.PROSE, escape_structure(description).split("\n")), 0
    for _ in range(20_000):
        shown = part(body, line, room)
        yield shown
        if shown.next is None:
            return
        assert shown.next > line
        line = shown.next
    pytest.fail("the pieces never end")


def fences_in(text: str) -> list[tuple[str, str]]:
    """The fences that a CommonMark reader finds: info string and content."""
    return [
        (token.info, token.content) for token in MarkdownIt("commonmark").parse(text) if token.type == "fence"
    ]


def marks(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The marked lines of a page: those in fences with their info strings, and those outside."""
    fences = fences_in(text)
    inside = [(info, mark) for info, content in fences for mark in MARK.findall(content)]
    fenced = {mark for _, mark in inside}
    return inside, [mark for mark in MARK.findall(text) if mark not in fenced]


@pytest.mark.clause("PK-48", "PK-52")
@pytest.mark.parametrize("info", ["sh", "python title=a.py {1,3}", ""])
@pytest.mark.parametrize("run", ["```", "~~~", "`````"])
def test_a_fence_goes_on_over_the_page_and_what_follows_is_prose_again(
    desk: Any, info: str, run: str
) -> None:
    pack = desk.create()
    code = [f"# code_{number} " + "x" * 30 for number in range(90)]
    text = ["intro text_1", run + info, *code, run, "outro text_2", "", "# text_3", "text_4"]
    desk.section(pack, section_description="\n".join(text))
    page, pages = desk.output(id=pack, max_tokens=500), []
    while True:
        pages.append(page)
        found = CURSOR.search(page)
        if found is None:
            break
        page = desk.output(cursor=found[1], max_tokens=500)
    assert len(pages) > 2
    for page in pages[1:-1]:
        shown = page.split("(continued)\n")[1].split("\n\n> truncated")[0].split("\n")
        assert (shown[0], shown[-1]) == (run + info, run)
    assert [line for page in pages for line in page.split("\n") if line.startswith("# code")] == code
    assert [mark for page in pages for _, mark in marks(page)[0]] == MARK.findall("\n".join(code))
    assert {info for page in pages for info, _ in fences_in(page)} == {info}
    assert pages[-1].endswith(f"{run}\noutro text_2\n\n\\# text_3\ntext_4")


block_kinds = st.sampled_from(
    ["prose", "fence", "tilde", "shifted", "listed", "deep", "quoted", "bare", "list"]
)


@st.composite
def descriptions(draw: st.DrawFn) -> str:
    """Prose, lists and fences of all kinds, every line of it marked as code or as text."""
    lines: list[str] = []
    number = 0
    for kind in draw(st.lists(block_kinds, min_size=1, max_size=6)):
        body = []
        for _ in range(draw(st.integers(1, 8))):
            number += 1
            body.append(("" if kind in ("prose", "list") else "# ") + f"code_{number} " + "y" * (number % 23))
        as_text = [line.replace("code", "text") for line in body]
        lines += {
            "prose": as_text,
            "list": [f"- {line}" for line in as_text],
            "fence": ["```sh", *body, "```"],
            "tilde": ["~~~~ sh", *body, "```", "~~~~"],
            "bare": ["```", *body, "```"],
            "shifted": ["  ```sh", *(f"  {line}" for line in body), "  ```"],
            "listed": [f"- text_{number}00", "", "  ```sh", *(f"  {line}" for line in body), "  ```"],
            "deep": [
                f"100. text_{number}00",
                "",
                "     ```sh",
                *(f"     {line}" for line in body),
                "     ```",
            ],
            "quoted": ["> ```sh", *(f"> {line}" for line in body), "> ```", f"> text_{number}00"],
        }[kind]
        lines.append("")
    return "\n".join(lines[: draw(st.integers(1, len(lines)))])


@pytest.mark.clause("PK-48", "PK-52")
@settings(max_examples=400)
@given(descriptions(), st.integers(120, 400))
def test_code_stays_code_and_text_stays_text_wherever_the_cut_is(description: str, room: int) -> None:
    inside, outside = marks(escape_structure(description))
    parts = list(pieces(description, room))
    assert all(size(part.text) <= room for part in parts)
    found = [marks(part.text) for part in parts]
    assert [one for fenced, _ in found for one in fenced] == inside
    assert [one for _, plain in found for one in plain] == outside
    shown = [line for part in parts for line in part.text.split("\n") if MARK.search(line)]
    # Behind a backslash stands what would be a heading: which lines those are depends on the page.
    wanted = [line for line in escape_structure(description).split("\n") if MARK.search(line)]
    assert [line.replace("\\", "") for line in shown] == [line.replace("\\", "") for line in wanted]
    for shown_part in parts:
        assert escape_structure(shown_part.text) == shown_part.text
