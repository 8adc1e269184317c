"""Patterns that are compiled when they are first asked for.

A first call loads about sixty patterns and uses a third of them; compiling them all takes a tenth of it.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern whose methods are those of the compiled one; functions of `re` do not take it."""
    return cast(re.Pattern[AnyStr], _LazyPattern(text, flags))


class _LazyPattern:
    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Keep the compiled pattern's own method: whoever asks again pays nothing."""
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found
