"""Imports of PHP: `require` and `include` of literal files, and `use` by the PSR-4 map of composer.json.

A file may be named by itself or from `__DIR__` and `dirname(…)`. A class is looked for where the nearest
composer.json maps its namespace; without such a map, from where the file's own namespace begins. The traits
of a class count where they lead to a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from context_pack.code.domain.imports.namespaces import Origin, origin
from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    first_file,
    folder_of,
    join,
    json_object,
    nearest,
    within,
)
from context_pack.kernel.syntax import Import, Parsed

MOST_PARTS = 100
_SLASH = "\\"
_START = re.compile(
    r"__DIR__|dirname\s*\(\s*(?P<from>__FILE__|__DIR__)\s*(?:,\s*(?P<up>\d)\s*)?\)", re.IGNORECASE
)
_TAKEN = re.compile(
    r"(?:(?:function|const)\s+)?(?P<name>[^\s]+)(?:\s+as\s+(?P<alias>\w+))?\s*\Z", re.IGNORECASE
)


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """The files that the names lead to."""
    here = folder_of(path)
    for each in parsed.imports:
        if each.how in ("file", "built") and (places := _places(each, here)) is not None:
            yield each.specifier, first_file(view, places)
    namespace = tuple(filter(None, parsed.package.split(_SLASH)))
    used = list(_used(parsed.imports))
    classes = dict.fromkeys(name for _, name in used)
    called = dict(used)
    traits = (_full(each.specifier, namespace, called) for each in parsed.imports if each.how == "trait")
    maps, start = _psr4(here, view), origin(here, namespace)
    for name in dict.fromkeys((*classes, *traits)):
        file = first_file(view, _homes(name, maps, start))
        if file is not None or name in classes:  # a trait of elsewhere was imported, and told, there
            yield name, file


def _used(imports: Iterable[Import]) -> Iterator[tuple[str, str]]:
    """The used names, as they are called here in lower case and in full.

    Functions and constants have no file of their own name, and are told like classes.
    """
    for each in imports:
        specifier = each.specifier.strip(_SLASH)
        if each.how == "use":
            yield (each.names[0] if each.names else specifier.rpartition(_SLASH)[2]).lower(), specifier
        elif each.how == "group":
            for taken in filter(None, map(_TAKEN.match, each.names)):
                alias = taken["alias"] or taken["name"].rpartition(_SLASH)[2]
                yield alias.lower(), f"{specifier}{_SLASH}{taken['name']}"


def _full(name: str, here: tuple[str, ...], called: Mapping[str, str]) -> str:
    """The full name of a class as it is written in a namespace."""
    if name.startswith(_SLASH):
        return name.strip(_SLASH)
    first, slash, rest = name.partition(_SLASH)
    if first.lower() == "namespace" and slash:
        return _SLASH.join((*here, rest))
    known = called.get(first.lower())
    return f"{known}{slash}{rest}" if known is not None else _SLASH.join((*here, name))


def _homes(name: str, maps: Mapping[str, Sequence[str]], start: Origin) -> Iterator[str]:
    """Where a class may be: by the map of composer.json or, without one, from where the namespace begins."""
    if maps:
        return _mapped(name, maps)
    spelled = start.spelled(tuple(name.split(_SLASH)))
    return (within(start.folder, "/".join(parts)) + ".php" for parts in spelled if parts)


def _places(required: Import, here: str) -> Iterator[str] | None:
    """Where a required file may be; None if its base folder is unknown."""
    written = required.names[0] if required.names else ""
    start = _START.fullmatch(written)
    if start is None:
        known = [] if required.specifier.startswith("/") else [here, ""]
        return None if written else filter(None, (join(each, required.specifier) for each in known))
    up = int(start["up"] or 1) if start["from"] else 0
    above = join(here, "../" * (up - (up > 0 and start["from"].upper() == "__FILE__")))
    place = None if above is None else join(above, required.specifier)
    return iter([place] if place else [])


def _mapped(name: str, maps: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Where a class may be, by the longest namespace that is mapped first."""
    end = len(name)
    for _ in range(MOST_PARTS):
        end = name.rfind("\\", 0, end)
        for folder in maps.get(name[: end + 1], ()):
            yield within(folder, name[end + 1 :].replace("\\", "/")) + ".php"
        if end < 0:
            return


def _psr4(here: str, view: TreeView) -> dict[str, list[str]]:
    """The PSR-4 map of the nearest composer.json: folders by namespace with its last backslash."""
    path = nearest(view, here, "composer.json")
    if path is None:
        return {}
    config = json_object(view.text(path))
    found: dict[str, list[str]] = {}
    for section in ("autoload", "autoload-dev"):
        loaded = config.get(section)
        mapped = loaded.get("psr-4") if isinstance(loaded, dict) else None
        for prefix, folders in mapped.items() if isinstance(mapped, dict) else ():
            for folder in folders if isinstance(folders, list) else [folders]:
                place = join(folder_of(path), folder) if isinstance(folder, str) else None
                if place is not None:
                    found.setdefault(f"{prefix.rstrip(_SLASH)}{_SLASH}" if prefix else "", []).append(place)
    return found
