"""No field, file name or source line can forge the legend, a section, a ref or a fence.

A CommonMark parser judges: it must find exactly the structure that the pack has.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept_texts import resolve
from markdown_it import MarkdownIt
from sample_packs import sample_pack

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange, is_single_line
from context_pack.packs.anchors import SourceText, anchor_of
from context_pack.packs.model import Diagram, Pack, Ref, Section
from context_pack.packs.render import LEAST_ROOM, Bookmark, render
from context_pack.packs.states import Resolution
from context_pack.toolkit.budget import size

pytestmark = pytest.mark.slow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
INLINE = [
    "a", " ", "#", "## x [main]", "```", "````", "`", "~~~", "[LEGEND]", "[CONTENT]", "- ", "> ", "    ",
    "<!--", "<div>", "<script>", "-->", "---", "===", "1. ", "*", "**", "|", "\\", "[a]: ", "!",
    "(continued)", "é", "\u00a0",
]  # fmt: skip
BREAKS = ["\n", "\n\n", "\r", "\r\n", "\t", "\u2028", "\x85", "\x0c", "\x0b", "\x00"]

lines_of_text = st.lists(st.sampled_from(INLINE), min_size=1, max_size=6).map("".join)
one_line = lines_of_text.filter(lambda text: bool(text.strip()) and is_single_line(text))
block = st.lists(st.sampled_from(INLINE + BREAKS + BREAKS), min_size=1, max_size=25).map("".join)
name = st.lists(
    st.sampled_from(["a", "#", "`", "```", "[LEGEND]", " ", "- ", "<!--", "*"]), min_size=1, max_size=5
)
file_name = name.map(lambda parts: "".join(parts) + ".py")


@st.composite
def packs(draw: st.DrawFn) -> tuple[Pack, SourceText]:
    """A pack whose every text is hostile, and the one source text behind all its refs."""
    source = SourceText(RelativePath("src/app.py"), draw(block) + "\nend")
    sections = []
    for number in range(draw(st.integers(1, 2))):
        refs = []
        for index in range(draw(st.integers(0, 3))):
            lines = LineRange(1, draw(st.integers(1, source.count + 1)))
            path = RelativePath(draw(file_name).replace("//", "/"))
            group = draw(st.none() | one_line)
            anchor = draw(st.sampled_from([None, anchor_of(source, lines)]))
            title, why = draw(st.none() | one_line), draw(st.none() | one_line)
            refs.append(Ref(f"ref{index}", path, lines, title, why, group, anchor))
        mermaid = draw(block.filter(lambda text: bool(text.strip())))
        diagrams = [Diagram("dia", draw(one_line), mermaid, draw(st.none() | one_line))][
            : draw(st.integers(0, 1))
        ]
        sections.append(Section(f"sec{number}", draw(one_line), draw(st.none() | block), refs, diagrams))
    texts: dict[str, Any] = {"title": draw(st.none() | one_line), "brief": draw(st.none() | one_line)}
    texts["tags"] = draw(st.lists(one_line, max_size=2))
    pack = sample_pack(now=NOW, sections=sections, **texts)
    return pack, source


def levels_of(pack: Pack) -> list[int]:
    """The levels of the headings that the pack has, in order."""
    levels = [1]
    for section in pack.sections:
        groups = [ref.group or "" for ref in section.refs]
        refs = [
            level for name in sorted(set(groups)) for level in [3] * bool(name) + [4] * groups.count(name)
        ]
        levels += [2, *refs, *([3] if section.diagrams else []), *([4] * len(section.diagrams))]
    return levels


def code_of(ref: Ref, resolution: Resolution) -> str:
    """The text that a ref's fence must hold, as CommonMark reads line ends."""
    lines = (resolution.excerpt or "").split("\n")
    width = max(4, len(str(ref.lines.end)))
    code = "".join(f"{ref.lines.start + index:>{width}}: {line}\n" for index, line in enumerate(lines))
    return normal(code)


def normal(text: str) -> str:
    """A text as the CommonMark parser normalises it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")


@pytest.mark.clause("PK-48")
@settings(max_examples=400)
@given(packs())
def test_a_parser_finds_exactly_the_packs_own_structure(made: tuple[Pack, SourceText]) -> None:
    pack, source = made
    text = render(pack, lambda ref: resolve(ref, source), NOW).text
    tokens = MarkdownIt("commonmark").parse(text)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open" and token.tag < "h5"]
    assert levels == levels_of(pack)
    fenced = {number for token in tokens if token.type == "fence" for number in range(*token.map or ())}
    lines = [line for number, line in enumerate(normal(text).split("\n")) if number not in fenced]
    assert [line for line in lines if line in ("[LEGEND]", "[CONTENT]")] == ["[LEGEND]", "[CONTENT]"]
    fences = iter([token.content for token in tokens if token.type == "fence" and token.level == 0])
    for section in pack.sections:
        for ref in sorted(section.refs, key=lambda ref: ref.group or ""):
            if ref.lines.end <= source.count:
                assert code_of(ref, resolve(ref, source)) in fences
        for diagram in section.diagrams:
            assert normal(diagram.mermaid) + "\n" in fences


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
