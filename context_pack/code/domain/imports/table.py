"""The languages whose imports are known, by the name that `kernel.languages` gives them.

A language's module is loaded with the first file of its kind: most projects need one or two of them.
"""

from __future__ import annotations

from collections.abc import Callable

from context_pack.code.domain.imports.tree import Found, TreeView
from context_pack.kernel.syntax import Parsed

Resolve = Callable[[Parsed, str, TreeView], Found]
"""The files that the imports of a parsed file lead to, by its path in a tree."""


def resolver_of(language: str) -> Resolve | None:
    """How the imports of a language are resolved, or None if they are not known."""
    match language:
        case "python":
            from context_pack.code.domain.imports.python import resolve
        case "javascript" | "jsx" | "typescript" | "tsx" | "vue" | "svelte":
            from context_pack.code.domain.imports.javascript import resolve
        case "go":
            from context_pack.code.domain.imports.go import resolve
        case "rust":
            from context_pack.code.domain.imports.rust import resolve
        case "java" | "kotlin":
            from context_pack.code.domain.imports.jvm import resolve
        case "c" | "cpp" | "objectivec":
            from context_pack.code.domain.imports.c_family import resolve
        case "ruby":
            from context_pack.code.domain.imports.ruby import resolve
        case "php":
            from context_pack.code.domain.imports.php import resolve
        case "csharp":
            from context_pack.code.domain.imports.csharp import resolve
        case _:
            return None
    return resolve
