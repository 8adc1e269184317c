"""Where the modules of a Rust file live: its crate, its place in it, and the crates beside it.

A crate is a root file and the folder of its top-level modules. Which crate a file belongs to follows Cargo's
layout (`src/`, `src/bin/`, `tests/`, `examples/`, `benches/`, `build.rs`); other crates inside the root are
known by the package's own name and by dependencies with a `path`, also those of the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from attrs import define, field, frozen

from context_pack.code.domain.imports.tree import (
    TreeView,
    ancestors,
    depth_of,
    first_file,
    folder_of,
    is_file,
    join,
    name_of,
    nearest,
    within,
)
from context_pack.kernel.toml_source import toml_of

MANIFEST = "Cargo.toml"
ROOT_NAMES = ("lib.rs", "main.rs")
EXTRA_TARGETS = ("tests", "examples", "benches")
TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


@frozen
class Crate:
    """A root file, where there is one, and the folder of its top-level modules."""

    root: str | None
    folder: str


@define
class Neighbourhood:
    """The tree as a file of a crate sees it."""

    view: TreeView
    path: str
    crate: Crate
    module: tuple[str, ...]
    """The names from the crate's root to this file."""
    package: str | None
    _crates: Mapping[str, Crate] | None = field(default=None, init=False)

    @classmethod
    def of(cls, path: str, view: TreeView) -> Neighbourhood:
        """The neighbourhood of the file at `path`."""
        manifest = nearest(view, folder_of(path), MANIFEST)
        package = None if manifest is None else folder_of(manifest)
        crate = _crate_of(path, package, view)
        return cls(view, path, crate, _module_of(path, crate), package)

    def file(self, place: str) -> str | None:
        """The place, if there is a file."""
        return place if is_file(self.view, place) else None

    def module_file(self, place: str) -> str | None:
        """The file of the module that would be at this place."""
        return first_file(self.view, (f"{place}.rs", f"{place}/mod.rs"))

    def folder_inside(self, inline: Sequence[str]) -> str:
        """Where the files of modules declared inside these inline modules are."""
        here = folder_of(self.path)
        name = name_of(self.path)
        if self.path != self.crate.root and name not in (*ROOT_NAMES, "mod.rs"):
            here = within(here, name.removesuffix(".rs"))
        return "/".join(filter(None, (here, *inline)))

    def has_child(self, inline: Sequence[str], name: str) -> bool:
        """Whether this module has a child of that name with a file."""
        return self.module_file(within(self.folder_inside(inline), name)) is not None

    def in_crate(self, parts: tuple[str, ...]) -> str | None:
        """The deepest file on a path from the crate's root."""
        if parts[: len(self.module)] == self.module:
            # Below this file the folder is known, even where the file's own place is unusual.
            found = self._deepest(self.folder_inside(()), parts[len(self.module) :])
            return found or self.path
        return self._deepest(self.crate.folder, parts) or self.crate.root

    def other_crate(self, name: str, parts: Sequence[str]) -> str | None:
        """The deepest file on a path of another crate inside the root."""
        if self._crates is None:
            self._crates = _known_crates(self.package, self.view) if self.package is not None else {}
        crate = self._crates.get(name)
        return None if crate is None else self._deepest(crate.folder, parts) or crate.root

    def _deepest(self, folder: str, parts: Sequence[str]) -> str | None:
        # A module has a file only where the modules around it have folders.
        for length in range(min(len(parts), depth_of(self.view, folder, parts) + 1), 0, -1):
            found = self.module_file("/".join(filter(None, (folder, *parts[:length]))))
            if found is not None:
                return found
        return None


def _crate_of(path: str, package: str | None, view: TreeView) -> Crate:
    """The crate a file belongs to, by Cargo's layout."""
    here = folder_of(path)
    if package is None:
        source = next((folder for folder in ancestors(here) if name_of(folder) == "src"), here)
        return _library(source, view, path)
    library = _lib_path(package, view)
    if library is not None and path.startswith(within(folder_of(library), "")):
        return Crate(library, folder_of(library))
    parts = (path.removeprefix(f"{package}/") if package else path).split("/")
    if parts[0] == "src" and parts[1:2] != ["bin"]:
        return _library(within(package, "src"), view, path)
    if parts[0] == "src" or parts[0] in EXTRA_TARGETS:
        depth = 2 if parts[0] == "src" else 1
        folder = within(package, "/".join(parts[:depth]))
        if len(parts) == depth + 1:
            return Crate(path, folder)
        own = within(folder, parts[depth])
        root = within(own, "main.rs")
        return Crate(root, own) if is_file(view, root) else Crate(None, folder)
    return Crate(path, here)


def _library(source: str, view: TreeView, path: str) -> Crate:
    if name_of(path) in ROOT_NAMES and folder_of(path) == source:
        return Crate(path, source)
    return Crate(first_file(view, (within(source, name) for name in ROOT_NAMES)), source)


def _lib_path(package: str, view: TreeView) -> str | None:
    """The library's root where the manifest names one."""
    written = _table(_manifest(package, view), "lib").get("path")
    place = join(package, written) if isinstance(written, str) else None
    return place if place is not None and is_file(view, place) else None


def _module_of(path: str, crate: Crate) -> tuple[str, ...]:
    if path == crate.root:
        return ()
    inside = path.removeprefix(f"{crate.folder}/") if crate.folder else path
    parts = inside.removesuffix(".rs").split("/")
    return tuple(parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts)


def _known_crates(package: str, view: TreeView) -> dict[str, Crate]:
    """The libraries inside the root that a package can name."""
    manifest = _manifest(package, view)
    crates = dict(_dependencies(manifest, package, view))
    own = _library_of(package, view)
    if own is not None:
        names = [_table(manifest, table).get("name") for table in ("package", "lib")]
        crates.update({name.replace("-", "_"): own for name in names if isinstance(name, str)})
    return crates


def _dependencies(manifest: Mapping[str, Any], package: str, view: TreeView) -> list[tuple[str, Crate]]:
    found: list[tuple[str, Crate]] = []
    libraries: dict[str, Crate | None] = {}
    shared: tuple[str, Mapping[str, Any]] | None = None
    # What only some systems depend on stands in tables of their own.
    platforms = _table(manifest, "target")
    for holder in (manifest, *(_table(platforms, platform) for platform in platforms)):
        for name, entry in chain.from_iterable(_table(holder, table).items() for table in TABLES):
            place, source = package, entry
            if isinstance(entry, dict) and entry.get("workspace") is True:
                shared = shared or _workspace(package, view)
                place, source = shared[0], shared[1].get(name)
            written = source.get("path") if isinstance(source, dict) else None
            folder = join(place, written) if isinstance(written, str) else None
            if folder is None:
                continue
            if folder not in libraries:
                libraries[folder] = _library_of(folder, view)
            library = libraries[folder]
            if library is not None:
                found.append((name.replace("-", "_"), library))
    return found


def _workspace(package: str, view: TreeView) -> tuple[str, Mapping[str, Any]]:
    """The folder of the workspace a package is in, and its shared dependencies."""
    for folder in ancestors(package):
        manifest = _manifest(folder, view)
        if "workspace" in manifest:
            return folder, _table(_table(manifest, "workspace"), "dependencies")
    return package, {}


def _library_of(package: str, view: TreeView) -> Crate | None:
    """The library crate of a package."""
    named = _lib_path(package, view)
    root = named or first_file(view, [within(package, "src/lib.rs")])
    return None if root is None else Crate(root, folder_of(root))


def _table(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table of a manifest; empty where it is missing or something else."""
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}


def _manifest(package: str, view: TreeView) -> Mapping[str, Any]:
    path = within(package, MANIFEST)
    text = view.text(path) if is_file(view, path) else None
    try:
        return {} if text is None else toml_of(text)
    except ValueError:
        return {}
