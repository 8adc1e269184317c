"""Includes of C, C++ and Objective-C: quoted names, from the file's own folder or where headers are kept.

A quoted name is looked for beside the file, then in each folder above it, there first in `include/` and
`src/`, then where CMake is told that headers are. A name in angle brackets belongs to the system or a package
and is external. What `#if 0` leaves out does not count; of any other condition both sides do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from attrs import frozen

from context_pack.code.domain.imports.cmake import include_folders
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
    blank,
    code,
    comment,
    lexer,
    opaque,
    string,
)

HEADER_FOLDERS = ("include", "src", "")
MOST_LISTED = 500


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


_CONDITION = re.compile(
    r"^[ \t]*+#[ \t]*+(?:(?P<if>ifdef|ifndef|if)|(?P<elif>elif\w*+)|else|(?P<end>endif))\b(?P<what>[^\n]*+)",
    re.MULTILINE,
)
_KNOWN = re.compile(r"[ \t(]*+([01])[ \t)]*+\r?")


@frozen
class Include:
    """One included name; `own` when it is quoted."""

    name: str
    own: bool


def parse(text: str) -> tuple[Include, ...]:
    """The included names, in order."""
    found: dict[Include, None] = {}
    for match in _DIRECTIVE.finditer(_living(_C.mask(text))):
        if match["quoted"] is not None:
            found[Include(text[slice(*match.span("quoted"))].replace("\\", "/"), True)] = None
        else:
            found[Include((match["angled"] or match["module"]).strip(), False)] = None
    return tuple(found)


def _living(code: str) -> str:
    """The code without what `#if 0`, or the other side of `#if 1`, leaves out; other conditions may hold."""
    pieces: list[str] = []
    living = [True]
    taken = [False]
    at = 0
    for mark in _CONDITION.finditer(code):
        pieces.append(code[at : mark.start()] if living[-1] else blank(code[at : mark.start()]))
        at = mark.start()
        known = _KNOWN.fullmatch(mark["what"]) if mark["if"] == "if" or mark["elif"] == "elif" else None
        if mark["if"]:
            living.append(living[-1] and (known is None or known[1] == "1"))
            taken.append(known is not None and known[1] == "1")
        elif len(living) > 1 and mark["end"]:
            living.pop()
            taken.pop()
        elif len(living) > 1:
            living[-1] = living[-2] and not taken[-1] and (known is None or known[1] == "1")
            taken[-1] = taken[-1] or (known is not None and known[1] == "1")
    pieces.append(code[at:] if living[-1] else blank(code[at:]))
    return "".join(pieces)


def resolve(includes: Sequence[Include], path: str, view: TreeView) -> Imports:
    """The files that the quoted names lead to."""
    found = Found()
    here = folder_of(path)
    usual = [here, *(within(folder, inner) for folder in ancestors(here) for inner in HEADER_FOLDERS)]
    usual = list(dict.fromkeys(usual))
    listed: dict[str, list[str]] | None = None
    for include in includes:
        file = first_file(view, _places(include, usual))
        if file is None and include.own:
            listed = _by_content(include_folders(here, view), view) if listed is None else listed
            file = first_file(view, _places(include, listed.get(include.name.partition("/")[0], ())))
        found.add(include.name, file)
    return found.imports()


def _by_content(folders: Iterable[str], view: TreeView) -> dict[str, list[str]]:
    """The folders by what a name in them may begin with: many names may be looked for in many folders."""
    known = list(islice(dict.fromkeys(folders), MOST_LISTED))
    found = {".": known, "..": known}
    for folder in known:
        for name in chain(view.files(folder), view.folders(folder)):
            found.setdefault(name, []).append(folder)
    return found


def _places(include: Include, folders: Iterable[str]) -> Iterator[str]:
    """Where a name may be in these folders; only quoted ones are looked for."""
    if include.own and not include.name.startswith("/"):
        yield from filter(None, (join(folder, include.name) for folder in folders))
