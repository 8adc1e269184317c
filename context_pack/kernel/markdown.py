"""Foreign text in Markdown: fences that hold whatever is in them, and texts on a single line."""

from __future__ import annotations

import re

MIN_FENCE = 3
FENCE = "`" * MIN_FENCE

_BACKTICKS = re.compile(r"`+")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def fence_for(text: str) -> str:
    """A fence nothing in the text can close: one backtick longer than its longest run, at least three."""
    if FENCE not in text:
        return FENCE
    return "`" * (max(map(len, _BACKTICKS.findall(text))) + 1)


def fenced(text: str, language: str = "") -> str:
    """The text in a fence that holds it, without a final newline."""
    fence = fence_for(text)
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{end}{fence}"


def is_single_line(text: str) -> bool:
    """Whether the text has no line break of any kind, no control character and no lone surrogate."""
    return _UNSAFE.search(text) is None


def single_line(text: str) -> str:
    """The text on one line, trimmed: each run of breaks and control characters becomes a space."""
    return _UNSAFE.sub(" ", text).strip()
