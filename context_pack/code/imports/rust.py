"""Imports of Rust: `mod`, `use` trees and `extern crate`.

A declared module is its file; a used path is the deepest module on it that has a file. A crate is a root file
and the folder of its top-level modules; which one a file belongs to follows Cargo's layout. Other crates are
known by their packages' names, and by dependencies with a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field

from context_pack.code.imports.tree import (
    MOST_PARTS,
    Found,
    TreeFiles,
    ancestors,
    folder_of,
    in_common,
    join,
    name_of,
    within,
)
from context_pack.kernel.syntax import Parsed
from context_pack.kernel.text import toml_of

MOST_NESTED = 64
MOST_MANIFESTS = 500
_STEP = re.compile(r"::|[{},*]|(?:r#)?+(\w++)")
_ROOTS = ("lib.rs", "main.rs")


def rust(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the modules and used paths of a file lead."""
    crate = _Crate.of(path, tree)
    declared = {(each.inside, each.specifier) for each in parsed.imports if each.how == "mod"}
    for each in parsed.imports:
        inside, name = each.inside[:MOST_NESTED], each.specifier.removeprefix("r#")
        if each.how == "mod":
            start = crate.folder_inside(inside)
            named = [join(start if inside else folder_of(path), written) for written in each.names]
            files = [place for place in named if place in tree.files]
            yield name, files or crate.module_file(within(start, name))
            continue
        for parts, outside in (
            [((name,), True)] if each.how == "crate" else dict.fromkeys(_paths(each.specifier))
        ):
            yield _used(parts, inside, outside, crate, declared)


def _used(
    parts: tuple[str, ...],
    inside: tuple[str, ...],
    outside: bool,
    crate: _Crate,
    declared: set[tuple[tuple[str, ...], str]],
) -> tuple[str, str | None]:
    """The external name of a used path, and the file it leads to."""
    first, *rest = parts
    if first == "crate" and not outside:
        return "::".join(parts), crate.deepest(tuple(rest))
    if first in ("self", "super") and not outside:
        module = (*crate.module, *inside)
        steps = list(parts)
        while steps and steps[0] in ("self", "super"):
            module = module[:-1] if steps.pop(0) == "super" else module
        return "::".join(parts), crate.deepest((*module, *steps))
    child = crate.module_file(within(crate.folder_inside(inside), first)) is not None
    if not outside and ((inside, first) in declared or child):
        return first, crate.deepest((*crate.module, *inside, *parts))
    return first, crate.other(first, rest)


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


@define
class _Crate:
    """The crate of a file, and the file's place in it."""

    tree: TreeFiles
    path: str
    root: str | None
    folder: str
    _others: dict[str, str] | None = field(default=None, init=False)

    @classmethod
    def of(cls, path: str, tree: TreeFiles) -> _Crate:
        """The crate of the file at a path, by Cargo's layout."""
        here = folder_of(path)
        manifest = tree.nearest(here, "Cargo.toml")
        package = folder_of(manifest or "")
        library = _library(package, tree) if manifest else None
        if (
            library
            and path.startswith(within(folder_of(library), "") + "/")
            and name_of(folder_of(library)) != "src"
        ):
            return cls(tree, path, library, folder_of(library))
        parts = (path.removeprefix(f"{package}/") if package else path).split("/")
        source = next((above for above in ancestors(here) if name_of(above) == "src"), here)
        if (manifest and parts[0] in ("tests", "examples", "benches")) or parts[:2] == ["src", "bin"]:
            depth = 2 if parts[0] == "src" else 1
            top = within(package, *parts[:depth])
            own = within(top, parts[depth])
            if len(parts) > depth + 1 and within(own, "main.rs") in tree.files:
                return cls(tree, path, within(own, "main.rs"), own)
            return cls(tree, path, path if len(parts) == depth + 1 else None, top)
        if manifest and parts[0] != "src":
            return cls(tree, path, path, here)
        if here == source and name_of(path) in _ROOTS:
            return cls(tree, path, path, source)
        return cls(tree, path, tree.first(within(source, name) for name in _ROOTS), source)

    @property
    def module(self) -> tuple[str, ...]:
        """The names from the crate's root to this file."""
        if self.path == self.root:
            return ()
        inside = self.path.removeprefix(f"{self.folder}/") if self.folder else self.path
        parts = inside.removesuffix(".rs").split("/")
        return tuple(parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts)

    def module_file(self, place: str) -> str | None:
        """The file of the module that would be at a place."""
        return self.tree.first((f"{place}.rs", f"{place}/mod.rs"))

    def folder_inside(self, inline: Sequence[str]) -> str:
        """Where the files of modules declared inside these inline modules are."""
        name = name_of(self.path)
        own = "" if self.path == self.root or name in (*_ROOTS, "mod.rs") else name.removesuffix(".rs")
        return within(folder_of(self.path), own, *inline)

    def deepest(self, parts: tuple[str, ...]) -> str | None:
        """The deepest file on a path from the crate's root."""
        if parts[: len(self.module)] == self.module:
            # Below this file the folder is known, even where the file's own place is unusual.
            return self._below(self.folder_inside(()), parts[len(self.module) :]) or self.path
        return self._below(self.folder, parts) or self.root

    def other(self, name: str, parts: Sequence[str]) -> str | None:
        """The deepest file on a path of another crate of the tree."""
        if self._others is None:
            self._others = dict(_crates(self.tree, self.path))
        root = self._others.get(name)
        return None if root is None else self._below(folder_of(root), parts) or root

    def _below(self, folder: str, parts: Sequence[str]) -> str | None:
        lengths = range(min(len(parts), MOST_PARTS), 0, -1)
        return next(
            filter(None, (self.module_file(within(folder, *parts[:length])) for length in lengths)), None
        )


def _crates(tree: TreeFiles, near: str) -> Iterator[tuple[str, str]]:
    """The libraries of the tree by the names that they may be used by, the nearest last."""
    manifests = sorted(tree.by_name.get("Cargo.toml", ()), key=lambda path: (in_common(path, near), path))
    for path in manifests[-MOST_MANIFESTS:]:
        package, manifest = folder_of(path), _manifest(folder_of(path), tree)
        platforms = _table(manifest, "target")
        for holder in (manifest, *(_table(platforms, each) for each in platforms)):
            for table in ("dependencies", "dev-dependencies", "build-dependencies"):
                for name, entry in _table(holder, table).items():
                    written = entry.get("path") if isinstance(entry, dict) else None
                    folder = join(package, written) if isinstance(written, str) else None
                    if folder is not None and (root := _library(folder, tree)):
                        yield name.replace("-", "_"), root
        if root := _library(package, tree):
            for own in (_table(manifest, table).get("name") for table in ("package", "lib")):
                if isinstance(own, str):
                    yield own.replace("-", "_"), root


def _library(package: str, tree: TreeFiles) -> str | None:
    """The root file of a package's library."""
    written = _table(_manifest(package, tree), "lib").get("path")
    named = join(package, written) if isinstance(written, str) else None
    return tree.first((named, within(package, "src/lib.rs")))


def _manifest(package: str, tree: TreeFiles) -> dict[str, Any]:
    path = within(package, "Cargo.toml")
    try:
        return toml_of((tree.text(path) if path in tree.files else None) or "")
    except ValueError:
        return {}


def _table(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of a manifest; empty where it is missing or something else."""
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}
