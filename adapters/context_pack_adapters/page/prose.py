"""A section's description as HTML: Markdown of which only text is left.

Emphasis, code, lists, quotes, tables, small headings and links are kept. HTML and images are not: they stay
the text that was written, so a page loads nothing; nor is a link that leads elsewhere than to a web page, a
mailbox or a place beside this page. What the Markdown package would escape
itself goes through `markup.text` instead, because an entity can spell a character that steers. A description
longer than any that a caller can give is shown as it is: Markdown's worst cases grow faster than its
text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from context_pack.kernel.markdown import escape_structure
from context_pack.packs.domain.values import DESCRIPTION_CHARS
from context_pack_adapters.page.highlight import highlighted
from context_pack_adapters.page.markup import text

NOT_KEPT = ("html_block", "html_inline")
_SAFE_LINK = re.compile(
    r"(?:https?://|mailto:)[^\\\s]+|(?=.)[^\\\s:/?#]*(?:(?<=[^/])/[^\\\s]*|[?#][^\\\s]*)?", re.IGNORECASE
)


def prose(description: str) -> str:
    """The description as block elements."""
    if len(description) > DESCRIPTION_CHARS:
        return f'<p class="plain">{text(description)}</p>'
    rendered: str = _markdown().render(escape_structure(description))
    return rendered


@cache
def _markdown() -> MarkdownIt:
    markdown = (
        MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}).enable("table").disable(list(NOT_KEPT))
    )
    changed: Any = markdown
    changed.validateLink = is_safe_link
    changed.renderer.rules |= {"text": _text, "code_inline": _code, "code_block": _block, "fence": _block}
    changed.renderer.rules |= {"link_open": _link, "image": _image}
    return markdown


def is_safe_link(address: str) -> bool:
    """Whether a link may lead there: http, https, mailto, or relative to the page."""
    return _SAFE_LINK.fullmatch(address) is not None


def _link(tokens: Sequence[Token], index: int, *_: Any) -> str:
    return f'<a href="{text(str(tokens[index].attrGet("href")))}" rel="noreferrer">'


def _image(tokens: Sequence[Token], index: int, *_: Any) -> str:
    """A picture as it was written: a page loads nothing."""
    return text(f"![{tokens[index].content}]({tokens[index].attrGet('src')})")


def _text(tokens: Sequence[Token], index: int, *_: Any) -> str:
    return text(tokens[index].content)


def _code(tokens: Sequence[Token], index: int, *_: Any) -> str:
    return f"<code>{text(tokens[index].content)}</code>"


def _block(tokens: Sequence[Token], index: int, *_: Any) -> str:
    """A block of code in a description, without line numbers: it stands in no file."""
    words = tokens[index].info.split()
    lines = highlighted(tokens[index].content.removesuffix("\n"), words[0].lower() if words else "")
    return f'<pre tabindex="0"><code>{chr(10).join(lines)}</code></pre>\n'
