"""What a file or a class says of itself, in one sentence: the context of everything inside it."""

from __future__ import annotations

import re

from context_pack.kernel.comments import head_comment
from context_pack.kernel.sentences import first_sentence

_DOCSTRING = re.compile(r"[rRuU]?(?P<quote>\"\"\"|''')(?P<text>.*?)(?:(?P=quote)|\Z)", re.DOTALL)
_BEFORE = re.compile(r"(?:[ \t]*#[^\n]*\n|\s*\n)*")
_HEADER = re.compile(
    r"^[ \t]*class\b[^\n]*(?:\n[^\n\"']*)*?:[ \t]*(?:#[^\n]*)?\n\s*(?=[rRuU]?(?:\"\"\"|'''))", re.MULTILINE
)
LOOKED_AT = 4_000


def about_file(path: str, text: str) -> str:
    """The first sentence of a module's docstring, or of the comment that a file begins with."""
    head = text[:LOOKED_AT]
    extension = path.rpartition(".")[2].lower()
    if extension in ("py", "pyi"):
        before = _BEFORE.match(head)
        found = _DOCSTRING.match(head, before.end() if before else 0)
        if found is not None:
            return first_sentence(found["text"])
    return head_comment(head.replace("\r\n", "\n"), extension)


def about_class(path: str, text: str) -> str:
    """The first sentence of a class's docstring, or of the comment above it, given its head."""
    extension = path.rpartition(".")[2].lower()
    if extension in ("py", "pyi"):
        header = _HEADER.search(text[:LOOKED_AT])
        found = None if header is None else _DOCSTRING.match(text, header.end())
        return "" if found is None else first_sentence(found["text"])
    lines = "\n".join(line.strip() for line in text[:LOOKED_AT].split("\n"))
    return head_comment(lines, extension)
