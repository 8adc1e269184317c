"""Which files of the tree a source file imports: one way for all languages.

A language turns what is written into places, and the first that is a file counts: `paths` has the languages
whose imports spell files or folders, `names` those that import by other names. What a project calls its own
packages is read from its manifests, wherever they are in the tree; a name that no manifest knows is the
nearest file that ends in its parts, where the language spells folders by names (`tree`). Names that lead to
no file are external, as they were written.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from context_pack.code.imports.names import csharp, jvm, php, rust
from context_pack.code.imports.paths import c_family, go, python, ruby, script
from context_pack.code.imports.tree import Found
from context_pack.code.imports.tree import TreeFiles as TreeFiles
from context_pack.kernel.syntax import Parsed

LONGEST_NAME = 10_000
"""A longer name is not looked for."""

_LANGUAGES: dict[str, Callable[[Parsed, str, TreeFiles], Found]] = {
    "python": python,
    **dict.fromkeys(("javascript", "jsx", "typescript", "tsx", "vue", "svelte"), script),
    "go": go,
    "rust": rust,
    **dict.fromkeys(("java", "kotlin"), jvm),
    **dict.fromkeys(("c", "cpp", "objectivec"), c_family),
    "ruby": ruby,
    "php": php,
    "csharp": csharp,
}


@frozen
class Imports:
    """What a file imports: paths inside the root, and the names that led to none."""

    paths: tuple[str, ...] = ()
    external: tuple[str, ...] = ()


def imports_of(parsed: Parsed, path: str, language: str, tree: TreeFiles) -> Imports:
    """Where the imports of a parsed file lead; none of a language whose imports are not known."""
    paths: dict[str, None] = {}
    external: dict[str, None] = {}
    short = tuple(each for each in parsed.imports if len(each.specifier) <= LONGEST_NAME)
    resolve = _LANGUAGES.get(language)
    for name, hits in resolve(evolve(parsed, imports=short), path, tree) if resolve else ():
        some = (hits,) if isinstance(hits, str) else tuple(hits or ())
        paths.update(dict.fromkeys(some))
        if not some:
            external[name] = None
    return Imports(tuple(paths), tuple(external))


def knows_imports(language: str) -> bool:
    """Whether the imports of a language can be followed."""
    return language in _LANGUAGES
