"""Includes of C, C++ and Objective-C: quoted names, from the file's own folder or where headers are kept.

A quoted name is looked for beside the file, then in each folder above it, there first in `include/` and
`src/`, then where CMake is told that headers are. A name in angle brackets belongs to the system or a package
and is external. What `#if 0` leaves out does not count; of any other condition both sides do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from context_pack.code.domain.imports.cmake import include_folders
from context_pack.code.domain.imports.tree import (
    ImportCollector,
    Imports,
    TreeView,
    ancestors,
    first_file,
    folder_of,
    join,
    within,
)
from context_pack.kernel.classes import frozen
from context_pack.kernel.syntax import Import, Parsed

HEADER_FOLDERS = ("include", "src", "")
MOST_LISTED = 500


@frozen
class Include:
    """One included name; `own` when it is quoted."""

    name: str
    own: bool


def resolve(parsed: Parsed, path: str, view: TreeView) -> Imports:
    """The files that the quoted names lead to."""
    found = ImportCollector()
    here = folder_of(path)
    usual = [here, *(within(folder, inner) for folder in ancestors(here) for inner in HEADER_FOLDERS)]
    usual = list(dict.fromkeys(usual))
    listed: dict[str, list[str]] | None = None
    for include in dict.fromkeys(map(_include, parsed.imports)):
        file = first_file(view, _places(include, usual))
        if file is None and include.own:
            listed = _by_content(include_folders(here, view), view) if listed is None else listed
            file = first_file(view, _places(include, listed.get(include.name.partition("/")[0], ())))
        found.add(include.name, file)
    return found.imports()


def _include(written: Import) -> Include:
    name = written.specifier.strip()
    if written.how == "module":
        return Include(name.removeprefix("@import").strip(" \t\r\n;"), False)
    if name.startswith("<"):
        return Include(name.strip("<>").strip(), False)
    return Include(name.strip('"').replace("\\", "/"), True)


def _by_content(folders: Iterable[str], view: TreeView) -> dict[str, list[str]]:
    """The folders by what a name in them may begin with: many names may be looked for in many folders."""
    known = list(islice(dict.fromkeys(folders), MOST_LISTED))
    found = {".": known, "..": known}
    for folder in known:
        for name in chain(view.files(folder), view.folders(folder)):
            found.setdefault(name, []).append(folder)
    return found


def _places(include: Include, folders: Iterable[str]) -> Iterator[str]:
    """Where a name may be in these folders; only quoted ones are looked for."""
    if include.own and not include.name.startswith("/"):
        yield from filter(None, (join(folder, include.name) for folder in folders))
