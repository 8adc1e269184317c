"""Components (Vue, Svelte): files of markup whose scripts are code in a language of their own."""

from __future__ import annotations

import re

COMPONENTS = frozenset({"vue", "svelte"})
_MARKUP = re.compile(
    r"<!--|<script\b(?P<attributes>(?:[^>\"']|\"[^\"]*+\"|'[^']*+'){0,999}+)>", re.IGNORECASE
)
_SCRIPT_END = re.compile(r"</script\s*+>", re.IGNORECASE)
_TYPED = re.compile(r"\blang\s*=\s*[\"']?(?P<language>tsx?)\b")
_NOT_BREAKS = re.compile(r"[^\n]")


def scripts_of(text: str) -> tuple[str, str]:
    """The language of a component's scripts, and the component with everything else blanked.

    Scripts that are comments or have no end do not count.
    """
    language = "javascript"
    pieces: list[str] = []
    at = done = 0
    while (mark := _MARKUP.search(text, at)) is not None:
        if mark["attributes"] is None:
            at = text.find("-->", mark.end()) + 3
            if at < 3:
                break
            continue
        end = _SCRIPT_END.search(text, mark.end())
        if end is None:
            break
        if (typed := _TYPED.search(mark["attributes"])) is not None:
            language = "tsx" if typed["language"] == "tsx" else "typescript"
        # The end of a script ends its last statement, also where the next script is on the same line.
        pieces += (_blank(text[done : mark.end()]), text[mark.end() : end.start()], ";")
        at, done = end.end(), end.start() + 1
    return language, "".join((*pieces, _blank(text[done:])))


def _blank(text: str) -> str:
    """As many blanks, with the same line feeds."""
    return _NOT_BREAKS.sub(" ", text)
