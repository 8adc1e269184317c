"""What a sentence encoder is given of a piece: few words, because its time is that of its tokens.

The path and the name come first, then the text without indents and comment signs, last what file and class
say of themselves.
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 160
_READ_CHARACTERS = 2_000
_SIGNS = re.compile(r"^\s*(?://[/!]?|/?\*+/?|#+!?|\"\"\"|'''|--+)\s?", re.MULTILINE)


def shortened(embedded: str) -> str:
    """The beginning of what is embedded of a piece: its context, a blank line and its text."""
    context, _, text = embedded[:_READ_CHARACTERS].partition("\n\n")
    head, _, told = context.partition("\n")
    words = " ".join((head, _SIGNS.sub(" ", text), told)).split()
    return " ".join(words)[:MOST_CHARACTERS]
