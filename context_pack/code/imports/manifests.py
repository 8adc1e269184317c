"""What a project calls its own code: names with the places that they stand for, read from its manifests.

Each manifest becomes rows of one kind: a pattern with at most one star, and a place with the same star.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from context_pack.code.imports.tree import TreeFiles, ancestors, folder_of, in_common, join, within
from context_pack.kernel.paths import EXCLUDED_FOLDERS

MOST_MANIFESTS = 500
MOST_EXTENDED = 50
MOST_TARGETS = 50
"""How many places a pattern may have."""
LONGEST_MANIFEST = 200_000
MAIN_FIELDS = ("source", "types", "module", "main")
_CONDITIONS = ("source", "import", "module", "types", "require", "node", "browser", "default")
_JSON_STRING = r"(\"(?:[^\"\\]|\\.)*+\"?+)"
_COMMENT = re.compile(rf"{_JSON_STRING}|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"{_JSON_STRING}|,(?=\s*+[}}\]])", re.DOTALL)
_GO_COMMENT = re.compile(r"//[^\n]*+")
_GO_MODULE = re.compile(r"^[ \t]*+module[ \t]++[\"`]?([^\s\"`()]++)", re.MULTILINE)
_GO_REPLACED = re.compile(
    r"^[ \t]*+(?:replace[ \t]++)?(\S++)(?:[ \t]++v\S++)?[ \t]++=>[ \t]++(\.{1,2}(?:/\S*+)?)", re.MULTILINE
)


class Row(NamedTuple):
    """A pattern of names, and a place that it may stand for."""

    pattern: str
    target: str


class Names:
    """Rows, looked up by what a name begins with."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[str, list[tuple[str, str, str]]] = {}
        for pattern, target in rows:
            head, star, tail = pattern.partition("*")
            row = (star, tail, target)
            if len(places := self._rows.setdefault(head if star else f"{head}\0", [])) < MOST_TARGETS:
                places.append(row)
        self._lengths = sorted({len(head) for head in self._rows}, reverse=True)

    def places(self, name: str) -> Iterator[tuple[str, str]]:
        """The places of a name, those of the longest pattern first, with what the star stands for."""
        for length in self._lengths:
            whole = length == len(name) + 1
            if length > len(name) and not whole:
                continue
            for star, tail, target in self._rows.get(f"{name}\0" if whole else name[:length], ()):
                if not star:
                    yield target, ""
                elif name.endswith(tail) and len(name) >= length + len(tail):
                    middle = name[length : len(name) - len(tail)]
                    yield target.replace("*", middle, 1), middle


def read_json(text: str | None) -> dict[str, Any]:
    """The object that a text spells, which may have comments and trailing commas; else an empty one."""
    read: Any = None
    if text is not None and len(text) <= LONGEST_MANIFEST:
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            for left_out in (_COMMENT, _COMMA):
                text = left_out.sub(lambda found: found[1] or " ", text)
            with suppress(ValueError, RecursionError):
                read = json.loads(text)
    return read if isinstance(read, dict) else {}


def _manifests(tree: TreeFiles, name: str, near: str) -> list[str]:
    """The manifests of a name, the nearest first."""
    paths = sorted(tree.by_name.get(name, ()), key=lambda path: (-in_common(path, near), path))
    return paths[:MOST_MANIFESTS]


def _table(value: Any, *keys: str) -> dict[str, Any]:
    """A table inside of tables; empty where it is missing or something else."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[str]:
    """The texts of a list, or the one text."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str)]


def go_modules(tree: TreeFiles, near: str) -> Names:
    """The modules of go.mod files and their local replacements, each with its folder."""
    rows = []
    for path in _manifests(tree, "go.mod", near):
        text = _GO_COMMENT.sub("", tree.text(path) or "")
        named = [(name, "") for name in _GO_MODULE.findall(text)[:1]]
        for name, written in (*named, *_GO_REPLACED.findall(text)):
            if (place := join(folder_of(path), written)) is not None:
                rows += [Row(name.strip('"`'), place), Row(f"{name}/*", within(place, "*"))]
    return Names(rows)


def psr4(tree: TreeFiles, near: str) -> Names | None:
    """The namespaces of the nearest composer.json, None if it has none."""
    path = tree.nearest(folder_of(near), "composer.json")
    config = read_json(tree.text(path)) if path else {}
    rows = []
    for section in ("autoload", "autoload-dev"):
        for prefix, folders in _table(config, section, "psr-4").items():
            for folder in _listed(folders):
                if (place := join(folder_of(path or ""), folder)) is not None:
                    rows.append(
                        Row(f"{prefix.rstrip(chr(92))}{chr(92)}*" if prefix else "*", within(place, "*"))
                    )
    return Names(rows) if rows else None


def typescript_paths(tree: TreeFiles, near: str) -> Iterator[Names]:
    """The `paths` and the `baseUrl` of the tsconfig and jsconfig files above a file, the nearest first."""
    for folder in ancestors(folder_of(near)):
        names = [name for name in tree.folders.get(folder, ()) if _is_config(name)]
        for path in _extended([within(folder, name) for name in sorted(names, key=_main_first)], tree):
            options = _table(read_json(tree.text(path)), "compilerOptions")
            home, written = folder_of(path), options.get("baseUrl")
            base = join(home, written) if isinstance(written, str) else None
            rows = []
            for pattern, targets in _table(options, "paths").items():
                for target in (
                    _listed(targets) if isinstance(targets, list) and pattern.count("*") < 2 else ()
                ):
                    inside = target.removeprefix("${configDir}/")
                    place = (
                        join(folder, inside)
                        if inside != target
                        else join(home if base is None else base, target)
                    )
                    if place is not None and not target.startswith("/"):
                        rows.append(Row(pattern, place))
            if rows or base is not None:
                yield Names([*rows, *([] if base is None else [Row("*", within(base, "*"))])])


def _is_config(name: str) -> bool:
    return name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json")


def _main_first(name: str) -> tuple[bool, str]:
    return name != "tsconfig.json", name


def _extended(paths: list[str], tree: TreeFiles) -> list[str]:
    """The configurations and those that they extend by path, each once."""
    for path in paths:
        for written in (
            _listed(read_json(tree.text(path)).get("extends")) if len(paths) < MOST_EXTENDED else ()
        ):
            place = join(folder_of(path), written) if written.startswith(".") else None
            found = tree.first((place, f"{place}.json")) if place else None
            if found is not None and found not in paths:
                paths.append(found)
    return paths


def node_packages(tree: TreeFiles, near: str) -> Names:
    """The packages of the tree by name, by what they offer; `#names` are those of the file's own package."""
    own = tree.nearest(folder_of(near), "package.json")
    rows: list[Row] = []
    for path in _manifests(tree, "package.json", near):
        folder, config = folder_of(path), read_json(tree.text(path))
        if path == own:
            rows += _below(folder, config.get("imports"), "")
        if not isinstance(name := config.get("name"), str) or not name:
            continue
        exports = config.get("exports")
        if isinstance(exports, str) or not any(key[:1] == "." for key in _table(exports)):
            exports = {".": exports}
        rows += _below(folder, exports, name)
        starts = [*main_places(folder, config), *(within(folder, each) for each in ("src/index", "index"))]
        rows += [Row(name, place) for place in sorted(starts, key=_is_built)]
        rows += [Row(f"{name}/*", within(folder, inner, "*")) for inner in ("", "src")]
    return Names(rows)


def _below(folder: str, table: Any, name: str) -> list[Row]:
    """The rows of a table of subpaths; what was built comes after what it was built from."""
    rows = []
    for key, value in _table({"table": table}, "table").items():
        pattern = name + key.removeprefix(".") if name else key
        for written in _chosen(value):
            place = join(folder, written)
            if (
                place is not None
                and pattern.count("*") < 2
                and (not folder or place.startswith(f"{folder}/"))
            ):
                rows.append(Row(pattern, place))
    return sorted(rows, key=lambda row: _is_built(row.target))


def _is_built(place: str) -> bool:
    return not EXCLUDED_FOLDERS.isdisjoint(place.split("/"))


def _chosen(value: Any, depth: int = 8) -> Iterator[str]:
    """The files of a conditional value, by the conditions that a reader of sources would take."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict) and depth:
        for inner in value if isinstance(value, list) else map(value.get, _CONDITIONS):
            yield from _chosen(inner, depth - 1)


def main_places(folder: str, config: dict[str, Any], typed: bool = True) -> list[str]:
    """Where the manifest of a package says that it begins."""
    fields = sorted(MAIN_FIELDS, key=lambda name: name == "types" and not typed)
    written = [value for name in fields if isinstance(value := config.get(name), str)]
    places = (join(folder, each) for each in written)
    return [place for place in places if place and (not folder or place.startswith(f"{folder}/"))]
