"""How each language spells where its imports lead; `imports_of` is the one way to ask."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

from attrs import frozen

from context_pack.code.imports.jvm import jvm
from context_pack.code.imports.manifests import Names, go_modules, psr4
from context_pack.code.imports.rust import rust
from context_pack.code.imports.scripts import script
from context_pack.code.imports.tree import (
    MOST_PARTS,
    Found,
    TreeFiles,
    ancestors,
    folder_of,
    join,
    within,
)
from context_pack.kernel.syntax import Import, Parsed


class Unparsable(Exception):
    """A text that its language's own parser refuses; `line` says where."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@frozen
class Imports:
    """What a file imports: paths inside the root, and the names that led to none."""

    paths: tuple[str, ...] = ()
    external: tuple[str, ...] = ()


def imports_of(parsed: Parsed, path: str, language: str, tree: TreeFiles) -> Imports:
    """Where the imports of a parsed file lead.

    Raises:
        Unparsable: the text is none of its language.
    """
    paths: dict[str, None] = {}
    external: dict[str, None] = {}
    for name, hits in _LANGUAGES[language](parsed, path, tree):
        some = (hits,) if isinstance(hits, str) else tuple(hits or ())
        paths.update(dict.fromkeys(some))
        if not some:
            external[name] = None
    return Imports(tuple(paths), tuple(external))


def knows_imports(language: str) -> bool:
    """Whether the imports of a language can be followed."""
    return language in _LANGUAGES


# Python: from the root, from `src`, then from folders above the file that are no packages.


def _python(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    if parsed.error_line is not None:
        raise Unparsable(parsed.error_line)
    here = folder_of(path)
    scripts = [
        above for above in ancestors(here) if above and _python_file(tree, above, ("__init__",)) is None
    ]
    usual = ["", "src"]
    others = [within(above, inner) for above in scripts for inner in ("", "src")]
    for each in parsed.imports:
        name = "".join(each.specifier.replace("\\", " ").split())
        module = name.lstrip(".")
        parts = tuple(module.split(".")) if module else ()
        bases = usual if parts and parts[0] in sys.stdlib_module_names else [*usual, *others]
        if level := len(name) - len(module):
            up = join(here, "../" * (level - 1))
            bases = [] if up is None else [up]
        elif module == "__future__":
            continue
        own = next((file for base in bases if (file := _python_file(tree, base, parts))), None)
        if each.how == "import":
            yield module, own
            continue
        packages = [place for base in bases if (place := within(base, *parts)) in tree.folders]
        for taken in each.names:
            inner = next((file for place in packages if (file := _python_file(tree, place, (taken,)))), None)
            if taken != "*" and inner is not None:
                yield taken, inner
            else:  # a package without a file of its own can be there and still not have the name
                whole = taken != "*" and (packages or not module)
                yield (f"{name}{'' if name.endswith('.') else '.'}{taken}" if whole else name), own


def _python_file(tree: TreeFiles, base: str, parts: Sequence[str]) -> str | None:
    """The file of a module or package; a package wins over a module of its name."""
    if len(parts) > MOST_PARTS:
        return None
    place = within(base, *parts)
    return tree.first(
        (within(place, "__init__.py"), within(place, "__init__.pyi"), f"{place}.py", f"{place}.pyi")
    )


# Go: a package is every file of its folder that is neither a test nor hidden.


def _go(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    modules = go_modules(tree, path)
    first = min((each.line for each in parsed.definitions), default=None)
    for name in dict.fromkeys(
        each.specifier for each in parsed.imports if first is None or each.line <= first
    ):
        if name.startswith(("./", "../")):
            yield name, _go_files(join(folder_of(path), name), tree)
            continue
        homes = ((place, folder_of(place) if rest else place, rest) for place, rest in modules.places(name))
        found = (_go_files(place, tree) for place, _, rest in homes if _is_of_module(place, rest, tree))
        yield name, next(filter(None, found), None)


def _is_of_module(place: str, rest: str, tree: TreeFiles) -> bool:
    """Whether no other go.mod stands between a module's folder and a place below it."""
    home = place.removesuffix(rest).rstrip("/")
    above = tree.nearest(place, "go.mod")
    return above is None or len(folder_of(above)) <= len(home)


def _go_files(folder: str | None, tree: TreeFiles) -> list[str]:
    names = tree.folders.get(folder, ()) if folder is not None else ()
    return [
        within(folder or "", name)
        for name in names
        if name.endswith(".go") and not name.endswith("_test.go") and not name.startswith(("_", "."))
    ]


# C, C++ and Objective-C: quoted names beside the file, then where headers are kept above it, then nearest.

HEADER_FOLDERS = ("include", "src", "")


def _c(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    here = folder_of(path)
    usual = dict.fromkeys(
        [here, *(within(above, inner) for above in ancestors(here) for inner in HEADER_FOLDERS)]
    )
    for each in parsed.imports:
        name = each.specifier.strip()
        if each.how == "module" or name.startswith("<"):
            yield name.removeprefix("@import").strip("<> \t\r\n;"), None
            continue
        name = name.strip('"').replace("\\", "/")
        places = () if name.startswith("/") else (join(folder, name) for folder in usual)
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        near = [] if name.startswith("/") or not parts else tree.ending_in(parts, path)
        yield name, tree.first(places) or (near[0] if near else None)


# Ruby: beside the file, or under `lib`, `spec` and `test` of the folders above.


def _ruby(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    here = folder_of(path)
    for each in parsed.imports:
        starts = [here] if each.how == "relative" else [""]  # "./x" starts where the process was started
        if each.how != "relative" and not each.specifier.startswith("."):
            starts = [within(above, inner) for above in ancestors(here) for inner in ("lib", "spec", "test")]
        places = () if each.specifier.startswith("/") else (join(start, each.specifier) for start in starts)
        yield each.specifier, tree.first(file for place in places if place for file in (f"{place}.rb", place))


# PHP: required files, and classes by the PSR-4 map of composer.json, else the nearest file of their name.

_DIR = re.compile(
    r"__DIR__|dirname\s*\(\s*(?P<from>__FILE__|__DIR__)\s*(?:,\s*(?P<up>\d)\s*)?\)", re.IGNORECASE
)
_TAKEN = re.compile(
    r"(?:(?:function|const)\s+)?(?P<name>[^\s]+)(?:\s+as\s+(?P<alias>\w+))?\s*\Z", re.IGNORECASE
)


def _php(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    here, namespace = folder_of(path), parsed.package.strip("\\")
    called: dict[str, str] = {}
    for each in parsed.imports:
        specifier = each.specifier.strip("\\")
        if each.how in ("file", "built"):
            if (starts := _php_starts(each, here)) is not None:
                yield each.specifier, tree.first(join(start, each.specifier) for start in starts)
        elif each.how == "use":
            called[(each.names[0] if each.names else specifier.rpartition("\\")[2]).lower()] = specifier
        elif each.how == "group":
            for taken in filter(None, map(_TAKEN.match, each.names)):
                alias = taken["alias"] or taken["name"].rpartition("\\")[2]
                called[alias.lower()] = f"{specifier}\\{taken['name']}"
    names = psr4(tree, path)
    for name in dict.fromkeys(called.values()):
        yield name, _php_class(name, path, names, tree)
    for each in parsed.imports:  # a trait of elsewhere was imported, and told, there
        if each.how == "trait" and (
            file := _php_class(_php_full(each.specifier, namespace, called), path, names, tree)
        ):
            yield each.specifier, file


def _php_starts(required: Import, here: str) -> list[str] | None:
    """The folders that a required file may be in; None if that is not known."""
    written = required.names[0] if required.names else ""
    start = _DIR.fullmatch(written)
    if start is None:
        return None if written else [] if required.specifier.startswith("/") else [here, ""]
    up = int(start["up"] or 1) - (start["from"].upper() == "__FILE__") if start["from"] else 0
    above = join(here, "../" * up)
    return [] if above is None else [above]


def _php_full(name: str, namespace: str, called: dict[str, str]) -> str:
    """The full name of a class as it is written in a namespace."""
    if name.startswith("\\"):
        return name.strip("\\")
    first, slash, rest = name.partition("\\")
    if first.lower() == "namespace" and slash:
        return f"{namespace}\\{rest}"
    known = called.get(first.lower())
    return f"{known}{slash}{rest}" if known is not None else f"{namespace}\\{name}".strip("\\")


def _php_class(name: str, path: str, names: Names | None, tree: TreeFiles) -> str | None:
    if names is not None:
        return tree.first(place.replace("\\", "/") + ".php" for place, _ in names.places(name))
    *namespace, last = name.split("\\")
    for start in range(min(len(namespace), MOST_PARTS)):
        if found := tree.ending_in((*namespace[start:], f"{last}.php"), path):
            return found[0]
    return None


# C#: of a namespace the files of its folder whose names the text uses; a type is the file of its name.

_WORD = re.compile(r"\w+")


def _csharp(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    own = parsed.package.partition(".")[0]
    words = frozenset(_WORD.findall(tree.text(path) or ""))
    for each in dict.fromkeys((using.specifier, using.how) for using in parsed.imports):
        name = each[0].partition("<")[0].rpartition("::")[2].replace("@", "").replace(" ", "")
        parts = name.split(".")
        if len(parts) > MOST_PARTS:
            yield name, None
            continue
        folders = _namespace_folders(parts, own, tree)
        used = [
            within(folder, file)
            for folder in folders
            for file in tree.folders[folder]
            if file.endswith(".cs") and file.removesuffix(".cs") in words
        ]
        if each[1] == "type":
            types = (
                within(folder, f"{parts[length - 1]}.cs")
                for length in range(len(parts), 1, -1)
                for folder in _namespace_folders(parts[: length - 1], own, tree)
            )
            found = tree.first(types)
            used = [found] if found else used
        if used or not folders:
            yield name, used


def _namespace_folders(parts: Sequence[str], own: str, tree: TreeFiles) -> list[str]:
    """The folders that spell a namespace, with dots or one in the other; own ones may leave out a part."""
    for start in range(len(parts) if parts[0] == own else 1):
        tail = "." + ".".join(parts[start:])
        ends = tree.folders_by_name
        named = (
            folder
            for count in range(1, len(parts) - start + 1)
            for folder in ends.get(".".join(parts[-count:]), ())
        )
        if found := sorted({each for each in named if f".{each.replace('/', '.')}".endswith(tail)}):
            return found
    return []


_LANGUAGES: dict[str, Callable[[Parsed, str, TreeFiles], Found]] = {
    "python": _python,
    **dict.fromkeys(("javascript", "jsx", "typescript", "tsx", "vue", "svelte"), script),
    "go": _go,
    "rust": rust,
    **dict.fromkeys(("java", "kotlin"), jvm),
    **dict.fromkeys(("c", "cpp", "objectivec"), _c),
    "ruby": _ruby,
    "php": _php,
    "csharp": _csharp,
}
