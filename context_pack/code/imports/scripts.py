"""Imports of JavaScript and TypeScript: as compilers and bundlers look, by tsconfig paths, by packages."""

from __future__ import annotations

import re

from context_pack.code.imports.manifests import (
    Names,
    main_places,
    node_packages,
    read_json,
    typescript_paths,
)
from context_pack.code.imports.tree import Found, TreeFiles, folder_of, join, within
from context_pack.kernel.syntax import Parsed

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


def script_names(parsed: Parsed) -> tuple[str, ...]:
    """The literal names that a script imports, in order, each once."""
    return tuple(dict.fromkeys(each.specifier for each in parsed.imports if each.specifier.strip()))


def script(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the names of a script lead."""
    here, typed = folder_of(path), path.endswith(TYPED)
    names: list[Names] | None = None
    for name in script_names(parsed):
        if name in (".", "..") or name.startswith(("./", "../")):
            written = dict.fromkeys((name, re.split(r"[?#]", name, maxsplit=1)[0]))
            places = [place for each in written if (place := join(here, each)) is not None]
            as_folder = name.endswith(("/", "/.", "/..")) or name in (".", "..")
            look = _script_folder if as_folder else _script_file
            yield name, next(filter(None, (look(place, typed, tree) for place in places)), None)
            continue
        if names is None:
            names = [*typescript_paths(tree, path), node_packages(tree, path)]
        known = (join("", place) for each in names for place, _ in each.places(name) if name != "/")
        yield name, next(filter(None, (_script_file(place, typed, tree) for place in known if place)), None)


def _script_file(place: str, typed: bool, tree: TreeFiles) -> str | None:
    """The file that a name without its ending, or with another's, stands for."""
    exact = [place] if place else []
    others = [
        place[: -len(end)] + real for end, reals in _COMPILED.items() if place.endswith(end) for real in reals
    ]
    sources_first = typed and not place.endswith((".ts", ".mts", ".cts"))
    tried = [*others, *exact] if sources_first else [*exact, *others]
    tried += [place + ending for ending in (_TS_FIRST if typed else _JS_FIRST)]
    return tree.first(tried) or _script_folder(place, typed, tree)


def _script_folder(folder: str, typed: bool, tree: TreeFiles) -> str | None:
    """The file that a folder stands for: what its package.json says, else its index."""
    if folder not in tree.folders:
        return None
    endings = _TS_FIRST if typed else _JS_FIRST
    starts = [within(folder, "index")]
    if (manifest := within(folder, "package.json")) in tree.files:
        main = main_places(folder, read_json(tree.text(manifest)), typed)
        starts = [*(each for place in main for each in (place, within(place, "index"))), *starts]
    return tree.first(start + ending for start in starts for ending in ("", *endings))
