"""Languages whose imports spell files or folders: Python, JavaScript, TypeScript, Go, the C family, Ruby."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from posixpath import dirname as folder_of
from typing import Any

from context_pack.code.imports.tree import (
    Found,
    Names,
    TreeFiles,
    ancestors,
    join,
    table,
    texts,
    within,
)
from context_pack.kernel.paths import EXCLUDED_FOLDERS
from context_pack.kernel.syntax import Parsed

# Python: from the root, from `src`, then from folders above the file that are no packages.


def python(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
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


# JavaScript and TypeScript: as compilers and bundlers look, by tsconfig paths, by packages.

MOST_EXTENDED = 50
TYPED = (".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
_OTHERS = (".json", ".vue", ".svelte")
_TS_FIRST = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", *_OTHERS)
_JS_FIRST = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".d.ts", *_OTHERS)
_COMPILED = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
    ".ts": (".tsx", ".d.ts"),
    ".mts": (".d.mts",),
    ".cts": (".d.cts",),
}
"""What a name with one ending may stand for besides itself: sources, or their types."""
_MAIN_FIELDS = ("source", "types", "module", "main")


def script(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the names of a script lead."""
    here, typed = folder_of(path), path.endswith(TYPED)
    names: list[Names] | None = None
    for name in dict.fromkeys(each.specifier for each in parsed.imports if each.specifier.strip()):
        look = _folder if re.search(r"(/|/\.|\A\.|\.\.)\Z", name) else _file
        if re.match(r"\.\.?(/|\Z)", name):
            places = [join(here, each) for each in (name, re.split(r"[?#]", name, maxsplit=1)[0])]
        else:
            names = names or [*_typescript_paths(tree, path), _packages(tree, path)]
            places = [join("", place) or None for each in names for place in each.places(name)]
        files = (look(place, typed, tree) for place in places if place is not None)
        yield name, next(filter(None, files), None)


def _file(place: str, typed: bool, tree: TreeFiles) -> str | None:
    """The file that a name without its ending, or with another's, stands for."""
    exact = [place] if place else []
    others = [
        place[: -len(end)] + real for end, reals in _COMPILED.items() if place.endswith(end) for real in reals
    ]
    sources_first = typed and not place.endswith((".ts", ".mts", ".cts"))
    tried = [*others, *exact] if sources_first else [*exact, *others]
    tried += [place + ending for ending in (_TS_FIRST if typed else _JS_FIRST)]
    return tree.first(tried) or _folder(place, typed, tree)


def _folder(folder: str, typed: bool, tree: TreeFiles) -> str | None:
    """The file that a folder stands for: what its package.json says, else its index."""
    if folder not in tree.folders:
        return None
    main = _main_places(folder, tree.json(tree.first([within(folder, "package.json")])), typed)
    starts = [*(each for place in main for each in (place, within(place, "index"))), within(folder, "index")]
    endings = ("", *(_TS_FIRST if typed else _JS_FIRST))
    return tree.first(start + ending for start in starts for ending in endings)


def _main_places(folder: str, config: dict[str, Any], typed: bool = True) -> list[str]:
    """Where the manifest of a package says that it begins."""
    fields = sorted(_MAIN_FIELDS, key=lambda name: name == "types" and not typed)
    return [place for name in fields for place in _inside(folder, config.get(name))]


def _inside(folder: str, value: Any, depth: int = 8) -> Iterator[str]:
    """The places in a folder that a value of a manifest names, be they by conditions or in a list."""
    if isinstance(value, str):
        place = join(folder, value)
        if place and (not folder or place.startswith(f"{folder}/")):
            yield place
    elif isinstance(value, list | dict) and depth:
        for inner in value if isinstance(value, list) else value.values():
            yield from _inside(folder, inner, depth - 1)


def _typescript_paths(tree: TreeFiles, near: str) -> Iterator[Names]:
    """The `paths` and the `baseUrl` of the tsconfig and jsconfig files above a file, the nearest first."""
    for folder in ancestors(folder_of(near)):
        named = [name for name in tree.folders.get(folder, ()) if re.fullmatch(r"[tj]sconfig.*\.json", name)]
        named.sort(key=lambda name: name != "tsconfig.json")
        for path in _with_extended([within(folder, name) for name in named], tree):
            options = table(tree.json(path), "compilerOptions")
            base = next((join(folder_of(path), each) for each in texts(options.get("baseUrl"))), None)
            rows = [
                (pattern, place)
                for pattern, targets in table(options, "paths").items()
                for target in texts(targets)
                if (place := join(folder_of(path) if base is None else base, target)) is not None
            ]
            yield Names(rows if base is None else [*rows, ("*", within(base, "*"))])


def _with_extended(paths: list[str], tree: TreeFiles) -> list[str]:
    """The configurations and those that they extend by path, each once."""
    for path in paths:  # it grows meanwhile
        for written in texts(tree.json(path).get("extends")) if len(paths) < MOST_EXTENDED else ():
            place = join(folder_of(path), written) if written.startswith(".") else None
            config = tree.first((place, f"{place}.json"))
            if config is not None and config not in paths:
                paths.append(config)
    return paths


def _packages(tree: TreeFiles, near: str) -> Names:
    """The packages of the tree by name, by what they offer; `#names` are those of the file's own package."""
    own = tree.nearest(folder_of(near), "package.json")
    rows: list[tuple[str, str]] = []
    for path in tree.manifests("package.json", near):
        folder, config = folder_of(path), tree.json(path)
        offered = list(table(config.get("imports")).items()) if path == own else []
        if isinstance(name := config.get("name"), str) and name:
            exports = config.get("exports")
            by_path = any(key[:1] == "." for key in table(exports))
            for key, value in table(exports if by_path else {".": exports}).items():
                offered.append((name + key.removeprefix("."), value))
            offered.append((name, [*map(config.get, _MAIN_FIELDS), "src/index", "index"]))
            rows += [(f"{name}/*", within(folder, inner, "*")) for inner in ("", "src")]
        rows += [(pattern, place) for pattern, value in offered for place in _inside(folder, value)]
    # What was built comes after what it was built from.
    return Names(sorted(rows, key=lambda row: not EXCLUDED_FOLDERS.isdisjoint(row[1].split("/"))))


# Go: a package is every file of its folder that is neither a test nor hidden.

_GO_COMMENT = re.compile(r"//[^\n]*+")
_GO_MODULE = re.compile(r"^[ \t]*+module[ \t]++[\"`]?([^\s\"`()]++)", re.MULTILINE)
_GO_REPLACED = re.compile(
    r"^[ \t]*+(?:replace[ \t]++)?(\S++)(?:[ \t]++v\S++)?[ \t]++=>[ \t]++(\.{1,2}(?:/\S*+)?)", re.MULTILINE
)


def go(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
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


def c_family(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
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


def ruby(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    here = folder_of(path)
    for each in parsed.imports:
        starts = [here] if each.how == "relative" else [""]  # "./x" starts where the process was started
        if each.how != "relative" and not each.specifier.startswith("."):
            starts = [within(above, inner) for above in ancestors(here) for inner in ("lib", "spec", "test")]
        places = () if each.specifier.startswith("/") else (join(start, each.specifier) for start in starts)
        yield each.specifier, tree.first(file for place in places if place for file in (f"{place}.rb", place))
