"""Foreign text in our Markdown: fences that hold, single lines, and descriptions that forge nothing.

The strongest test here lets a CommonMark parser find the structure of a rendered section: whatever the
description says, it must find our own headings and nothing else.
"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hanging import never_hanging
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from context_pack.kernel.markdown import escape_structure
from context_pack.kernel.text import fence_for, fenced, is_single_line, single_line

COMMONMARK = MarkdownIt("commonmark", {"maxNesting": 200})
HEAD = "[LEGEND]\n# Context pack: P\n\n[CONTENT]\n## Title [key]\n"
TAIL = "\n\n### group: core\n#### ref [key]\n\n```py\n   1: x\n```\n"

PAYLOADS = st.sampled_from(
    [
        *(
            "",
            "text",
            "# x",
            "## y [k]",
            "#### z",
            "#",
            "##### five",
            "===",
            "---",
            "-",
            "* * *",
            "a | b",
            "|-|",
        ),
        *("```", "```py", "````", "~~~", "~~~ a`b", "```a`b", "`", "\\", "***"),
        *("<div>", "<!--", "-->", "<pre>", "<?x", "</p>", "[LEGEND]", "[CONTENT]", "[CONTENT]: /x", "[x]: <"),
    ]
)
INDENTS = st.sampled_from(["", "", "", " ", "  ", "   ", "    ", "      ", "\t", " \t"])
MARKERS = st.sampled_from(
    ["", "", "", "- ", "1. ", "10)  ", "> ", ">", "> > ", "-   ", "-\t", "+ - ", "> - "]
)
LINES = st.builds("{}{}{}{}".format, INDENTS, MARKERS, INDENTS, PAYLOADS)
BREAKS = st.sampled_from(["\n", "\n", "\n", "\n\n", "\r", "\r\n", "\u2028", "\x85", "\f"])
DESCRIPTIONS = st.lists(st.builds("{}{}".format, LINES, BREAKS), max_size=8).map("".join)


def parsed_headings(document: str) -> list[tuple[int, str]]:
    """Headings of level 1-4 as a CommonMark parser finds them, nested ones too."""
    tokens = COMMONMARK.parse(document)
    pairs = pairwise(tokens)
    levels = [(int(token.tag[1]), text.content) for token, text in pairs if token.type == "heading_open"]
    return [(level, text) for level, text in levels if level <= 4]


LANDMARK = re.compile(r"[ \t>*+-]*\[(LEGEND|CONTENT)\]\s*", re.IGNORECASE)


@pytest.mark.clause("KN-25")
@settings(max_examples=400)
@given(DESCRIPTIONS | st.text("#=-`~> \n<![]LEGNDCOT1.\\", max_size=40))
@example("> text\n     ```\n     >   ---\n# x")
@example("1. a\n   ```\n   code\n# Title\n   ```\n")
@example("- ```\n  code\n  ```\n# x")
@example("- a\n> text\n    ```\n    > ===\n")
@example("<div>\n```\n\n# x\n```")
@example("a\n-")
def test_no_description_forges_structure(description: str) -> None:
    document = HEAD + escape_structure(description) + TAIL
    ours = ["# Context pack: P", "## Title [key]", "### group: core", "#### ref [key]"]
    assert parsed_headings(document) == [(line.count("#"), line.lstrip("# ")) for line in ours]
    landmarks = [line for line in document.split("\n") if LANDMARK.fullmatch(line)]
    assert landmarks == ["[LEGEND]", "[CONTENT]"]


@pytest.mark.slow
@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    "unit", ["> ", " ", "- ", "1. ", "`", "-", "# a\n", "```\n", "\t", "- a\n      ```\n> x\n"]
)
def test_no_long_hostile_text_hangs(unit: str) -> None:
    count = 100_000 // len(unit)
    with never_hanging():
        assert len(escape_structure(unit * count)) >= count


@pytest.mark.clause("KN-25")
@given(st.text("`~a \n\r", max_size=30))
def test_a_fence_holds_whatever_is_inside(text: str) -> None:
    fence = fence_for(text)
    assert fence not in text
    assert set(fence) == {"`"}
    runs = [len(run) for run in re.findall("`+", text)]
    assert len(fence) == max(3, max(runs, default=0) + 1)
    block = COMMONMARK.parse(f"{fenced(text, 'py')}\n# after")
    assert [token.type for token in block[:2]] == ["fence", "heading_open"]
    assert block[0].info == "py"


@pytest.mark.clause("KN-25")
@given(st.text())
def test_a_single_line_has_no_break_for_any_reader(text: str) -> None:
    line = single_line(text)
    assert is_single_line(line)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    if is_single_line(text):
        assert line == text.strip()


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    "char", ["\n", "\r", "\t", "\0", "\x1b", "\x7f", "\x85", "\x9f", "\u2028", "\u2029", "\ud800"]
)
def test_breaks_and_control_characters_make_it_more_than_one_line(char: str) -> None:
    assert not is_single_line(f"a{char}b")
    assert single_line(f" a{char}{char}b ") == "a b"


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    ("text", "safe"),
    [
        *[(f"{head}# x", f"{head}\\# x") for head in ("", "   ", "> ", "- ", "1. > ", "text\n")],
        ("#### x\n##\tx\n#", "\\#### x\n\\##\tx\n\\#"),
        ("text\r# x\r\n# y", "text\n\\# x\n\\# y"),
        *[(f"Title\n{line}\nx", f"Title\n\\{line}\nx") for line in ("===", "---", "=", "-")],
        ("> Title\n>   ==", "> Title\n>   \\=="),
        ("- a\n  -", "- a\n  \\-"),
        ("- a\n  - b\n\n      # x", "- a\n  - b\n\n      \\# x"),
        ("[LEGEND]\n> [content]: /x\n    [CONTENT]", "\\[LEGEND]\n> \\[content]: /x\n    \\[CONTENT]"),
        ("```\n[LEGEND]\n```", "```\n\\[LEGEND]\n```"),
        ("```\n# x", "```\n# x\n```"),
        ("~~~~ py\n# x\n~~~", "~~~~ py\n# x\n~~~\n~~~~"),
        ("1. a\n   ```\n# x", "1. a\n   ```\n\\# x"),
        ("<details>\ntext", "\\<details>\ntext"),
        ("</details>\n\n<details>", "\\</details>\n\n\\<details>"),
        *[(html, f"\\{html}") for html in ("<h2>T</h2>", "<!--", "<div>", "<pre", "<?php", "<x-y a='b'>")],
    ],
)
def test_what_would_make_structure_is_escaped_or_closed(text: str, safe: str) -> None:
    assert escape_structure(text) == safe
    assert escape_structure(safe) == safe


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "plain words",
            "##### five",
            "#hashtag and #12",
            "a # b",
            "\\# x",
            "a\n\n---\n\nb",
            "---\ntext",
        ),
        *("- one\n-\n- three", "- one\nmore\n---\ntext", "***\n---", "| a | b |\n|---|---|\n| 1 | 2 |"),
        *(
            "text\n\n    # in indented code\n",
            "- step\n\n      # as root",
            "1. step\n\n       # as root\n       ---",
        ),
        *("**bold** `code` <https://example.org> a<b", "see [content](x.md) and [CONTENT]s"),
        *(
            "```sh\n# comment\n===\n<div>\n```",
            "~~~\n# x\n```\n~~~",
            "````\n```\n# x\n```\n````",
            "> ```\n> x\n> ```",
        ),
        *("1. run\n   ```sh\n   # comment\n   ```\n2. done", "<kbd>Ctrl</kbd> stops it", "<p>\ntext\n</p>"),
        "<details>\n<summary>Log</summary>\n\n```\n# x\n```\n\n</details>",
    ],
)
def test_other_markdown_stays_as_it_was(text: str) -> None:
    assert escape_structure(text) == text
