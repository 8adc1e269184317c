"""Packages of one repository that import each other by name: the `workspaces` of a package.json.

A bare name is looked for among the packages that the nearest package.json with workspaces lists. What a
package offers is told by its own package.json (`exports`, `source`, `module`, `main`); where that names
something built, which is not in the tree, its sources are tried: `src/index`, `index`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import translate
from typing import Any

from attrs import define, field

from context_pack.code.domain.imports.tree import TreeView, ancestors, join, within
from context_pack.kernel.paths import EXCLUDED_FOLDERS

PACKAGE = "package.json"
MOST_PACKAGES = 300
MOST_READ_CHARS = 200_000
_FIELDS = ("source", "types", "module", "main")
_CONDITIONS = ("source", "import", "module", "types", "require", "node", "browser", "default")


@define
class Workspaces:
    """The packages that a file in `here` can import by name."""

    here: str
    view: TreeView
    _folders: list[str] | None = field(default=None, init=False)
    _names: dict[str, Any] = field(factory=dict, init=False)

    def places(self, name: str) -> Iterator[str]:
        """Where a bare name may lead, without or with an ending, the likeliest first."""
        parts = name.split("/")
        length = 2 if name.startswith("@") else 1
        if len(parts) < length or not all(parts[:length]) or name.startswith(("#", "node:")):
            return
        package, rest = "/".join(parts[:length]), "/".join(parts[length:])
        for folder in self._candidates(parts[length - 1]):
            config = self._config(folder)
            if config.get("name") == package:
                yield from _offers(folder, config, rest)
                return

    def _candidates(self, last: str) -> list[str]:
        """The folders of packages; one that is called like the package comes first."""
        if self._folders is None:
            self._folders = list(dict.fromkeys(self._listed()))[:MOST_PACKAGES]
        return sorted(self._folders, key=lambda folder: folder.rpartition("/")[2] != last)

    def _listed(self) -> Iterator[str]:
        for above in ancestors(self.here):
            if PACKAGE not in self.view.files(above):
                continue
            given = self._config(above).get("workspaces")
            globs = given.get("packages") if isinstance(given, dict) else given
            if isinstance(globs, list):
                for glob in globs:
                    if isinstance(glob, str) and not glob.startswith("!"):
                        yield from self._expanded(above, glob)
                yield above
                return

    def _expanded(self, root: str, glob: str) -> Iterator[str]:
        """The folders with a package.json that a glob means."""
        found = [root]
        for part in glob.split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                return
            if part == "**":
                found = [*found, *(within(top, name) for top in found for name in self._folders_in(top))]
            elif any(mark in part for mark in "*?["):
                fits = re.compile(translate(part)).match
                found = [within(top, name) for top in found for name in self._folders_in(top) if fits(name)]
            else:
                found = [within(top, part) for top in found if part in self.view.folders(top)]
            del found[MOST_PACKAGES:]
        yield from (folder for folder in found if PACKAGE in self.view.files(folder))

    def _folders_in(self, folder: str) -> list[str]:
        return sorted(name for name in self.view.folders(folder) if name != "node_modules")

    def _config(self, folder: str) -> dict[str, Any]:
        """The package.json of a folder; an empty one if it is none."""
        if folder not in self._names:
            text = self.view.text(within(folder, PACKAGE))
            try:
                read: Any = json.loads(text) if text is not None and len(text) <= MOST_READ_CHARS else {}
            except (ValueError, RecursionError):
                read = {}
            self._names[folder] = read if isinstance(read, dict) else {}
        config: dict[str, Any] = self._names[folder]
        return config


def _offers(folder: str, config: dict[str, Any], rest: str) -> Iterator[str]:
    """What a package offers under a name of its own, or as a whole."""
    written = [*_exported(config.get("exports"), f"./{rest}" if rest else ".")]
    if rest:
        written += [rest, f"src/{rest}"]
    else:
        written += [value for name in _FIELDS if isinstance(value := config.get(name), str)]
        written += ["src/index", "index"]
    # What was built comes after what it was built from.
    for each in sorted(written, key=lambda path: not EXCLUDED_FOLDERS.isdisjoint(path.split("/"))):
        place = join(folder, each)
        if place is not None and (not folder or place.startswith(f"{folder}/")):
            yield place


def _exported(exports: Any, wanted: str) -> Iterator[str]:
    """The files that `exports` gives for a subpath; a star stands for the same text on both sides."""
    if isinstance(exports, str) or (isinstance(exports, dict) and not any(key[:1] == "." for key in exports)):
        if wanted == ".":
            yield from _chosen(exports, "")
        return
    if not isinstance(exports, dict):
        return
    if wanted in exports:
        yield from _chosen(exports[wanted], "")
        return
    for key, value in exports.items():
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
