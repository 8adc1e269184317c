"""Code coloured line by line: Pygments finds the tokens; the classes are our own and few.

What is shown is exactly the code: where a lexer's tokens do not add up to it, or the code is too large or
has lines too long to be worth colouring, it is shown plain. Tokens that span lines are closed and opened
again: every line is markup of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from context_pack_adapters.page.markup import text

MOST_CHARS = 512 * 1024
LONGEST_LINE = 4_000

# Where the kernel's name of a language is not one that Pygments knows.
LEXER_NAMES: Mapping[str, str] = {
    "astro": "html",
    "gitignore": "bash",
    "jsonl": "json",
    "just": "makefile",
    "starlark": "python",
    "svelte": "html",
    "vb": "vbnet",
}

_TYPES: Mapping[str, str] = {
    "c": "Comment",
    "k": "Keyword Comment.Preproc Operator.Word",
    "s": "Literal Comment.PreprocFile",
    "n": "Literal.Number Literal.String.Escape Literal.String.Interpol Keyword.Constant Name.Constant",
    "f": "Name.Class Name.Function Generic.Heading Generic.Subheading",
    "b": "Keyword.Type Name.Attribute Name.Builtin Name.Exception",
    "d": "Name.Decorator",
    "t": "Name.Tag Generic.Inserted",
    "x": "Generic.Deleted",
}
FAMILIES: Mapping[str, str] = {
    "Token": "",
    **{f"Token.{name}": family for family, names in _TYPES.items() for name in names.split()},
}
"""The family of a token type: the nearest ancestor in this table decides; an empty family is left plain."""


def highlighted(code: str, language: str) -> list[str]:
    """The lines of `code` as markup, coloured if the language is known."""
    lines = code.split("\n")
    lexer = _lexer(language, "<?" not in code)
    if lexer is None or len(code) > MOST_CHARS or max(map(len, lines)) > LONGEST_LINE:
        return [text(line) for line in lines]
    tokens = [(_family(kind), value) for _, kind, value in lexer.get_tokens_unprocessed(code)]
    if "".join(value for _, value in tokens) != code:
        return [text(line) for line in lines]
    return list(_lines(tokens))


def _lines(tokens: list[tuple[str, str]]) -> Iterator[str]:
    """The tokens as lines of markup; neighbours of one family share an element."""
    line: list[str] = []
    run: list[str] = []
    current = ""
    for family, value in tokens:
        for index, piece in enumerate(value.split("\n")):
            if index:
                line.append(_span(current, "".join(run)))
                yield "".join(line)
                line, run = [], []
            if family != current and piece:
                line.append(_span(current, "".join(run)))
                run, current = [], family
            run.append(piece)
    line.append(_span(current, "".join(run)))
    yield "".join(line)


def _span(family: str, piece: str) -> str:
    return f'<span class="{family}">{text(piece)}</span>' if family and piece else text(piece)


@cache
def _lexer(language: str, inside: bool) -> Lexer | None:
    """The lexer of a language by the kernel's name; code from `inside` a PHP file does not say `<?php`."""
    if not language or language == "text":
        return None
    try:
        lexer: Lexer = get_lexer_by_name(LEXER_NAMES.get(language, language), startinline=inside)
    except ClassNotFound:
        return None
    return lexer


@cache
def _family(kind: Any) -> str:
    """The class of a token type."""
    while str(kind) not in FAMILIES:
        kind = kind.parent
    return FAMILIES[str(kind)]
