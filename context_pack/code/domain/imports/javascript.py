"""Imports of JavaScript and TypeScript: static and dynamic imports, re-exports, `require`.

Only literal names count. A relative one is looked for as the compiler and the usual bundlers do: as it is
written, with the endings of source files, as a folder's index; `.js` may stand for the `.ts` it is compiled
from. Other names go through the `paths` and `baseUrl` of the nearest tsconfig or jsconfig, then to the
packages of the same workspaces; else they are external. Components (Vue, Svelte) are read for their scripts.
"""

from __future__ import annotations

import re
from itertools import chain

from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    first_file,
    folder_of,
    is_file,
    is_folder,
    join,
    within,
)
from context_pack.code.domain.imports.tsconfig import PathMapping, mapping_for
from context_pack.code.domain.imports.workspaces import Workspaces, main_places
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

_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(?s:(.)))")


def names(parsed: Parsed) -> tuple[str, ...]:
    """The literal names that a text imports, in order, each once."""
    found = (_ESCAPE.sub(_unescaped, each.specifier) for each in parsed.imports)
    return tuple(dict.fromkeys(name for name in found if name.strip()))


def _unescaped(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if digits is None:
        return str(escape[4])
    value = int(digits, 16)
    return chr(value) if value < 0xD800 or 0xE000 <= value <= 0x10FFFF else "\0"


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """Where the names lead from the file at `path`."""
    here, typed = folder_of(path), path.endswith(TYPED)
    mapping: PathMapping | None = None
    packages = Workspaces(here, view)
    for name in names(parsed):
        if _is_relative(name):
            yield name, _from(here, name, typed, view)
            continue
        if mapping is None:
            mapping = mapping_for(here, view)
        candidates = (
            _place(place, typed, view) for place in chain(mapping.places(name), packages.places(name))
        )
        yield name, next(filter(None, candidates), None)


def _is_relative(name: str) -> bool:
    return name in (".", "..") or name.startswith(("./", "../"))


def _from(folder: str, name: str, typed: bool, view: TreeView) -> str | None:
    """The file that a relative name leads to; `?raw` and the like are left off if need be."""
    for written in dict.fromkeys((name, re.split(r"[?#]", name, maxsplit=1)[0])):
        place = join(folder, written)
        if place is None:
            return None
        as_folder = written.endswith(("/", "/.", "/..")) or written in (".", "..")
        found = _index(place, typed, view) if as_folder else _place(place, typed, view)
        if found is not None:
            return found
    return None


def _place(place: str, typed: bool, view: TreeView) -> str | None:
    """The file that a name without its ending, or with another's, stands for."""
    if not place:
        return _index(place, typed, view)
    exact = [place] if is_file(view, place) else []
    others = [
        place[: -len(end)] + real for end, reals in _COMPILED.items() if place.endswith(end) for real in reals
    ]
    sources_first = typed and not place.endswith((".ts", ".mts", ".cts"))
    tried = [*others, *exact] if sources_first else [*exact, *others]
    tried += [place + ending for ending in (_TS_FIRST if typed else _JS_FIRST)]
    return first_file(view, tried) or _index(place, typed, view)


def _index(folder: str, typed: bool, view: TreeView) -> str | None:
    """The file that a folder stands for: what its package.json says, else its index."""
    if not is_folder(view, folder):
        return None
    endings = _TS_FIRST if typed else _JS_FIRST
    main = [place + ending for place in main_places(folder, typed, view) for ending in ("", *endings)]
    return first_file(view, chain(main, (within(folder, f"index{ending}") for ending in endings)))
