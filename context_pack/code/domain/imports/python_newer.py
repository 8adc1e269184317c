"""Python that is newer than the interpreter that reads it, in words that every supported one parses.

What a project's imports are must not depend on who reads them. So what came after the oldest supported
grammar is taken out: type parameters, the `type` statement, bare `except A, B`, and the insides of f- and
t-strings, which may hold anything now. The result means something else: it is good for finding imports only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_pack.code.domain.imports.python_scan import STRINGS
from context_pack.kernel.lexing import End, comment, interpolated, lexer, opaque


def _closed(quote: str) -> End:
    """The end of a string with code in it; one that never ends is none."""
    inner = interpolated(quote, "{")

    def end(text: str, opening: re.Match[str]) -> int:
        at = inner(text, opening)
        return at if at >= opening.end() + len(quote) and text.endswith(quote, 0, at) else -1

    return end


_FORMATTED = r"(?<!\w)(?i:[ft]|[ft]r|r[ft])"
_NEWER = lexer(
    comment(r"#[^\n]*+"),
    *(opaque(_FORMATTED + quote, _closed(quote)) for quote in ('"""', "'''", '"', "'")),
    *STRINGS,
)
_IS_FORMATTED = re.compile(_FORMATTED + "[\"']")
_OPAQUE = re.compile(r"\0++")
_BRACKETS = r"\[[^\[\]]*+(?:\[[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+\][^\[\]]*+)*+\]"
_PARAMETERS = re.compile(
    rf"^[ \t]*+(?:async[ \t]++)?+(?:def|class)[ \t]++\w++[ \t]*+(?P<out>{_BRACKETS})(?=[ \t]*+[(:])",
    re.MULTILINE,
)
_ALIAS = re.compile(
    rf"^[ \t]*+(?P<out>type[ \t]++)\w++[ \t]*+(?P<more>{_BRACKETS})?+[ \t]*+=(?!=)", re.MULTILINE
)
_EXCEPT = re.compile(r"^[ \t]*+except\*?+[ \t]++(?P<names>[\w. \t]++(?:,[\w. \t]++)++):", re.MULTILINE)

_Edit = tuple[int, int, str]


def older(text: str) -> str | None:
    """The text without what is newer; None if there is nothing of the kind."""
    edits = sorted(_edits(text, _NEWER.mask(text)))
    pieces: list[str] = []
    at = 0
    for start, end, instead in edits:
        pieces += (text[at:start], instead)
        at = end
    return "".join((*pieces, text[at:])) if edits else None


def _edits(text: str, code: str) -> Iterator[_Edit]:
    """What to put where; no two of them meet."""
    for string in _OPAQUE.finditer(code):
        if _IS_FORMATTED.match(text, string.start()):
            yield *string.span(), '""'
    for found in (*_PARAMETERS.finditer(code), *_ALIAS.finditer(code)):
        for name in found.groupdict().keys() & {"out", "more"}:
            if found[name]:
                yield *found.span(name), ""
    for found in _EXCEPT.finditer(code):
        yield *found.span("names"), f"({text[slice(*found.span('names'))]})"
