"""The plain text of a heading: what a reader sees of it, on one line, without its markup.

Emphasis, code, links, pictures, HTML, entities and escapes are CommonMark's, read by the package that knows
them; most headings have none of it and are never shown to the package.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MARKUP = re.compile(r"[*_`\[\]<>&\\!]")
_BLANKS = re.compile(r"\s+")
# Longer ones are not written by hand, and pairing up their brackets takes more than a moment.
_LONGEST = 600


def plain(source: str, labels: frozenset[str] = frozenset()) -> str:
    """The text of a heading's source; `labels` are the link labels that the document defines."""
    if len(source) > _LONGEST or not _MARKUP.search(source):
        return source if "\n" not in source else _BLANKS.sub(" ", source).strip()
    references = {label: {"href": "", "title": ""} for label in labels}
    (inline,) = _reader().parseInline(source, {"references": references})
    return _BLANKS.sub(" ", _seen(inline.children or [])).strip()


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


@lru_cache(maxsize=1)
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
