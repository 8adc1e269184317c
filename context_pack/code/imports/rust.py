"""Imports of Rust: `mod`, `use` trees and `extern crate`.

A declared module is its file; a used path is the deepest module on it that has a file. A crate is a root file
and the folder of its top-level modules; which one a file belongs to follows Cargo's layout. Other crates are
known by their packages' names, and by dependencies with a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from attrs import define

from context_pack.code.imports.tree import (
    Found,
    TreeFiles,
    ancestors,
    folder_of,
    join,
    name_of,
    table,
    texts,
    within,
)
from context_pack.kernel.syntax import Parsed
from context_pack.kernel.text import toml_of

MOST_NESTED = 64
_STEP = re.compile(r"::|[{},*]|(?:r#)?+(\w++)")
_ROOTS = ("lib.rs", "main.rs")
_TARGETS = ("tests", "examples", "benches")
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


def rust(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the modules and used paths of a file lead."""
    crate = _Crate(tree, path, *_root_of(path, tree))
    declared = {(each.inside, each.specifier) for each in parsed.imports if each.how == "mod"}
    for each in parsed.imports:
        inside, name = each.inside[:MOST_NESTED], each.specifier.removeprefix("r#")
        here = crate.folder_inside(inside)
        if each.how == "mod":
            named = [join(here if inside else folder_of(path), written) for written in each.names]
            files = [place for place in named if place in tree.files]
            yield name, files or crate.module_file(within(here, name))
            continue
        used = [((name,), True)] if each.how == "crate" else dict.fromkeys(_paths(each.specifier))
        for parts, outside in used:
            first, *rest = parts
            module = [*crate.module, *inside]
            if not outside and first == "crate":
                yield "::".join(parts), crate.deepest(rest)
            elif not outside and first in ("self", "super"):
                while rest and rest[0] == "super":
                    module, rest = module[:-1], rest[1:]
                yield "::".join(parts), crate.deepest([*(module[:-1] if first == "super" else module), *rest])
            elif not outside and ((inside, first) in declared or crate.module_file(within(here, first))):
                yield first, crate.deepest([*module, *parts])
            else:
                yield first, crate.other(first, rest)


def _paths(tree: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The paths that a `use` tree spells without new names, and whether it begins with `::`."""
    prefixes: list[tuple[str, ...]] = [()]
    path: list[str] = []
    renamed, outside = False, tree.lstrip().startswith("::")

    def ended() -> Iterator[tuple[tuple[str, ...], bool]]:
        parts = (*prefixes[-1], *path) if path else ()
        if parts and (parts[-1] == "*" or (parts[-1] == "self" and len(parts) > 1)):
            parts = parts[:-1]
        if parts:
            yield parts, outside

    for step in _STEP.finditer(tree):
        seen, word = step[0], step[1]
        if word is not None:
            if not renamed and word != "as":
                path.append(word)
            renamed = word == "as"
        elif seen == "*":
            path.append(seen)
        elif seen == "{":
            prefixes.append((*prefixes[-1], *path))
            path = []
            if len(prefixes) > MOST_NESTED:
                return
        elif seen != "::":
            yield from ended()
            path = []
            if seen == "}" and len(prefixes) > 1:
                prefixes.pop()
    yield from ended()


def _root_of(path: str, tree: TreeFiles) -> tuple[str | None, str]:
    """The root file of a file's crate, by Cargo's layout, and the folder of its top modules."""
    here, name = folder_of(path), name_of(path)
    manifest = tree.nearest(here, "Cargo.toml")
    package = folder_of(manifest or "")
    parts = (path.removeprefix(f"{package}/") if package else path).split("/")
    library = _library(package, tree) if manifest else None
    if library and not library.endswith("src/lib.rs") and path.startswith(f"{folder_of(library)}/"):
        return library, folder_of(library)
    depth = 2 if parts[:2] == ["src", "bin"] else 1 if manifest and parts[0] in _TARGETS else 0
    if depth:  # a file of its own, or a folder with its main file
        top, own = within(package, *parts[:depth]), within(package, *parts[: depth + 1])
        if len(parts) > depth + 1 and within(own, "main.rs") in tree.files:
            return within(own, "main.rs"), own
        return path if len(parts) == depth + 1 else None, top
    source = next((above for above in ancestors(here) if name_of(above) == "src"), here)
    if (manifest and parts[0] != "src") or (here == source and name in _ROOTS):
        return path, here
    return tree.first(within(source, each) for each in _ROOTS), source


@define(slots=False)
class _Crate:
    """The crate of a file, and the file's place in it."""

    tree: TreeFiles
    path: str
    root: str | None
    folder: str

    @property
    def module(self) -> list[str]:
        """The names from the crate's root to this file."""
        if self.path == self.root:
            return []
        inside = self.path.removeprefix(f"{self.folder}/") if self.folder else self.path
        parts = inside.removesuffix(".rs").split("/")
        return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts

    def module_file(self, place: str) -> str | None:
        """The file of the module that would be at a place."""
        return self.tree.first((f"{place}.rs", f"{place}/mod.rs"))

    def folder_inside(self, inline: Sequence[str]) -> str:
        """Where the files of modules declared inside these inline modules are."""
        name = name_of(self.path)
        own = "" if self.path == self.root or name in (*_ROOTS, "mod.rs") else name.removesuffix(".rs")
        return within(folder_of(self.path), own, *inline)

    def deepest(self, parts: Sequence[str]) -> str | None:
        """The deepest file on a path from the crate's root."""
        depth = len(self.module)
        if list(parts[:depth]) == self.module:
            # Below this file the folder is known, even where the file's own place is unusual.
            return self._below(self.folder_inside(()), parts[depth:]) or self.path
        return self._below(self.folder, parts) or self.root

    def other(self, name: str, parts: Sequence[str]) -> str | None:
        """The deepest file on a path of another crate of the tree."""
        root = self._others.get(name)
        return None if root is None else self._below(folder_of(root), parts) or root

    def _below(self, folder: str, parts: Sequence[str]) -> str | None:
        lengths = range(min(len(parts), MOST_NESTED), 0, -1)
        files = (self.module_file(within(folder, *parts[:length])) for length in lengths)
        return next(filter(None, files), None)

    @cached_property
    def _others(self) -> dict[str, str]:
        """The libraries of the tree by the names that they may be used by; the nearest counts."""
        found: dict[str, str] = {}
        for path in reversed(self.tree.manifests("Cargo.toml", self.path)):
            package, manifest = folder_of(path), _manifest(folder_of(path), self.tree)
            own = [(table(manifest, each).get("name"), package) for each in ("package", "lib")]
            holders = (manifest, *(table(manifest, "target", each) for each in table(manifest, "target")))
            needed = [
                (name, join(package, written))
                for holder in holders
                for each in _DEPENDENCIES
                for name, entry in table(holder, each).items()
                for written in texts(table(entry).get("path"))
            ]
            for name, folder in (*needed, *own):
                if isinstance(name, str) and folder is not None and (root := _library(folder, self.tree)):
                    found[name.replace("-", "_")] = root
        return found


def _library(package: str, tree: TreeFiles) -> str | None:
    """The root file of a package's library."""
    named = [join(package, written) for written in texts(table(_manifest(package, tree), "lib").get("path"))]
    return tree.first((*named, within(package, "src/lib.rs")))


def _manifest(package: str, tree: TreeFiles) -> dict[str, Any]:
    path = within(package, "Cargo.toml")
    try:
        return toml_of((tree.text(path) if path in tree.files else None) or "")
    except ValueError:
        return {}
