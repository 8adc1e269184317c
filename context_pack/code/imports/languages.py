"""How each language spells where its imports lead; `imports_of` is the one way to ask."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence

from attrs import evolve, frozen

from context_pack.code.imports.jvm import jvm
from context_pack.code.imports.rust import rust
from context_pack.code.imports.scripts import script
from context_pack.code.imports.tree import (
    Found,
    Names,
    TreeFiles,
    ancestors,
    folder_of,
    join,
    table,
    texts,
    within,
)
from context_pack.kernel.syntax import Import, Parsed

LONGEST_NAME = 10_000
"""A longer name is not looked for."""
_GO_COMMENT = re.compile(r"//[^\n]*+")
_GO_MODULE = re.compile(r"^[ \t]*+module[ \t]++[\"`]?([^\s\"`()]++)", re.MULTILINE)
_GO_REPLACED = re.compile(
    r"^[ \t]*+(?:replace[ \t]++)?(\S++)(?:[ \t]++v\S++)?[ \t]++=>[ \t]++(\.{1,2}(?:/\S*+)?)", re.MULTILINE
)


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
    short = tuple(each for each in parsed.imports if len(each.specifier) <= LONGEST_NAME)
    for name, hits in _LANGUAGES[language](evolve(parsed, imports=short), path, tree):
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
    place = within(base, *parts)
    return tree.first(
        (within(place, "__init__.py"), within(place, "__init__.pyi"), f"{place}.py", f"{place}.pyi")
    )


# Go: a package is every file of its folder that is neither a test nor hidden.


def _go(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    modules = Names(_go_modules(path, tree))
    for name in dict.fromkeys(each.specifier for each in parsed.imports):
        is_path = name.startswith(("./", "../"))
        places = [join(folder_of(path), name)] if is_path else modules.places(name)
        yield name, next(filter(None, (_go_files(place, tree) for place in places)), None)


def _go_modules(near: str, tree: TreeFiles) -> Iterator[tuple[str, str]]:
    """The modules of go.mod files and their local replacements, each with its folder."""
    for path in tree.manifests("go.mod", near):
        text = _GO_COMMENT.sub("", tree.text(path) or "")
        named = [(name, "") for name in _GO_MODULE.findall(text)[:1]]
        for name, written in (*named, *_GO_REPLACED.findall(text)):
            if (place := join(folder_of(path), written)) is not None:
                yield name.strip('"`'), place
                yield f"{name}/*", within(place, "*")


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
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        if name.startswith("/") or not parts:
            yield name, None
        else:
            yield name, tree.first(join(folder, name) for folder in usual) or tree.ending_in(parts, path)[:1]


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
    names = _psr4(here, tree)
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
    for name in dict.fromkeys(called.values()):
        yield name, _php_class(name, path, names, tree)
    for each in parsed.imports:  # a trait of elsewhere was imported, and told, there
        if each.how == "trait":
            first, slash, rest = each.specifier.partition("\\")
            full = called[first.lower()] + slash + rest if first.lower() in called else each.specifier
            if not each.specifier.startswith("\\") and full == each.specifier:
                full = f"{namespace}\\{rest if first.lower() == 'namespace' else full}"
            if file := _php_class(full.strip("\\"), path, names, tree):
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


def _psr4(here: str, tree: TreeFiles) -> Names | None:
    """The namespaces of the nearest composer.json, None if it has none."""
    path = tree.nearest(here, "composer.json")
    rows = [
        (f"{prefix.strip(chr(92))}\\*".lstrip("\\"), within(place, "*"))
        for section in ("autoload", "autoload-dev")
        for prefix, folders in table(tree.json(path), section, "psr-4").items()
        for folder in texts(folders)
        if (place := join(folder_of(path or ""), folder)) is not None
    ]
    return Names(rows) if rows else None


def _php_class(name: str, path: str, names: Names | None, tree: TreeFiles) -> str | None:
    if names is not None:
        return tree.first(place.replace("\\", "/") + ".php" for place in names.places(name))
    *namespace, last = name.split("\\")
    tails = (tree.ending_in((*namespace[start:], f"{last}.php"), path) for start in range(len(namespace)))
    return next((found[0] for found in tails if found), None)


# C#: of a namespace the files in the folders that spell it whose names the text uses; a type is its file.

_WORD = re.compile(r"\w+")


def _csharp(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    own = parsed.package.partition(".")[0]
    every = [name for name in tree.by_name if name.endswith(".cs")]
    words = frozenset(_WORD.findall(tree.text(path) or ""))
    used = [name for name in every if name.removesuffix(".cs") in words]
    for using in dict.fromkeys((each.specifier, each.how) for each in parsed.imports):
        name = using[0].partition("<")[0].rpartition("::")[2].replace("@", "").replace(" ", "")
        *namespace, last = parts = name.split(".")
        of_type = _in_namespace(namespace, own, [f"{last}.cs"], tree) if using[1] == "type" else []
        found = of_type[:1] or _in_namespace(parts, own, used, tree)
        if found or not _in_namespace(parts, own, every, tree):
            yield name, found


def _in_namespace(parts: Sequence[str], own: str, names: Sequence[str], tree: TreeFiles) -> list[str]:
    """The files of these names in folders that spell a namespace, with dots or one in the other.

    A folder may leave out the beginning of the own namespace.
    """
    files = [path for name in names for path in tree.by_name.get(name, ())]
    for start in range(len(parts) if parts and parts[0] == own else 1):
        tail = "." + ".".join(parts[start:])
        if found := [path for path in files if f".{folder_of(path).replace('/', '.')}".endswith(tail)]:
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
