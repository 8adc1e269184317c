"""CommonMark's block structure of a document: what is a heading, what is code, where blocks begin.

`markdown-it-py` reads the blocks; the text inside them is not looked at. Only leaves are kept, no tree:
headings count at the document's level alone, and a passage is cut between leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from context_pack.kernel.lines import split_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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


def structure(text: str, first: int = 0) -> Structure:
    """The blocks of a Markdown text; lines before `first` (front matter) belong to none."""
    lines = split_lines(text)
    # A lone carriage return ends a line for the package, but not for us.
    body = "\n".join((*[""] * first, *lines[first:])).replace("\r", " ")
    tokens: list[Token] = []
    known: dict[str, Any] = {}
    reader = markdown_reader()
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
            yield Block(kind, start, max(start, after - 1), depth, begins_item, level, source)
            begins_item = False


@lru_cache(maxsize=1)
def markdown_reader() -> MarkdownIt:
    """The package's reader of CommonMark."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
