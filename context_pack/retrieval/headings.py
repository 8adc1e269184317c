"""The headings of a document and its title, by the rules of the format that its suffix names.

Markdown has CommonMark's ATX and underlined headings at the document's level; reStructuredText has underlined
ones, whose levels are told by the order in which the underlines first appear; plain text has none. A heading
is shown as plain text: emphasis, code, links, pictures, HTML, entities and escapes are read by the package
that knows them, which most headings, having none of it, are never shown to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from context_pack.kernel.lines import split_lines
from context_pack.retrieval.blocks import Structure, markdown_reader, structure
from context_pack.retrieval.front_matter import front_matter_end, front_matter_title

if TYPE_CHECKING:
    from markdown_it.token import Token

MARKDOWN = frozenset({".md", ".mdx", ".markdown"})
_MARKUP = re.compile(r"[*_`\[\]<>&\\!]")
# Longer ones are not written by hand, and pairing up their brackets takes more than a moment.
_LONGEST = 600
_MOST_BRACKETS = 40


class Heading(NamedTuple):
    """A heading as plain text on one line; `line` counts from 1 and is the first of it."""

    level: int
    text: str
    line: int


def headings(text: str, suffix: str = ".md") -> list[Heading]:
    """The headings of a document in order; empty ones are listed with ""."""
    kind = suffix.lower()
    if kind == ".rst":
        from context_pack.retrieval.restructured import sections

        return [Heading(*found) for found in sections(split_lines(text.removeprefix("\ufeff")))]
    return heading_list(document(text)) if kind in MARKDOWN else []


def document(text: str) -> Structure:
    """The structure of a Markdown document behind its front matter and its byte order mark."""
    return structure(text.removeprefix("\ufeff"), front_matter_end(_head(text)))


def heading_list(found: Structure) -> list[Heading]:
    """The headings of a Markdown document."""
    return [
        Heading(block.level, plain(block.text, found.references), block.start + 1)
        for block in found.blocks
        if block.kind == "heading" and not block.depth
    ]


def title_of(text: str, suffix: str, name: str) -> str:
    """The first level-1 heading that says something, else the title in front matter, else the base name."""
    return chosen_title(headings(text, suffix), text, suffix, name)


def chosen_title(found: list[Heading], text: str, suffix: str, name: str) -> str:
    """The title of a document whose headings are known."""
    for heading in found:
        if heading.level == 1 and heading.text:
            return heading.text
    title = ""
    if suffix.lower() in MARKDOWN:
        lines = _head(text)
        title = front_matter_title(lines, front_matter_end(lines))
    return title or name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _head(text: str) -> list[str]:
    """The lines of a text that begins like front matter; for any other nothing is split."""
    bare = text.removeprefix("\ufeff")
    return split_lines(bare) if bare.startswith(("---", "+++")) else []


def plain(source: str, references: Mapping[str, Any]) -> str:
    """The text of a heading's source, given the links that its document defines."""
    if len(source) > _LONGEST or not _MARKUP.search(source) or source.count("[") > _MOST_BRACKETS:
        return source.replace("\n", " ")
    (inline,) = markdown_reader().parseInline(source, {"references": references})
    return _seen(inline.children or []).strip()


def _seen(tokens: list[Token]) -> str:
    """What the tokens show."""
    shown: list[str] = []
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            shown.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            shown.append(" ")
        elif token.type == "image":
            shown.append(_seen(token.children or []))
    return "".join(shown)
