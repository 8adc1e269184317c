"""Text made into HTML, and the ids of a page. Every string of a pack or of a source passes through `text`.

Theory: a character that steers instead of showing is replaced by a picture of itself. HTML parsers turn a
carriage return into a line break and drop NUL, and direction overrides let a line of code read differently
from what it does; none of them survives here. Tabs and line feeds stay.
"""

from __future__ import annotations

import re
from html import escape

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
_CODE_SPAN = re.compile("(?<!`)(`+)(?!`)(.*?[^`])\\1(?!`)")
MOST_SPANNED = 4_000


def text(value: str) -> str:
    """The string as text of an element or a quoted attribute, with nothing left that could be markup."""
    return escape(_STEERING.sub(_picture, value), quote=True)


def spans(value: str) -> str:
    """The string as `text` makes it, with what stands between backticks as code."""
    if len(value) > MOST_SPANNED:
        return text(value)
    # Between the texts come the runs of backticks and what they hold.
    parts = _CODE_SPAN.split(value)
    return "".join(
        text(part) if index % 3 == 0 else f"<code>{text(part.strip(' ') or part)}</code>"
        for index, part in enumerate(parts)
        if index % 3 != 1
    )


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


class Ids:
    """The ids of one page, each given once.

    Keys are lower case, so ids of the page's own parts and of lines (`-L42`) hold an upper case letter and
    meet no key. Only keys joined to keys can meet: section `a-b` with ref `cd`, section `a` with ref `b-cd`.
    """

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def take(self, *keys: str) -> str:
        """The keys joined by hyphens, with a number behind them where that is taken."""
        wanted = "-".join(keys)
        found = wanted
        while found in self._taken:
            self._taken[wanted] += 1
            found = f"{wanted}-{self._taken[wanted]}"
        self._taken[found] = 1
        return found
