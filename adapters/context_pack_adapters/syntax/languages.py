"""Which grammar and which query file read a language; known without loading any of them.

Components (Vue, Svelte) are files of markup whose scripts are code in a language of their own.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class GrammarSource(NamedTuple):
    """Where a grammar comes from: module, function, query file and the one it adds to."""

    module: str
    function: str
    queries: str
    shared: str = ""


SOURCES = {
    "python": GrammarSource("tree_sitter_python", "language", "python"),
    "javascript": GrammarSource("tree_sitter_javascript", "language", "javascript", "ecmascript"),
    "typescript": GrammarSource("tree_sitter_typescript", "language_typescript", "typescript", "ecmascript"),
    "tsx": GrammarSource("tree_sitter_typescript", "language_tsx", "typescript", "ecmascript"),
    "go": GrammarSource("tree_sitter_go", "language", "go"),
    "rust": GrammarSource("tree_sitter_rust", "language", "rust"),
    "java": GrammarSource("tree_sitter_java", "language", "java"),
    "kotlin": GrammarSource("tree_sitter_kotlin", "language", "kotlin"),
    "c": GrammarSource("tree_sitter_c", "language", "c"),
    "cpp": GrammarSource("tree_sitter_cpp", "language", "cpp", "c"),
    "objectivec": GrammarSource("tree_sitter_objc", "language", "objectivec", "c"),
    "csharp": GrammarSource("tree_sitter_c_sharp", "language", "csharp"),
    "ruby": GrammarSource("tree_sitter_ruby", "language", "ruby"),
    "php": GrammarSource("tree_sitter_php", "language_php", "php"),
    "swift": GrammarSource("tree_sitter_swift", "language", "swift"),
    "bash": GrammarSource("tree_sitter_bash", "language", "bash"),
    "scala": GrammarSource("tree_sitter_scala", "language", "scala"),
    "lua": GrammarSource("tree_sitter_lua", "language", "lua"),
}
COMPONENTS = frozenset({"vue", "svelte"})
GRAMMARS = {**{name: name for name in SOURCES}, "jsx": "javascript", "zsh": "bash"}
"""Which grammar reads a language of `kernel.languages`."""
KNOWN = frozenset((*COMPONENTS, *GRAMMARS))
"""The languages that there is a grammar for."""

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
