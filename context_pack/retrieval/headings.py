"""The blocks of a Markdown document, the headings of any document, and its title.

Markdown has CommonMark's ATX and underlined headings at the document's level; reStructuredText has underlined
ones, whose levels are told by the order in which the underlines first appear; plain text has none. A heading
is shown as plain text. `markdown-it-py` reads the blocks, of which only leaves are kept, and those headings
that have emphasis, code, links, pictures, HTML, entities or escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from context_pack.kernel.markdown import commonmark
from context_pack.kernel.text import split_lines
from context_pack.retrieval.front_matter import front_matter_end, front_matter_title
from context_pack.retrieval.restructured import sections

if TYPE_CHECKING:
    from markdown_it.token import Token

MARKDOWN = (".md", ".mdx", ".markdown")
_MARKUP = re.compile(r"[*_`\[\]<>&\\!]")
# Longer ones are not written by hand, and pairing up their brackets takes more than a moment.
_LONGEST = 600
_MOST_BRACKETS = 40
_TABLE_RULE = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)++\|?[ \t]*+")
"""The line of a table between its heads and its rows."""
Kind = Literal["heading", "paragraph", "fence", "code", "html", "rule"]
_LEAVES: Mapping[str, Kind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
}
_CONTAINERS = frozenset({"blockquote", "list_item"})


class Block(NamedTuple):
    """A leaf: lines `start` to `end` (from 0, both included), `depth` containers around it."""

    kind: Kind
    start: int
    end: int
    depth: int
    item: bool = False
    """Whether a list item begins with it."""
    level: int = 0
    text: str = ""
    """The source of a heading's text."""


class Structure(NamedTuple):
    """The leaves of a document in order, and the link definitions that its headings may refer to."""

    lines: list[str]
    blocks: list[Block]
    references: dict[str, Any]


class Heading(NamedTuple):
    """A heading as plain text on one line; `line` counts from 1 and is the first of it."""

    level: int
    text: str
    line: int


def is_markdown(name: str) -> bool:
    """Whether a document of that name is Markdown."""
    return name.lower().endswith(MARKDOWN)


def headings(text: str, name: str = ".md") -> list[Heading]:
    """The headings of the document of that name in order; empty ones are listed with ""."""
    if name.lower().endswith(".rst"):
        return [Heading(*found) for found in sections(split_lines(text.removeprefix("\ufeff")))]
    return heading_list(document(text)) if is_markdown(name) else []


def document(text: str) -> Structure:
    """The blocks of a Markdown document; its front matter and its byte order mark belong to none."""
    text = text.removeprefix("\ufeff")
    lines = split_lines(text)
    first = front_matter_end(lines) if text.startswith(("---", "+++")) else 0
    # A lone carriage return ends a line for the package, but not for us.
    body = "\n".join((*[""] * first, *lines[first:])).replace("\r", " ")
    tokens: list[Token] = []
    known: dict[str, Any] = {}
    reader = commonmark()
    reader.block.parse(body, reader, known, tokens)
    return Structure(lines, list(_leaves(tokens)), known.get("references", {}))


def _leaves(tokens: list[Token]) -> Iterator[Block]:
    depth, begins_item = 0, False
    for at, token in enumerate(tokens):
        name, _, end = token.type.rpartition("_")
        if name in _CONTAINERS:
            depth += 1 if end == "open" else -1
            begins_item = token.type == "list_item_open"
        elif (kind := _LEAVES.get(token.type)) is not None and token.map is not None:
            start, after = token.map
            level = int(token.tag[1]) if kind == "heading" else 0
            source = tokens[at + 1].content.strip(" \t") if kind == "heading" else ""
            if level and _is_table(source):  # CommonMark has no tables: a rule below one underlines it
                kind, level, source = "paragraph", 0, ""
            yield Block(kind, start, max(start, after - 1), depth, begins_item, level, source)
            begins_item = False


def _is_table(source: str) -> bool:
    """Whether the text of a heading is the rows of a table."""
    rows = source.split("\n")
    return any(map(_TABLE_RULE.fullmatch, rows)) or (len(rows) > 1 and all("|" in row for row in rows))


def heading_list(found: Structure) -> list[Heading]:
    """The headings of a Markdown document."""
    return [
        Heading(block.level, _plain(block.text, found.references), block.start + 1)
        for block in found.blocks
        if block.kind == "heading" and not block.depth
    ]


def title_of(text: str, name: str, found: list[Heading] | None = None, ending: str = "") -> str:
    """The first level-1 heading that says something, else the title in front matter, else the base name.

    `ending` tells the format where the name does not.
    """
    for heading in headings(text, ending or name) if found is None else found:
        if heading.level == 1 and heading.text:
            return heading.text
    title, bare = "", text.removeprefix("\ufeff")
    if is_markdown(ending or name) and bare.startswith(("---", "+++")):
        lines = split_lines(bare)
        title = front_matter_title(lines, front_matter_end(lines))
    return title or name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _plain(source: str, references: Mapping[str, Any]) -> str:
    """The text of a heading's source, given the links that its document defines."""
    if len(source) > _LONGEST or not _MARKUP.search(source) or source.count("[") > _MOST_BRACKETS:
        return source.replace("\n", " ")
    (inline,) = commonmark().parseInline(source, {"references": references})
    return _seen(inline.children or []).strip()


def _seen(tokens: list[Token]) -> str:
    """The visible text of the tokens."""
    shown: list[str] = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            shown.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            shown.append(" ")
        elif token.type == "image":
            shown.append(_seen(token.children or []))
    return "".join(shown)
