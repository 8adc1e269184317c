"""Which grammar and which query file read a language; known without loading any of them."""

from __future__ import annotations

from typing import NamedTuple

from context_pack_adapters.syntax.components import COMPONENTS


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
_ALIASES = {"jsx": "javascript", "zsh": "bash"}
KNOWN = frozenset((*COMPONENTS, *SOURCES, *_ALIASES))
"""The languages that there is a grammar for."""


def grammar_name(language: str) -> str | None:
    """The grammar that reads a language of `kernel.languages`, or None."""
    name = _ALIASES.get(language, language)
    return name if name in SOURCES else None
