"""The text of a comment or docstring without its markers, in any language."""

from __future__ import annotations

import re

_DOCSTRING = re.compile(r"[rRuUbB]{0,2}(\"\"\"|'''|\"|')(?P<text>.*?)(?:\1)?\Z", re.DOTALL)
_BLOCK = re.compile(r"/\*[*!]*+|<!--|--\[=*+\[|=begin\b")
# Begins where a row of stars does: from each of very many it would be looked for to their end.
_BLOCK_END = re.compile(r"(?:(?<!\*)\*++/|\A/|-->|\]=*+\]|^=end)\Z", re.MULTILINE)
_LINE_SIGN = re.compile(r"^[ \t]*(?://[/!]*|#+!?|--+|;+|\*+(?!\*))[ \t]?", re.MULTILINE)


def comment_text(written: str) -> str:
    """The words of a comment, a run of comment lines or a docstring."""
    written = written.strip()
    if (found := _DOCSTRING.match(written)) is not None:
        return _without_indent(found["text"])
    if (block := _BLOCK.match(written)) is not None:
        written = _BLOCK_END.sub("", written[block.end() :])
    return "\n".join(line.rstrip() for line in _LINE_SIGN.sub("", written).strip("\n").split("\n")).strip()


def _without_indent(text: str) -> str:
    """A docstring as `inspect.cleandoc` shows it, which takes as long to load as all of this package."""
    first, *rest = text.expandtabs().split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[indent:] for line in rest)]).strip("\n")
