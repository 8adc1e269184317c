"""Packages of one repository that import each other by name: the `workspaces` of a package.json, or pnpm's.

A bare name is looked for in the file's own package and among those that the nearest package.json with
workspaces, or pnpm-workspace.yaml, lists. What a package offers is told by its own package.json (`exports`,
`source`, `module`, `main`); where that names something built, which is not in the tree, its sources are
tried: `src/index`, `index`. A name that begins with `#` is what the own package.json has under `imports`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from itertools import islice
from typing import Any

from attrs import define, field

from context_pack.code.domain.imports.tree import TreeView, ancestors, join, json_object, name_of, within
from context_pack.kernel.paths import EXCLUDED_FOLDERS

PACKAGE = "package.json"
PNPM = "pnpm-workspace.yaml"
MOST_PACKAGES = 300
MOST_FOLDERS = 2000
MOST_READ_CHARS = 200_000
_FIELDS = ("source", "types", "module", "main")
_PNPM_LIST = re.compile(r"^packages:[ \t]*+(?:#[^\n]*+)?+((?:\r?\n[ \t]*+(?:[-#][^\n]*+)?+)*+)", re.MULTILINE)
_PNPM_ITEM = re.compile(r"^[ \t]*+-[ \t]++[\"']?+([^\s\"'#]++)", re.MULTILINE)
_CONDITIONS = ("source", "import", "module", "types", "require", "node", "browser", "default")


@define
class Workspaces:
    """The packages that a file in `here` can import by name."""

    here: str
    view: TreeView
    _folders: list[str] | None = field(default=None, init=False)
    _alike: dict[str, str] = field(factory=dict, init=False)
    """The folders by their last part."""
    _homes: dict[str, str] | None = field(default=None, init=False)
    """The folders by the names of their packages, once these are read."""
    _configs: dict[str, dict[str, Any]] = field(factory=dict, init=False)

    def places(self, name: str) -> Iterator[str]:
        """Where a bare name may lead, without or with an ending, the likeliest first."""
        if name.startswith("#"):
            yield from self._own(name)
        parts = name.split("/")
        length = 2 if name.startswith("@") else 1
        if len(parts) < length or not all(parts[:length]) or name.startswith(("#", "node:")):
            return
        package, rest = "/".join(parts[:length]), "/".join(parts[length:])
        home = self._home(package)
        if home is not None:
            yield from _offers(home, self._config(home), rest)

    def _own(self, name: str) -> Iterator[str]:
        """The targets of a `#` import, from the package's own `imports` table."""
        for home in self._packages():
            yield from _below(home, _subpaths(self._config(home).get("imports"), name))

    def _packages(self) -> list[str]:
        """The folder of the file's own package, if it is in one."""
        around = (folder for folder in ancestors(self.here) if PACKAGE in self.view.files(folder))
        return list(islice(around, 1))

    def _home(self, package: str) -> str | None:
        """The folder of a package; folders with its name are tried first."""
        if self._folders is None:
            self._folders = list(islice(dict.fromkeys(self._listed()), MOST_PACKAGES))
            self._alike = {name_of(folder): folder for folder in reversed(self._folders)}
        likely = self._alike.get(name_of(package))
        if likely is not None and self._config(likely).get("name") == package:
            return likely
        if self._homes is None:
            named = ((self._config(folder).get("name"), folder) for folder in reversed(self._folders))
            self._homes = {name: folder for name, folder in named if isinstance(name, str)}
        return self._homes.get(package)

    def _listed(self) -> Iterator[str]:
        yield from self._packages()
        for above in ancestors(self.here):
            globs = self._globs(above)
            if globs is not None:
                for glob in globs[:MOST_PACKAGES]:
                    if isinstance(glob, str) and not glob.startswith("!"):
                        yield from self._expanded(above, glob)
                yield above
                return

    def _globs(self, folder: str) -> list[Any] | None:
        """The workspaces that a folder lists, None if it lists none."""
        files = self.view.files(folder)
        if PNPM in files:
            found = _PNPM_LIST.search(self.view.text(within(folder, PNPM)) or "")
            return [] if found is None else _PNPM_ITEM.findall(found[1])
        given = self._config(folder).get("workspaces") if PACKAGE in files else None
        globs = given.get("packages") if isinstance(given, dict) else given
        return globs if isinstance(globs, list) else None

    def _expanded(self, root: str, glob: str) -> Iterator[str]:
        """The folders with a package.json that a glob means."""
        found = [root]
        for part in glob.split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                return
            if part == "**":
                found = self._deep(found)
            elif any(mark in part for mark in "*?["):
                fits = re.compile(translate(part)).match
                found = [within(top, name) for top in found for name in self._folders_in(top) if fits(name)]
            else:
                found = [within(top, part) for top in found if part in self.view.folders(top)]
            del found[MOST_FOLDERS:]
        yield from (folder for folder in found if PACKAGE in self.view.files(folder))

    def _deep(self, tops: Iterable[str]) -> list[str]:
        """The folders and all that are in them, the outer ones first."""
        found = list(tops)
        for folder in found:
            if len(found) >= MOST_FOLDERS:
                break
            found.extend(within(folder, name) for name in self._folders_in(folder))
        return found

    def _folders_in(self, folder: str) -> list[str]:
        return sorted(name for name in self.view.folders(folder) if name != "node_modules")

    def _config(self, folder: str) -> dict[str, Any]:
        """The package.json of a folder; an empty one if it is none."""
        if folder not in self._configs:
            self._configs[folder] = _package(folder, self.view)
        return self._configs[folder]


def _package(folder: str, view: TreeView) -> dict[str, Any]:
    """The package.json of a folder; an empty one if it is none."""
    text = view.text(within(folder, PACKAGE)) or ""
    return json_object(text) if len(text) <= MOST_READ_CHARS else {}


def main_places(folder: str, typed: bool, view: TreeView) -> list[str]:
    """The entry files that a folder's package.json names, without or with an ending, and as a folder."""
    if PACKAGE not in view.files(folder):
        return []
    config = _package(folder, view)
    # Whoever has no types is served with code before types.
    fields = sorted(_FIELDS, key=lambda name: name == "types" and not typed)
    written = [value for name in fields if isinstance(value := config.get(name), str)]
    places = [place for place in _below(folder, written) if place]
    return [within(place, name) for place in places for name in ("", "index")]


def _offers(folder: str, config: dict[str, Any], rest: str) -> Iterator[str]:
    """What a package offers under a name of its own, or as a whole."""
    written = [*_exported(config.get("exports"), f"./{rest}" if rest else ".")]
    if rest:
        written += [rest, f"src/{rest}"]
    else:
        written += [value for name in _FIELDS if isinstance(value := config.get(name), str)]
        written += ["src/index", "index"]
    yield from _below(folder, written)


def _below(folder: str, written: Iterable[str]) -> Iterator[str]:
    """The places in a package; what was built comes after what it was built from."""
    for each in sorted(written, key=lambda path: not EXCLUDED_FOLDERS.isdisjoint(path.split("/"))):
        place = join(folder, each)
        if place is not None and (not folder or place.startswith(f"{folder}/")):
            yield place


def _exported(exports: Any, wanted: str) -> Iterator[str]:
    """The files that `exports` gives for a subpath; a star stands for the same text on both sides."""
    if isinstance(exports, str) or (isinstance(exports, dict) and not any(key[:1] == "." for key in exports)):
        if wanted == ".":
            yield from _chosen(exports, "")
    else:
        yield from _subpaths(exports, wanted)


def _subpaths(table: Any, wanted: str) -> Iterator[str]:
    """The files that a table of names gives for one of them."""
    if not isinstance(table, dict):
        return
    if wanted in table:
        yield from _chosen(table[wanted], "")
        return
    for key, value in table.items():
        head, star, tail = key.partition("*")
        if star and wanted.startswith(head) and wanted.endswith(tail) and len(wanted) >= len(head + tail):
            yield from _chosen(value, wanted[len(head) : len(wanted) - len(tail)])
            return


def _chosen(value: Any, star: str, depth: int = 8) -> Iterator[str]:
    """The files of a conditional value, by the conditions that a reader of sources would take."""
    if isinstance(value, str):
        yield value.replace("*", star)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _chosen(inner, star, depth - 1)
    elif isinstance(value, dict) and depth:
        for condition in _CONDITIONS:
            if condition in value:
                yield from _chosen(value[condition], star, depth - 1)
