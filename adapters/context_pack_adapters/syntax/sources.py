"""Which grammar and which query file read a language; known without loading any of them."""

from __future__ import annotations

from typing import NamedTuple

from context_pack_adapters.syntax.components import COMPONENTS


class Source(NamedTuple):
    """Where a grammar comes from: module, function, query file and the one it adds to."""

    module: str
    function: str
    queries: str
    shared: str = ""


SOURCES = {
    "python": Source("tree_sitter_python", "language", "python"),
    "javascript": Source("tree_sitter_javascript", "language", "javascript", "ecmascript"),
    "typescript": Source("tree_sitter_typescript", "language_typescript", "typescript", "ecmascript"),
    "tsx": Source("tree_sitter_typescript", "language_tsx", "typescript", "ecmascript"),
    "go": Source("tree_sitter_go", "language", "go"),
    "rust": Source("tree_sitter_rust", "language", "rust"),
    "java": Source("tree_sitter_java", "language", "java"),
    "kotlin": Source("tree_sitter_kotlin", "language", "kotlin"),
    "c": Source("tree_sitter_c", "language", "c"),
    "cpp": Source("tree_sitter_cpp", "language", "cpp", "c"),
    "objectivec": Source("tree_sitter_objc", "language", "objectivec", "c"),
    "csharp": Source("tree_sitter_c_sharp", "language", "csharp"),
    "ruby": Source("tree_sitter_ruby", "language", "ruby"),
    "php": Source("tree_sitter_php", "language_php", "php"),
    "swift": Source("tree_sitter_swift", "language", "swift"),
    "bash": Source("tree_sitter_bash", "language", "bash"),
    "scala": Source("tree_sitter_scala", "language", "scala"),
    "lua": Source("tree_sitter_lua", "language", "lua"),
}
_ALIASES = {"jsx": "javascript", "zsh": "bash"}


def grammar_name(language: str) -> str | None:
    """The grammar that reads a language of `kernel.languages`, or None."""
    name = _ALIASES.get(language, language)
    return name if name in SOURCES else None


def knows(language: str) -> bool:
    """Whether there is a grammar for a language."""
    return language in COMPONENTS or grammar_name(language) is not None
