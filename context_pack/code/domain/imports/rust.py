"""Imports of Rust: `mod` declarations, `use` trees and `extern crate`, with the inline module they stand in.

What a path means depends on the crate a file belongs to; that is `rust_crates`' business. Here a text becomes
items, and items become files: a declared module is its file, a used path is the deepest module on it that has
one, and the modules on the way do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from context_pack.code.domain.imports.rust_crates import Neighbourhood
from context_pack.code.domain.imports.tree import Found, Imports, TreeView, folder_of, join, within
from context_pack.kernel.lexing import (
    LINE_COMMENT,
    comment,
    lexer,
    nested_comment,
    opaque,
    string,
)
from context_pack.kernel.lexing import code as plain_code

MOST_NESTED = 64


def _raw_end(text: str, opening: re.Match[str]) -> int:
    closing = '"' + "#" * opening[0].count("#")
    end = text.find(closing, opening.end())
    return len(text) if end < 0 else end + len(closing)


_RUST = lexer(
    comment(LINE_COMMENT),
    comment(r"/\*", nested_comment),
    opaque(r"\b(?:br|cr|r)#*+\"", _raw_end),
    string(r'"(?:[^"\\]|\\(?s:.))*+"?'),
    opaque(r"'(?:[^'\\\n]|\\(?:u\{[0-9A-Fa-f_]*+\}|x[0-9A-Fa-f]{2}|[^\n]))'"),
    plain_code(r"'"),
)
_ITEM = re.compile(
    r"(?P<attribute>#\s*+\[[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+\])|(?P<brace>[{}])"
    r"|(?:pub\b\s*+(?:\([^()]*+\)\s*+)?+)?+(?:\bmod\s++(?:r#)?+(?P<mod>\w++)\s*+(?P<opens>[;{])"
    r"|\b(?P<use>use)\s++|\bextern\s++crate\s++(?P<crate>\w++))"
)
_PATH = re.compile(r"\bpath\s*+=\s*+\"(\0++)\"")
_STEP = re.compile(r"::|[{},*]|(?:r#)?+(\w++)")


@frozen
class Module:
    """`mod name;` inside the inline modules `inside`, with the files that `#[path]` names."""

    inside: tuple[str, ...]
    name: str
    paths: tuple[str, ...] = ()


@frozen
class Use:
    """One path of a `use` tree; `outside` when it starts with `::`."""

    inside: tuple[str, ...]
    parts: tuple[str, ...]
    outside: bool = False


Item = Module | Use


def parse(text: str) -> tuple[Item, ...]:
    """Every module declaration and used path, in order."""
    return tuple(dict.fromkeys(_items(text, _RUST.mask(text))))


def _items(text: str, code: str) -> Iterator[Item]:
    scope, attributes = _Scope(), _Attributes(code)
    at = 0
    while (match := _ITEM.search(code, at)) is not None:
        at = match.end()
        if match["attribute"]:
            attributes.add(match)
        elif match["brace"]:
            scope.brace(match["brace"])
        elif match["opens"] == "{":
            scope.enter(match["mod"])
        elif match["mod"]:
            start, end = attributes.before(match)
            named = tuple(text[slice(*found.span(1))] for found in _PATH.finditer(code, start, end))
            yield Module(scope.inside, match["mod"], named)
        elif match["crate"]:
            yield Use(scope.inside, (match["crate"],), outside=True)
        else:
            end = code.find(";", at)
            if end < 0:
                return
            yield from _tree(code[at:end], scope.inside)
            at = end


@define
class _Scope:
    """The inline modules that are open, each with the depth of its brace."""

    _depth: int = 0
    _modules: list[tuple[str, int]] = field(factory=list)

    @property
    def inside(self) -> tuple[str, ...]:
        """Their names, the outermost first."""
        return tuple(name for name, _ in self._modules)

    def brace(self, seen: str) -> None:
        """A brace went by."""
        self._depth += 1 if seen == "{" else -1
        while self._modules and self._modules[-1][1] > self._depth:
            self._modules.pop()

    def enter(self, name: str) -> None:
        """An inline module begins; far down nobody counts them."""
        self._depth += 1
        if len(self._modules) < MOST_NESTED:
            self._modules.append((name, self._depth))


@define
class _Attributes:
    """Attributes that stand together; they belong to what comes right after them."""

    _code: str
    _start: int = 0
    _end: int = 0

    def add(self, attribute: re.Match[str]) -> None:
        """One more; what stood between ends the group before it."""
        if self._code[self._end : attribute.start()].strip():
            self._start = attribute.start()
        self._end = attribute.end()

    def before(self, item: re.Match[str]) -> tuple[int, int]:
        """Where the attributes of an item are."""
        apart = self._code[self._end : item.start()].strip()
        return (0, 0) if apart else (self._start, self._end)


def _tree(tree: str, inside: tuple[str, ...]) -> Iterator[Use]:
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


def _use(inside: tuple[str, ...], prefix: tuple[str, ...], path: list[str], outside: bool) -> Iterator[Use]:
    """A path as an item, without a final `*` or `self`."""
    if not path:
        return
    parts = (*prefix, *path)
    if parts[-1] == "*" or (parts[-1] == "self" and len(parts) > 1):
        parts = parts[:-1]
    if parts:
        yield Use(inside, parts, outside)


def resolve(items: Sequence[Item], path: str, view: TreeView) -> Imports:
    """The files that the items lead to from the file at `path`."""
    around = Neighbourhood.of(path, view)
    declared = {(item.inside, item.name) for item in items if isinstance(item, Module)}
    found = Found()
    for item in items:
        if isinstance(item, Module):
            found.add(item.name, _declared(item, path, around))
        else:
            name, place = _used(item, around, declared)
            found.add(name, place)
    return found.imports()


def _declared(module: Module, path: str, around: Neighbourhood) -> list[str]:
    """The files of a declared module: each that `#[path]` names, on whatever condition, else its own."""
    start = around.folder_inside(module.inside)
    places = (join(start if module.inside else folder_of(path), written) for written in module.paths)
    named = [place for place in places if place is not None and around.file(place)]
    own = around.module_file(within(start, module.name))
    return named or ([] if own is None else [own])


def _used(
    use: Use, around: Neighbourhood, declared: set[tuple[tuple[str, ...], str]]
) -> tuple[str, str | None]:
    """What a used path is called when it is external, and where it leads."""
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
