"""Imports of Python without its parser, for text that is too much for it.

That is what is nested too deep, and names of very many parts: the parser keeps every beginning of an imported
name, so that one of a few hundred kilobytes takes all memory there is.

`import` is a keyword, so that outside of strings and comments it is always a statement, wherever it stands;
`from` counts only before it, on the same logical line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from context_pack.kernel.lexing import DOUBLE_QUOTED, SINGLE_QUOTED, comment, lexer, opaque

STRINGS = (
    opaque(r'"""(?:[^"\\]|\\(?s:.)|"(?!""))*+(?:""")?+'),
    opaque(r"'''(?:[^'\\]|\\(?s:.)|'(?!''))*+(?:''')?+"),
    opaque(DOUBLE_QUOTED),
    opaque(SINGLE_QUOTED),
)
"""Every string; one that never ends goes as far as it can, so that no quote in it is looked at again."""
_PYTHON = lexer(comment(r"#[^\n]*+"), *STRINGS)
_CONTINUED = re.compile(r"\\\r?\n")
_DOTTED = r"\w++(?:[ \t]*+\.[ \t]*+\w++)*+"
_IMPORT = re.compile(
    rf"(?:(?<![\w.])from(?P<module>(?:[ \t]*+\.)++(?:[ \t]*+(?!import\b){_DOTTED})?+|[ \t]++{_DOTTED})[ \t]*+"
    r"(?<!\w)|(?<![\w.]))import\b[ \t]*+(?P<names>\([^()]*+\)|[^;\n(]*+)"
)


class Scanned(NamedTuple):
    """One import: the dots before the module, the module, and what is taken from it (None for all)."""

    level: int
    module: str
    names: tuple[str, ...] | None


def scan(text: str) -> Iterator[Scanned]:
    """Every import that is written out, in order."""
    code = _CONTINUED.sub(" ", _PYTHON.mask(text))
    for found in _IMPORT.finditer(code):
        names = [name for part in found["names"].strip("()").split(",") if (name := _first(part))]
        if found["module"] is None:
            yield from (Scanned(0, name, None) for name in names if _is_dotted(name))
            continue
        module = re.sub(r"\s", "", found["module"])
        bare = module.lstrip(".")
        taken = tuple(name for name in names if name == "*" or name.isidentifier())
        if taken and (not bare or _is_dotted(bare)):
            yield Scanned(len(module) - len(bare), bare, taken)


def _first(part: str) -> str:
    """The name itself, without the one it gets here."""
    words = re.sub(r"(?<!\s)\s*+\.\s*+", ".", part).split()
    return words[0] if words else ""


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
