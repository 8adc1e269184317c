"""Imports of Go: a package of the own module is every file of its folder that is neither a test nor hidden.

The go.mod files above a file name its module and those around it; modules beside them count where a local
`replace` or a go.work names them. Everything else, the standard library included, is external.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    ancestors,
    folder_of,
    join,
    nearest,
    within,
)
from context_pack.kernel.syntax import Parsed

MOST_PARTS = 100

_COMMENT = re.compile(r"//[^\n]*+")
_MODULE = re.compile(r"^[ \t]*+module[ \t]++[\"`]?([^\s\"`()]++)", re.MULTILINE)
_REPLACED = re.compile(
    r"^[ \t]*+(?:replace[ \t]++)?(\S++)(?:[ \t]++v\S++)?[ \t]++=>[ \t]++(\.{1,2}(?:/\S*+)?)", re.MULTILINE
)
_USED = re.compile(r"^[ \t]*+(?:use[ \t]++)?[\"`]?(\.{1,2}(?:/[^\s\"`]*+)?)", re.MULTILINE)


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """The files of the packages that are in the root."""
    here = folder_of(path)
    modules: dict[str, list[str]] = {}
    for module, folder in sorted(set(_modules(here, view))):
        modules.setdefault(module, []).append(folder)
    for name in _names_in(parsed):
        yield name, next(_packages(name, here, modules, view), None)


def _names_in(parsed: Parsed) -> Iterable[str]:
    """The imported packages, each once; behind the first declaration nothing is imported."""
    first = min((each.line for each in parsed.definitions), default=None)
    found = (each for each in parsed.imports if first is None or each.line <= first)
    return dict.fromkeys(each.specifier for each in found)


def _packages(
    name: str, here: str, modules: Mapping[str, Sequence[str]], view: TreeView
) -> Iterator[list[str]]:
    """The files of each folder that the package may be in, the most specific module first."""
    if name.startswith(("./", "../")):
        place = join(here, name)
        if place is not None and (files := _files(place, view)):
            yield files
        return
    module = name
    for _ in range(MOST_PARTS):
        for folder in modules.get(module, ()):
            place = within(folder, name[len(module) + 1 :])
            if (files := _files(place, view)) and _belongs(place, folder, name, view):
                yield files
        module, slash, _ = module.rpartition("/")
        if not slash:
            return


def _belongs(place: str, folder: str, name: str, view: TreeView) -> bool:
    """Whether a place below a module's folder has that name: not where a module inside calls it another."""
    above = nearest(view, place, "go.mod")
    home = "" if above is None else folder_of(above)
    if above is None or len(home) <= len(folder):
        return True
    return any(within(module, place[len(home) + 1 :]) == name for module in _names(view, above))


def _files(folder: str, view: TreeView) -> list[str]:
    names = (name for name in view.files(folder) if name.endswith(".go") and not name.endswith("_test.go"))
    return [within(folder, name) for name in sorted(names) if not name.startswith(("_", "."))]


def _modules(here: str, view: TreeView) -> Iterator[tuple[str, str]]:
    """The modules that a file can see inside the root, as (import path, folder)."""
    for folder in ancestors(here):
        if "go.mod" not in view.files(folder):
            continue
        manifest = within(folder, "go.mod")
        yield from ((name, folder) for name in _names(view, manifest))
        text = _plain(view.text(manifest))
        for name, written in _REPLACED.findall(text):
            place = join(folder, written)
            if place is not None:
                yield name.strip('"`'), place
    shared = nearest(view, here, "go.work")
    if shared is None:
        return
    for written in _USED.findall(_plain(view.text(shared))):
        place = join(folder_of(shared), written)
        if place is not None and "go.mod" in view.files(place):
            yield from ((name, place) for name in _names(view, within(place, "go.mod")))


def _names(view: TreeView, manifest: str) -> list[str]:
    """The module name of a go.mod, if it has one."""
    return _MODULE.findall(_plain(view.text(manifest)))[:1]


def _plain(text: str | None) -> str:
    return "" if text is None else _COMMENT.sub("", text)
