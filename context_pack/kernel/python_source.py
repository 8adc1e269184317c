"""Python by its own parser, kept from what is too much for it.

The parser keeps every beginning of an imported name: one of a hundred thousand parts takes all memory there
is, and no limit of Python's own stops it. So such a text is not given to the parser at all.
"""

from __future__ import annotations

import ast
import re
import warnings

MOST_PARTS = 1000
_PARSED = "<parsed>"
# Begins where a word does: from each letter of a long one it would be looked for to its end.
_DOTTED = re.compile(r"(?<!\w)(?:\w++(?:[ \t\f]|\\\r?\n)*+\.(?:[ \t\f]|\\\r?\n)*+)++")


def has_endless_name(text: str) -> bool:
    """Whether there is a name of more parts than the parser should be asked to join."""
    if text.count(".") <= MOST_PARTS:
        return False
    return any(found[0].count(".") > MOST_PARTS for found in _DOTTED.finditer(text))


def parsed(text: str) -> ast.Module:
    """The module that a text spells, as the running interpreter knows Python.

    Raises:
        SyntaxError: it spells none.
        ValueError: there is a NUL in it.
        RecursionError, MemoryError: it is too much for the parser.
    """
    if has_endless_name(text):
        raise RecursionError("a name of too many parts")
    # What the parser has to say about escapes is no news here, and it would say it on stderr.
    warnings.filterwarnings("ignore", module=_PARSED)
    return ast.parse(text, _PARSED)


def parsed_or_none(text: str, most_chars: int) -> ast.Module | None:
    """The same; None for whatever is not parsed, or longer than `most_chars`."""
    try:
        return parsed(text) if len(text) <= most_chars else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
