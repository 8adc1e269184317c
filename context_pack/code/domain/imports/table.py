"""The languages whose imports are known, by the name that `kernel.languages` gives them.

A language's module is loaded with the first file of its kind: most projects need one or two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from attrs import frozen

from context_pack.code.domain.imports.tree import Imports, TreeView


@frozen
class Language:
    """How the imports of a language are found: in the text, then in the tree.

    Without a `parse` of its own, what `resolve` gets is what the syntax port says of the text.
    """

    parse: Callable[[str], Any] | None
    resolve: Callable[[Any, str, TreeView], Imports]


@cache
def language_named(name: str) -> Language | None:
    """The language of that name, or None if its imports are not known."""
    home: Any
    match name:
        case "python":
            from context_pack.code.domain.imports import python

            return Language(None, python.resolve)
        case "javascript" | "jsx" | "typescript" | "tsx" | "vue" | "svelte":
            from context_pack.code.domain.imports import javascript

            return Language(None, javascript.resolve)
        case "go":
            from context_pack.code.domain.imports import go

            return Language(None, go.resolve)
        case "rust":
            from context_pack.code.domain.imports import rust as home
        case "java" | "kotlin":
            from context_pack.code.domain.imports import jvm

            return Language(None, jvm.resolve)
        case "c" | "cpp" | "objectivec":
            from context_pack.code.domain.imports import c_family

            return Language(None, c_family.resolve)
        case "ruby":
            from context_pack.code.domain.imports import ruby

            return Language(None, ruby.resolve)
        case "php":
            from context_pack.code.domain.imports import php

            return Language(None, php.resolve)
        case "csharp":
            from context_pack.code.domain.imports import csharp

            return Language(None, csharp.resolve)
        case _:
            return None
    return Language(getattr(home, "parse", None), home.resolve)
