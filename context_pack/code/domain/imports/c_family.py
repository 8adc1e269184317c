"""Includes of C, C++ and Objective-C: quoted names, from the file's own folder or where headers are kept.

A quoted name is looked for beside the file, then in each folder above it, there first in `include/` and
`src/`. A name in angle brackets belongs to the system or a package and is external.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from context_pack.code.domain.imports.tree import (
    Found,
    Imports,
    TreeView,
    ancestors,
    first_file,
    folder_of,
    join,
    within,
)
from context_pack.kernel.lexing import (
    BLOCK_COMMENT,
    DOUBLE_QUOTED,
    SINGLE_QUOTED,
    code,
    comment,
    lexer,
    opaque,
    string,
)

HEADER_FOLDERS = ("include", "src", "")


def _raw_end(text: str, opening: re.Match[str]) -> int:
    delimiter = opening[0][opening[0].index('"') + 1 : -1]
    closing = f'){delimiter}"'
    end = text.find(closing, opening.end())
    return len(text) if end < 0 else end + len(closing)


_C = lexer(
    comment(r"//(?:[^\\\n]|\\\r\n|\\(?s:.))*+"),
    comment(BLOCK_COMMENT),
    opaque(r"\b(?:u8|[uUL])?R\"[^()\\\s\"]{0,16}+\(", _raw_end),
    string(DOUBLE_QUOTED),
    code(r"(?<!\w)\d(?:'?[\w.])*+"),
    opaque(SINGLE_QUOTED),
)
_DIRECTIVE = re.compile(
    r"^[ \t]*+#[ \t]*+(?:include|import|include_next)\b[ \t]*+"
    r"(?:\"(?P<quoted>\0++)\"|<(?P<angled>[^<>\n]++)>)"
    r"|^[ \t]*+@import\s++(?P<module>[\w.]++)",
    re.MULTILINE,
)


@frozen
class Include:
    """One included name; `own` when it is quoted."""

    name: str
    own: bool


def parse(text: str) -> tuple[Include, ...]:
    """The included names, in order."""
    found: dict[Include, None] = {}
    for match in _DIRECTIVE.finditer(_C.mask(text)):
        if match["quoted"] is not None:
            found[Include(text[slice(*match.span("quoted"))].replace("\\", "/"), True)] = None
        else:
            found[Include((match["angled"] or match["module"]).strip(), False)] = None
    return tuple(found)


def resolve(includes: Sequence[Include], path: str, view: TreeView) -> Imports:
    """The files that the quoted names lead to."""
    found = Found()
    for include in includes:
        found.add(include.name, first_file(view, _places(include.name, path)) if include.own else None)
    return found.imports()


def _places(name: str, path: str) -> Iterator[str]:
    if name.startswith("/"):
        return
    here = folder_of(path)
    starts = [here, *(within(folder, inner) for folder in ancestors(here) for inner in HEADER_FOLDERS)]
    for start in dict.fromkeys(starts):
        place = join(start, name)
        if place:
            yield place
