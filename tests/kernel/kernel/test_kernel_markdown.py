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


@pytest.mark.clause("KN-28")
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


@pytest.mark.clause("KN-28")
@given(DESCRIPTIONS)
def test_escaping_markdown_twice_changes_nothing_more(description: str) -> None:
    once = escape_structure(description)
    assert escape_structure(once) == once


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    ("line", "safe"),
    [
        ("# x", "\\# x"),
        ("#### x", "\\#### x"),
        ("   ## x", "   \\## x"),
        ("#", "\\#"),
        ("##\tx", "\\##\tx"),
        ("> # x", "> \\# x"),
        ("- ## x", "- \\## x"),
        ("1. > ### x", "1. > \\### x"),
    ],
)
def test_headings_of_level_one_to_four_are_escaped(line: str, safe: str) -> None:
    assert escape_structure(line) == safe
    assert escape_structure(f"before\n{line}\nafter") == f"before\n{safe}\nafter"


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "##### five",
        "###### six",
        "#hashtag and #12",
        "#include <stdio.h>",
        "a # b",
        "\\# x",
        "text\n\n    # comment in indented code\n",
        "a\n\n---\n\nb",
        "- one\n- two\n  more\n\n1. three",
        "> quoted\n> more",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "**bold** `code` <https://example.org> a<b",
        "see [content](x.md) and [CONTENT]s",
        "",
    ],
)
def test_ordinary_markdown_is_not_escaped(text: str) -> None:
    assert escape_structure(text) == text


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize("underline", ["===", "---", "=", "-", "  ==", "--  "])
def test_underlined_headings_are_escaped(underline: str) -> None:
    bare = underline.lstrip()
    safe = underline.replace(bare, f"\\{bare}")
    assert escape_structure(f"Title\n{underline}\nx") == f"Title\n{safe}\nx"
    assert escape_structure(f"> Title\n> {underline}") == f"> Title\n> {safe}"


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize("break_", ["\r", "\r\n"])
def test_no_line_break_hides_a_heading(break_: str) -> None:
    assert escape_structure(f"text{break_}# x") == "text\n\\# x"


@pytest.mark.clause("KN-26")
@pytest.mark.parametrize("mark", ["[LEGEND]", "[CONTENT]"])
def test_landmark_lines_are_escaped_everywhere(mark: str) -> None:
    assert escape_structure(f"{mark}\n  {mark}  \n> {mark}") == f"\\{mark}\n  \\{mark}  \n> \\{mark}"
    assert escape_structure(f"```\n{mark}\n```") == f"```\n\\{mark}\n```"
    assert escape_structure(f"    {mark}") == f"    \\{mark}"
    assert escape_structure(f"{mark.lower()}: /x") == f"\\{mark.lower()}: /x"


@pytest.mark.clause("KN-27")
@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# comment\n## x\n===\n<div>\n```",
        "~~~\n# x\n```\n~~~",
        "````\n```\n# x\n```\n````",
        "```\n    ```\n# x\n```",
        "1. run\n   ```sh\n   # comment\n   ```\n2. done",
        "- run\n\n      ```sh\n      # comment\n      ```",
        "> ```\n> code\n> ```",
        "   ```\n   # x\n   ```",
        "1. run\n   ```\n   > # x\n   ```",
    ],
)
def test_a_closed_fence_keeps_its_content(text: str) -> None:
    assert escape_structure(text) == text


@pytest.mark.clause("KN-27")
@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("```\n# x", "```\n# x\n```"),
        ("~~~~ py\n# x\n~~~", "~~~~ py\n# x\n~~~\n~~~~"),
        ("`````\n````", "`````\n````\n`````"),
        ("1. a\n   ```\n   x", "1. a\n   ```\n   x\n   ```"),
        ("1. a\n   ```\n# x", "1. a\n   ```\n\\# x"),
        ("```\nx\n```y", "```\nx\n```y\n```"),
    ],
)
def test_an_unclosed_fence_is_closed_with_the_same_marker(text: str, safe: str) -> None:
    assert escape_structure(text) == safe


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    "text",
    [
        "---\ntext",
        "===",
        "- one\n-\n- three",
        "1. one\n-",
        "- one\nmore\n---\ntext",
        "```\nx\n```\n---",
        "***\n---",
        "- step\n\ntext\n\n    # as root",
        "- step\n\n      # as root",
        "1. step\n\n       # as root\n       ---",
        "- a\n  - b\n\n        # as root",
        "- a\n```\nx\n```\n    # as root",
    ],
)
def test_lines_that_only_resemble_headings_are_not_escaped(text: str) -> None:
    assert escape_structure(text) == text


@pytest.mark.clause("KN-25")
@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("- a\n  -", "- a\n  \\-"),
        ("-\nfoo\n-", "-\nfoo\n\\-"),
        ("- ***\nfoo\n-", "- ***\nfoo\n\\-"),
        ("- ##### five\nfoo\n-", "- ##### five\nfoo\n\\-"),
        ("-     code\nfoo\n-", "-     code\nfoo\n\\-"),
        ("- [x]: /u\nfoo\n-", "- [x]: /u\nfoo\n\\-"),
        ("text\n2. foo\n-", "text\n2. foo\n\\-"),
        ("- a\n  - b\n\n      # x", "- a\n  - b\n\n      \\# x"),
    ],
)
def test_a_heading_in_or_below_a_list_is_escaped(text: str, safe: str) -> None:
    assert escape_structure(text) == safe


@pytest.mark.clause("KN-28")
@pytest.mark.parametrize(
    "text",
    [
        "<details>\n<summary>Log</summary>\n\n```\n# x\n```\n\n</details>",
        "<kbd>Ctrl</kbd> stops it",
        "- <b>one</b>\n- <br>",
        "<p>\ntext\n</p>",
    ],
)
def test_a_closed_html_tag_is_not_escaped(text: str) -> None:
    assert escape_structure(text) == text


@pytest.mark.clause("KN-28")
@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("<details>\ntext", "\\<details>\ntext"),
        ("</details>\n\n<details>", "\\</details>\n\n\\<details>"),
        ("<h2>Title [key]</h2>", "\\<h2>Title [key]</h2>"),
    ],
)
def test_unclosed_and_heading_html_tags_are_escaped(text: str, safe: str) -> None:
    assert escape_structure(text) == safe


@pytest.mark.clause("KN-28")
@pytest.mark.parametrize(
    "opening", ["<!--", "<div>", "<pre", "<?php", "<![CDATA[", "<!DOCTYPE", "<x-y a='b'>"]
)
def test_html_blocks_are_escaped(opening: str) -> None:
    assert escape_structure(opening) == f"\\{opening}"
    assert escape_structure(f"- {opening}") == f"- \\{opening}"


@pytest.mark.slow
@pytest.mark.clause("KN-28")
@pytest.mark.parametrize(
    "unit", ["> ", " ", "- ", "1. ", "`", "-", "# a\n", "```\n", "\t", "- a\n      ```\n> x\n"]
)
def test_no_long_hostile_text_hangs(unit: str) -> None:
    count = 100_000 // len(unit)
    with never_hanging():
        assert len(escape_structure(unit * count)) >= count


@pytest.mark.clause("KN-28")
def test_a_fence_far_to_the_right_makes_no_text_many_times_longer() -> None:
    text = "- a\n" + " " * 20_000 + "```\n" + "x\n" * 1_000
    once = escape_structure(text)
    assert len(once) < 2 * len(text)
    assert escape_structure(once) == once


@pytest.mark.clause("KN-23")
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


@pytest.mark.clause("KN-23")
def test_a_fenced_text_has_one_final_newline_inside() -> None:
    assert fenced("a", "py") == fenced("a\n", "py") == "```py\na\n```"
    assert fenced("") == "```\n```"
    assert fenced("a ``` b") == "````\na ``` b\n````"


@pytest.mark.clause("KN-24")
@given(st.text())
def test_a_single_line_has_no_break_for_any_reader(text: str) -> None:
    line = single_line(text)
    assert is_single_line(line)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    if is_single_line(text):
        assert line == text.strip()


@pytest.mark.clause("KN-24")
@pytest.mark.parametrize(
    "char", ["\n", "\r", "\t", "\0", "\x1b", "\x7f", "\x85", "\x9f", "\u2028", "\u2029", "\ud800"]
)
def test_breaks_and_control_characters_make_it_more_than_one_line(char: str) -> None:
    assert not is_single_line(f"a{char}b")
    assert single_line(f" a{char}{char}b ") == "a b"


@pytest.mark.clause("KN-24")
@pytest.mark.parametrize("text", ["", "plain", "ünï", "a  b", "👩‍💻", "non\u00a0breaking", "`x` # y"])
def test_ordinary_text_is_a_single_line(text: str) -> None:
    assert is_single_line(text)
