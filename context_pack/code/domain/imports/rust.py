"""Imports of Rust: `mod` declarations, `use` trees and `extern crate`, with the inline module they stand in.

What a path means depends on the crate a file belongs to; that is `rust_crates`' business. Here a text becomes
items, and items become files: a declared module is its file, a used path is the deepest module on it that has
one, and the modules on the way do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from context_pack.code.domain.imports.rust_crates import Neighbourhood
from context_pack.code.domain.imports.tree import Found, TreeView, folder_of, join, within
from context_pack.kernel.syntax import Import, Parsed

MOST_NESTED = 64
_STEP = re.compile(r"::|[{},*]|(?:r#)?+(\w++)")


@frozen
class Module:
    """`mod name;` inside the inline modules `inside`, with the files that `#[path]` names."""

    inside: tuple[str, ...]
    name: str
    paths: tuple[str, ...] = ()


@frozen
class UsePath:
    """One path of a `use` tree; `outside` when it starts with `::`."""

    inside: tuple[str, ...]
    parts: tuple[str, ...]
    outside: bool = False


Item = Module | UsePath


def _items_of(each: Import) -> Iterator[Item]:
    """The module that is declared, or the paths that are used."""
    inside, name = each.inside[:MOST_NESTED], each.specifier.removeprefix("r#")
    if each.how == "mod":
        yield Module(inside, name, each.names)
    elif each.how == "crate":
        yield UsePath(inside, (name,), outside=True)
    else:
        yield from _tree(each.specifier, inside)


def _tree(tree: str, inside: tuple[str, ...]) -> Iterator[UsePath]:
    """The paths that a `use` tree spells; names given with `as` are left off."""
    prefixes: list[tuple[str, ...]] = [()]
    path: list[str] = []
    renamed, outside = False, tree.lstrip().startswith("::")
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
            yield from _use(inside, prefixes[-1], path, outside)
            path = []
            if seen == "}" and len(prefixes) > 1:
                prefixes.pop()
    yield from _use(inside, prefixes[-1], path, outside)


def _use(
    inside: tuple[str, ...], prefix: tuple[str, ...], path: list[str], outside: bool
) -> Iterator[UsePath]:
    """A path as an item, without a final `*` or `self`."""
    if not path:
        return
    parts = (*prefix, *path)
    if parts[-1] == "*" or (parts[-1] == "self" and len(parts) > 1):
        parts = parts[:-1]
    if parts:
        yield UsePath(inside, parts, outside)


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """The files that modules and used paths lead to from the file at `path`."""
    items = tuple(dict.fromkeys(item for each in parsed.imports for item in _items_of(each)))
    around = Neighbourhood.of(path, view)
    declared = {(item.inside, item.name) for item in items if isinstance(item, Module)}
    for item in items:
        if isinstance(item, Module):
            yield item.name, _declared(item, path, around)
        else:
            yield _used(item, around, declared)


def _declared(module: Module, path: str, around: Neighbourhood) -> list[str]:
    """The files of a declared module: each that `#[path]` names, on whatever condition, else its own."""
    start = around.folder_inside(module.inside)
    places = (join(start if module.inside else folder_of(path), written) for written in module.paths)
    named = [place for place in places if place is not None and around.file(place)]
    own = around.module_file(within(start, module.name))
    return named or ([] if own is None else [own])


def _used(
    use: UsePath, around: Neighbourhood, declared: set[tuple[tuple[str, ...], str]]
) -> tuple[str, str | None]:
    """The external name of a used path, and the files it leads to."""
    first, *rest = use.parts
    if use.outside:
        return first, around.other_crate(first, rest)
    if first == "crate":
        return "::".join(use.parts), around.in_crate(tuple(rest))
    if first in ("self", "super"):
        module = (*around.module, *use.inside)
        for step in use.parts:
            if step == "super":
                module = module[:-1]
            elif step != "self":
                break
        below = tuple(step for step in use.parts if step not in ("self", "super"))
        return "::".join(use.parts), around.in_crate((*module, *below))
    if (use.inside, first) in declared or around.has_child(use.inside, first):
        return first, around.in_crate((*around.module, *use.inside, *use.parts))
    return first, around.other_crate(first, rest)
