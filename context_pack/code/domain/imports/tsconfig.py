"""The module mapping of a TypeScript or JavaScript project: `paths`, `baseUrl` and what they extend.

The nearest tsconfig.json, else jsconfig.json, above a file decides. Configurations are JSON with comments and
trailing commas; one that cannot be read maps nothing. `extends` is followed inside the root only, by path
and to packages of the same workspaces; where the nearest configuration is but a list of `references`, the
first of those that maps anything is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from attrs import frozen

from context_pack.code.domain.imports.tree import (
    TreeView,
    first_file,
    folder_of,
    join,
    json_object,
    nearest,
    within,
)
from context_pack.code.domain.imports.workspaces import Workspaces

MOST_EXTENDED = 50
MOST_REFERENCES = 20
LONGEST_HEAD = 1000
CONFIG_DIR = "${configDir}"
OUTSIDE = "../outside"
"""In the place of one outside the root: nothing is found there, and the look counts as any other."""

_STRING = r"(\"(?:[^\"\\]|\\.)*+\"?+)"
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"{_STRING}|,(?=\s*+[}}\]])", re.DOTALL)


@frozen
class PathMapping:
    """Where names that are not relative may lead: patterns with their targets, and a folder for the rest."""

    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    base: str | None = None

    def places(self, name: str) -> Iterator[str]:
        """The places to look for a name, the best first."""
        for pattern, targets in self._matching(name):
            head, star, tail = pattern.partition("*")
            middle = name[len(head) : len(name) - len(tail)] if star else ""
            for target in targets:
                place = join("", target.replace("*", middle, 1))
                yield OUTSIDE if place is None else place
        if self.base is not None:
            place = join(self.base, name)
            if place is not None and not name.startswith("/"):
                yield place

    def _matching(self, name: str) -> list[tuple[str, tuple[str, ...]]]:
        """The pattern that fits best: an exact one, else the one with the longest text before its star."""
        for end in range(min(len(name), self._longest), -1, -1):
            for entry in self._by_head.get(name[:end], ()):
                if _fits(entry[0], name):
                    return [entry]
        return []

    @cached_property
    def _by_head(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """The patterns by their text before the star, exact ones first: there may be thousands."""
        heads: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for entry in sorted(self.patterns, key=lambda entry: "*" in entry[0]):
            heads.setdefault(entry[0].partition("*")[0], []).append(entry)
        return heads

    @cached_property
    def _longest(self) -> int:
        return min(max(map(len, self._by_head), default=0), LONGEST_HEAD)


def _fits(pattern: str, name: str) -> bool:
    head, star, tail = pattern.partition("*")
    if not star:
        return pattern == name
    return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)


@frozen
class _Options:
    """What a configuration says with all that it extends: `paths` as they were written in `home`."""

    paths: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    home: str = ""
    base: str | None = None

    def over(self, lower: _Options) -> _Options:
        """These options where they say something, else the lower ones."""
        chosen = lower if self.paths is None else self
        return _Options(chosen.paths, chosen.home, lower.base if self.base is None else self.base)


def mapping_for(folder: str, view: TreeView) -> PathMapping:
    """The mapping that holds for files in a folder."""
    path = nearest(view, folder, "tsconfig.json", "jsconfig.json")
    if path is None:
        return PathMapping()
    for each in (path, *_references(path, view)):
        main = folder_of(each)
        found = _mapping(_options(each, main, view, {}), main)
        if found.patterns or found.base is not None:
            return found
    return PathMapping()


def _references(path: str, view: TreeView) -> Iterator[str]:
    listed = _read(path, view).get("references")
    for reference in (listed if isinstance(listed, list) else [])[:MOST_REFERENCES]:
        written = reference.get("path") if isinstance(reference, dict) else None
        found = _config(folder_of(path), written, view) if isinstance(written, str) else None
        if found is not None:
            yield found


def _options(path: str, main: str, view: TreeView, known: dict[str, _Options]) -> _Options:
    """The options of a configuration over those it extends; `main` is where `${configDir}` is.

    Each configuration is asked once, however often and in whatever circles they extend each other.
    """
    if path in known or len(known) >= MOST_EXTENDED:
        return known.get(path, _Options())
    result = known[path] = _Options()
    config = _read(path, view)
    extended = config.get("extends")
    for written in extended if isinstance(extended, list) else [extended]:
        parent = _config(folder_of(path), written, view) if isinstance(written, str) else None
        if parent is not None:
            result = _options(parent, main, view, known).over(result)
    options = config.get("compilerOptions")
    known[path] = _own(options, folder_of(path), main).over(result) if isinstance(options, dict) else result
    return known[path]


def _own(options: dict[str, Any], folder: str, main: str) -> _Options:
    """The options of one configuration without those it extends."""
    base, paths = options.get("baseUrl"), options.get("paths")
    return _Options(
        tuple(_patterns(paths)) if isinstance(paths, dict) else None,
        folder,
        _at(folder, base, main) if isinstance(base, str) else None,
    )


def _patterns(paths: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for pattern, targets in paths.items():
        if isinstance(targets, list) and pattern.count("*") <= 1:
            yield pattern, tuple(target for target in targets if isinstance(target, str))


def _mapping(options: _Options, main: str) -> PathMapping:
    """The mapping of some options: paths start at `baseUrl`, else at the folder that declares them."""
    start = options.home if options.base is None else options.base
    patterns = (
        (pattern, tuple(place for target in targets if (place := _at(start, target, main)) is not None))
        for pattern, targets in options.paths or ()
    )
    return PathMapping(tuple(patterns), options.base)


def _at(folder: str, written: str, main: str) -> str | None:
    """A path of a configuration, inside the root."""
    if written.startswith(CONFIG_DIR):
        return join(main, written.removeprefix(CONFIG_DIR))
    return None if written.startswith("/") else join(folder, written)


def _config(folder: str, written: str, view: TreeView) -> str | None:
    """The file of a configuration that another one names, by path or in a package of the same workspaces."""
    if not written.startswith("."):
        places = Workspaces(folder, view).places
        return first_file(view, chain(_endings(places(written)), places(f"{written}/tsconfig.json")))
    place = join(folder, written)
    return None if place is None else first_file(view, (*_endings([place]), within(place, "tsconfig.json")))


def _endings(places: Iterable[str]) -> Iterator[str]:
    """The file names of a configuration that is named with or without its ending."""
    for place in places:
        yield from (place, f"{place}.json") if place else ()


def _read(path: str, view: TreeView) -> dict[str, Any]:
    text = view.text(path) or ""
    for left_out in (_COMMENT, _COMMA):
        text = left_out.sub(lambda found: found[1] or " ", text)
    return json_object(text)
