"""Sections by heading: which one is meant, where it ends, and that its text is verbatim."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.documents.sections import find_section, wanted_heading
from context_pack.retrieval.headings import headings

GUIDE = """\
# Guide

Intro.

## Setup

Install it.

### Linux

Use the package.

## Setup notes

Second
"""


@pytest.mark.clause("DC-52")
def test_a_section_runs_to_the_next_heading_of_its_level() -> None:
    found = find_section("guide.md", GUIDE, "setup", True)
    assert found is not None
    assert (found.heading, found.level, found.start, found.end) == ("Setup", 2, 5, 12)
    assert found.content == "## Setup\n\nInstall it.\n\n### Linux\n\nUse the package.\n"
    short = find_section("guide.md", GUIDE, "## Setup  ", False)
    assert short is not None
    assert (short.start, short.end, short.content) == (5, 8, "## Setup\n\nInstall it.\n")


@pytest.mark.clause("DC-52")
def test_an_exact_heading_wins_over_one_that_contains_the_text() -> None:
    text = "# Setup for all\n\nx\n\n# SETUP\n\ny\n"
    found = find_section("a.md", text, "setup", True)
    assert found is not None
    assert (found.heading, found.start) == ("SETUP", 5)
    part = find_section("a.md", text, "for", True)
    assert part is not None
    assert part.heading == "Setup for all"
    assert find_section("a.md", text, "nothing", True) is None


@pytest.mark.clause("DC-52")
def test_the_last_section_ends_with_the_document() -> None:
    found = find_section("guide.md", GUIDE, "Setup notes", True)
    assert found is not None
    assert (found.start, found.end, found.content) == (13, 15, "## Setup notes\n\nSecond")
    open_end = find_section("guide.md", GUIDE.rstrip("\n"), "Setup notes", True)
    assert open_end is not None
    assert (open_end.end, open_end.content) == (15, "## Setup notes\n\nSecond")


@pytest.mark.clause("DC-52")
def test_line_ends_of_windows_stay_and_count_like_others() -> None:
    found = find_section("guide.md", GUIDE.replace("\n", "\r\n"), "Setup", True)
    assert found is not None
    assert (found.start, found.end) == (5, 12)
    assert found.content.startswith("## Setup\r\n\r\nInstall it.\r\n")


@pytest.mark.clause("DC-52")
@pytest.mark.parametrize(
    "given_text, wanted", [("  ## A b ", "A b"), ("###", ""), (" ", ""), ("a # b", "a # b")]
)
def test_the_argument_is_trimmed_and_loses_leading_hashes(given_text: str, wanted: str) -> None:
    assert wanted_heading(given_text) == wanted


@given(
    st.lists(st.sampled_from(["# A", "## B", "### C", "text", "", "```", "Setext\n==="]), max_size=20),
    st.booleans(),
)
@settings(max_examples=80)
def test_every_section_stands_verbatim_at_its_lines(lines: list[str], subsections: bool) -> None:
    text = "\n".join(lines)
    rows = text.split("\n")
    for heading in headings(text, "x.md"):
        if not heading.text:
            continue
        found = find_section("x.md", text, heading.text, subsections)
        assert found is not None
        assert found.content == "\n".join(rows[found.start - 1 : found.end])
        assert found.start <= found.end <= len(rows)
