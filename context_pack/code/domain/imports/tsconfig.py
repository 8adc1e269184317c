"""The module mapping of a TypeScript or JavaScript project: `paths`, `baseUrl` and what they extend.

The nearest tsconfig.json, else jsconfig.json, above a file decides. Configurations are JSON with comments and
trailing commas; one that cannot be read maps nothing. `extends` is followed inside the root only, and where
the nearest configuration is but a list of `references`, the first of those that maps anything is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from attrs import evolve, frozen

from context_pack.code.domain.imports.tree import TreeView, first_file, folder_of, join, nearest
from context_pack.kernel.lexing import (
    BLOCK_COMMENT,
    DOUBLE_QUOTED,
    LINE_COMMENT,
    code,
    comment,
    lexer,
)

MOST_EXTENDED = 10
MOST_REFERENCES = 20
CONFIG_DIR = "${configDir}"

_JSON = lexer(comment(LINE_COMMENT), comment(BLOCK_COMMENT), code(DOUBLE_QUOTED))
_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|,(?=\s*+[}\]])", re.DOTALL)


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
                if place is not None:
                    yield place
        if self.base is not None:
            place = join(self.base, name)
            if place is not None and not name.startswith("/"):
                yield place

    def _matching(self, name: str) -> list[tuple[str, tuple[str, ...]]]:
        """The pattern that fits best: an exact one, else the one with the longest text before its star."""
        exact = [entry for entry in self.patterns if entry[0] == name]
        fitting = [entry for entry in self.patterns if "*" in entry[0] and _fits(entry[0], name)]
        return exact or sorted(fitting, key=lambda entry: -entry[0].index("*"))[:1]


def _fits(pattern: str, name: str) -> bool:
    head, _, tail = pattern.partition("*")
    return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)


def mapping_for(folder: str, view: TreeView) -> PathMapping:
    """The mapping that holds for files in a folder."""
    path = nearest(view, folder, "tsconfig.json", "jsconfig.json")
    if path is None:
        return PathMapping()
    found = _mapping(path, folder_of(path), view, MOST_EXTENDED)
    if found.patterns or found.base is not None:
        return found
    for reference in _references(path, view):
        found = _mapping(reference, folder_of(reference), view, MOST_EXTENDED)
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


def _mapping(path: str, main: str, view: TreeView, left: int) -> PathMapping:
    """What one configuration maps, with what it extends beneath it; `main` is where `${configDir}` is."""
    config = _read(path, view)
    result = PathMapping()
    if left:
        extended = config.get("extends")
        for written in (
            [extended] if isinstance(extended, str) else extended if isinstance(extended, list) else []
        ):
            parent = _config(folder_of(path), written, view) if isinstance(written, str) else None
            if parent is not None and parent != path:
                lower = _mapping(parent, main, view, left - 1)
                result = PathMapping(
                    lower.patterns or result.patterns, result.base if lower.base is None else lower.base
                )
    options = config.get("compilerOptions")
    return _over(result, options, folder_of(path), main) if isinstance(options, dict) else result


def _over(lower: PathMapping, options: dict[str, Any], folder: str, main: str) -> PathMapping:
    """The options of a configuration over those it extends; paths start at its base, else at its folder."""
    result, written = lower, options.get("baseUrl")
    if isinstance(written, str):
        result = evolve(result, base=_at(folder, written, main))
    paths = options.get("paths")
    if isinstance(paths, dict):
        start = folder if result.base is None else result.base
        result = evolve(result, patterns=tuple(_patterns(paths, start, main)))
    return result


def _patterns(paths: dict[str, Any], start: str, main: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for pattern, targets in paths.items():
        if isinstance(targets, list) and pattern.count("*") <= 1:
            places = (_at(start, target, main) for target in targets if isinstance(target, str))
            yield pattern, tuple(place for place in places if place is not None)


def _at(folder: str, written: str, main: str) -> str | None:
    """A path of a configuration, inside the root."""
    if written.startswith(CONFIG_DIR):
        return join(main, written.removeprefix(CONFIG_DIR))
    return None if written.startswith("/") else join(folder, written)


def _config(folder: str, written: str, view: TreeView) -> str | None:
    """The file of a configuration that another one names; those of packages are not looked for."""
    if not written.startswith("."):
        return None
    place = join(folder, written)
    if place is None:
        return None
    return first_file(view, (place, f"{place}.json", f"{place}/tsconfig.json" if place else "tsconfig.json"))


def _read(path: str, view: TreeView) -> dict[str, Any]:
    text = view.text(path)
    if text is None:
        return {}
    plain = _COMMA.sub(lambda found: found[1] or " ", _JSON.mask(text))
    try:
        config = json.loads(plain)
    except (ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}
