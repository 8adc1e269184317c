"""The plain text of a heading: what a reader sees of it, on one line, without its markup.

Emphasis, code, links, pictures, HTML, entities and escapes are CommonMark's, read by the package that knows
them; most headings have none of it and are never shown to the package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from context_pack.retrieval.blocks import markdown_reader

if TYPE_CHECKING:
    from markdown_it.token import Token

_MARKUP = re.compile(r"[*_`\[\]<>&\\!]")
# Longer ones are not written by hand, and pairing up their brackets takes more than a moment.
_LONGEST = 600
_MOST_BRACKETS = 40


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
