"""Descriptions over several pages: blocks come whole, larger ones are shown as their source."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sample_packs import sample_pack

from context_pack.packs.model import Section
from context_pack.packs.render import LEAST_ROOM, Bookmark, render
from context_pack.toolkit.budget import size

MARK = re.compile(r"mark_\d+")
KINDS = {
    "prose": ("", "", ""),
    "list": ("- ", "", ""),
    "fence": ("# ", "```sh", "```"),
    "tilde": ("# ", "~~~~ sh", "~~~~"),
    "listed": ("  # ", "- item\n\n  ```sh", "  ```"),
    "quoted": ("> # ", "> ```sh", "> ```"),
    "deep": ("     # ", "100. item\n\n     ```sh", "     ```"),
}


@st.composite
def descriptions(draw: st.DrawFn) -> str:
    """Prose, lists and fences of all kinds, each line with a mark of its own; the last may be open."""
    lines: list[str] = []
    for kind in draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=6)):
        lead, opening, closing = KINDS[kind]
        count = draw(st.integers(1, 20))
        body = [f"{lead}mark_{len(lines)}{number} " + "y" * (29 * number) for number in range(count)]
        lines += [*opening.split("\n"), *body, closing, ""]
    return "\n".join(lines[: draw(st.integers(1, len(lines)))])


@pytest.mark.clause("PK-48", "PK-52")
@settings(max_examples=100)
@given(descriptions())
def test_the_parts_of_a_description_fit_show_everything_once_and_forge_nothing(text: str) -> None:
    pack = sample_pack(sections=(Section("main", "Main", text),), revision=3)
    at, marks = (0, 0), []
    while True:
        page = render(pack, lambda _: pytest.fail("no refs"), pack.created_at, max_tokens=500, at=at)
        assert size(page.text) <= LEAST_ROOM
        tokens = MarkdownIt("commonmark").parse(page.text)
        assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2"]
        marks += MARK.findall(page.text)
        if page.cursor is None:
            break
        mark = Bookmark.decode(page.cursor)
        assert (mark.item, mark.line) > at
        at = mark.item, mark.line
    assert marks == MARK.findall(text)
