"""What a comment or docstring says, without the signs that make it one; any language."""

from __future__ import annotations

import inspect
import re

_DOCSTRING = re.compile(r"[rRuUbB]{0,2}(\"\"\"|'''|\"|')(?P<text>.*?)(?:\1)?\Z", re.DOTALL)
_BLOCK = re.compile(
    r"(?:/\*[*!]*|<!--|--\[=*\[|=begin\b)(?P<text>.*?)(?:\**/|-->|\]=*\]|^=end)?\Z", re.DOTALL | re.MULTILINE
)
_LINE_SIGN = re.compile(r"^[ \t]*(?://[/!]*|#+!?|--+|;+|\*+(?!\*))[ \t]?", re.MULTILINE)


def comment_text(written: str) -> str:
    """The words of a comment, a run of comment lines or a docstring."""
    written = written.strip()
    if (found := _DOCSTRING.match(written)) is not None:
        return inspect.cleandoc(found["text"])
    if (found := _BLOCK.match(written)) is not None:
        written = found["text"]
    return "\n".join(line.rstrip() for line in _LINE_SIGN.sub("", written).strip("\n").split("\n")).strip()
