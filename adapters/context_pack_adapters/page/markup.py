"""Code, Markdown and plain text as HTML, by the libraries made for each.

A character that steers instead of showing (a carriage return, NUL, a direction override that lets code read
differently from what it does) is replaced by a picture of itself, in all three.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.util import ClassNotFound

from context_pack.kernel.markdown import escape_structure

# Colouring is not worth its time above these, and lexers may be slow on long lines.
MOST_CHARS, LONGEST_LINE = 512 * 1024, 4_000
LIGHT, DARK = "xcode", "github-dark"
"""Styles of Pygments whose every colour has a contrast of 4.5 on its ground."""
# Where the kernel's name of a language is not one that Pygments knows.
_LEXER_NAMES = {"astro": "html", "gitignore": "bash", "jsonl": "json", "starlark": "python", "svelte": "html"}
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)


def visible(value: Any) -> Any:
    """A text without characters that steer; other values, and HTML made here, as they are."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return _STEERING.sub(_picture, value)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


def numbered(code: str, language: str, first: int, name: str) -> Markup:
    """Coloured code with the file's line numbers; line 42 has the address `#NAME-L-42`."""
    lines = {"lineanchors": f"{name}-L", "linespans": f"{name}-S", "anchorlinenos": True}
    return coloured(code, language, linenos="inline", linenostart=first, **lines)


def coloured(code: str, language: str, **options: Any) -> Markup:
    """Coloured code, without numbers unless the options of Pygments say so."""
    lexer: Any = TextLexer
    if len(code) <= MOST_CHARS and max(map(len, code.split("\n"))) <= LONGEST_LINE:
        lexer = _lexer(_LEXER_NAMES.get(language, language))
    formatter = HtmlFormatter(wrapcode=True, **options)
    # `startinline`: an excerpt from inside a PHP file does not say `<?php`.
    return Markup(highlight(visible(code), lexer(stripnl=False, startinline="<?" not in code), formatter))


@cache
def _lexer(language: str) -> Any:
    try:
        return type(get_lexer_by_name(language))
    except ClassNotFound:
        return TextLexer


def style_defs() -> Markup:
    """The style rules of coloured code, dark ones for dark screens only: paper stays white."""
    light, dark = (HtmlFormatter(style=name).get_token_style_defs(".highlight") for name in (LIGHT, DARK))
    return Markup("\n".join([*light, "@media screen and (prefers-color-scheme:dark){", *dark, "}"]))


def prose(description: str) -> Markup:
    """A description as Markdown of which HTML stays text and images are links, so a page loads nothing."""
    return Markup(visible(_markdown().render(escape_structure(description))))


def spans(value: str) -> Markup:
    """A line of text with what stands between backticks as code."""
    return Markup(visible(_code_spans().renderInline(value)))


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "highlight": _fence})
    return markdown.enable("table").disable(["html_block", "html_inline", "image"])


def _fence(code: str, language: str, _attributes: str) -> str:
    # Plain `str`: what the Markdown renderer puts around a `Markup` would be escaped by it.
    return str(coloured(code, language.lower(), nowrap=True))


@cache
def _code_spans() -> MarkdownIt:
    return MarkdownIt("zero").enable("backticks")
