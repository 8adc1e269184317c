"""Imports of JavaScript and TypeScript: as compilers and bundlers look, by tsconfig paths, by packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
from context_pack.kernel.paths import EXCLUDED_FOLDERS
from context_pack.kernel.syntax import Parsed

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
_CONDITIONS = ("source", "import", "module", "types", "require", "node", "browser", "default")


def script(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the names of a script lead."""
    here, typed = folder_of(path), path.endswith(TYPED)
    names: list[Names] | None = None
    for name in dict.fromkeys(each.specifier for each in parsed.imports if each.specifier.strip()):
        if re.match(r"\.\.?(/|\Z)", name):
            written = dict.fromkeys((name, re.split(r"[?#]", name, maxsplit=1)[0]))
            look = _folder if re.search(r"(/|/\.|\A\.|\.\.)\Z", name) else _file
            places = [join(here, each) for each in written]
        else:
            if names is None:
                names = [*_typescript_paths(tree, path), _packages(tree, path)]
            look, places = _file, [join("", place) or None for each in names for place in each.places(name)]
        yield (
            name,
            next(filter(None, (look(place, typed, tree) for place in places if place is not None)), None),
        )


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
    places = (join(folder, each) for name in fields for each in texts(config.get(name)))
    return [place for place in places if place and _is_below(folder, place)]


def _is_below(folder: str, place: str) -> bool:
    return not folder or place.startswith(f"{folder}/")


def _typescript_paths(tree: TreeFiles, near: str) -> Iterator[Names]:
    """The `paths` and the `baseUrl` of the tsconfig and jsconfig files above a file, the nearest first."""
    for folder in ancestors(folder_of(near)):
        named = [name for name in tree.folders.get(folder, ()) if re.fullmatch(r"[tj]sconfig.*\.json", name)]
        configs = [
            within(folder, name) for name in sorted(named, key=lambda name: (name != "tsconfig.json", name))
        ]
        for path in _with_extended(configs, tree):
            home, options = folder_of(path), table(tree.json(path), "compilerOptions")
            base = next((join(home, each) for each in texts(options.get("baseUrl"))), None)
            rows = []
            for pattern, targets in table(options, "paths").items():
                for target in texts(targets) if pattern.count("*") < 2 else ():
                    below = target.removeprefix("${configDir}/")
                    start = folder if below != target else home if base is None else base
                    if not target.startswith("/") and (place := join(start, below)) is not None:
                        rows.append((pattern, place))
            yield Names(rows if base is None else [*rows, ("*", within(base, "*"))])


def _with_extended(paths: list[str], tree: TreeFiles) -> list[str]:
    """The configurations and those that they extend by path, each once."""
    for path in paths:  # it grows meanwhile
        for written in texts(tree.json(path).get("extends")) if len(paths) < MOST_EXTENDED else ():
            place = join(folder_of(path), written) if written.startswith(".") else None
            found = tree.first((place, f"{place}.json"))
            if found is not None and found not in paths:
                paths.append(found)
    return paths


def _packages(tree: TreeFiles, near: str) -> Names:
    """The packages of the tree by name, by what they offer; `#names` are those of the file's own package."""
    own = tree.nearest(folder_of(near), "package.json")
    rows: list[tuple[str, str]] = []
    for path in tree.manifests("package.json", near):
        folder, config = folder_of(path), tree.json(path)
        if path == own:
            rows += _subpaths(folder, config.get("imports"), "")
        if not isinstance(name := config.get("name"), str) or not name:
            continue
        exports = config.get("exports")
        by_path = any(key[:1] == "." for key in table(exports))
        rows += _subpaths(folder, exports if by_path else {".": exports}, name)
        starts = [*_main_places(folder, config), within(folder, "src/index"), within(folder, "index")]
        rows += [(name, place) for place in sorted(starts, key=_is_built)]
        rows += [(f"{name}/*", within(folder, inner, "*")) for inner in ("", "src")]
    return Names(rows)


def _subpaths(folder: str, offered: Any, name: str) -> list[tuple[str, str]]:
    """The names of a table of subpaths; what was built comes after what it was built from."""
    rows = [
        (name + key.removeprefix(".") if name else key, place)
        for key, value in table(offered).items()
        for written in _chosen(value)
        if key.count("*") < 2 and (place := join(folder, written)) is not None and _is_below(folder, place)
    ]
    return sorted(rows, key=lambda row: _is_built(row[1]))


def _is_built(place: str) -> bool:
    return not EXCLUDED_FOLDERS.isdisjoint(place.split("/"))


def _chosen(value: Any, depth: int = 8) -> Iterator[str]:
    """The files of a conditional value, by the conditions that a reader of sources would take."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth:
        for inner in value if isinstance(value, list) else map(value.get, _CONDITIONS):
            yield from _chosen(inner, depth - 1)
