"""Descriptions over several pages: blocks come whole, larger ones are shown as their source."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from context_pack.kernel.markdown import escape_structure
from context_pack.packs.pages import Body, Style, part
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
        count = draw(st.integers(1, 8))
        body = [f"{lead}mark_{len(lines)}{number} " + "y" * (7 * number) for number in range(count)]
        lines += [*opening.split("\n"), *body, closing, ""]
    return "\n".join(lines[: draw(st.integers(1, len(lines)))])


@pytest.mark.clause("PK-48", "PK-52")
@settings(max_examples=300)
@given(descriptions(), st.integers(120, 400))
def test_the_parts_of_a_description_fit_show_everything_once_and_forge_nothing(text: str, room: int) -> None:
    safe = escape_structure(text)
    body, line, marks = Body(Style.PROSE, safe.split("\n")), 0, []
    assert part(body, 0, None).text == safe
    while True:
        shown = part(body, line, room)
        assert size(shown.text) <= room
        assert escape_structure(shown.text) == shown.text
        marks += MARK.findall(shown.text)
        whole = [token for token in MarkdownIt("commonmark").parse(shown.text) if token.type == "fence"]
        assert not any(token.info == "markdown" for token in whole[1:])
        if shown.next is None:
            break
        assert shown.next > line
        line = shown.next
    assert marks == MARK.findall(text)
