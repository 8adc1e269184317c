"""Imports of PHP: `require` and `include` of literal files, and `use` by the PSR-4 map of composer.json.

A file may be named by itself or from `__DIR__` and `dirname(…)`. A class is looked for where the nearest
composer.json maps its namespace; without such a map, from where the file's own namespace begins. The traits
of a class count where they lead to a file. Text outside `<?php … ?>` is no code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from context_pack.code.domain.imports.namespaces import origin
from context_pack.code.domain.imports.tree import (
    Found,
    Imports,
    TreeView,
    first_file,
    folder_of,
    join,
    nearest,
    within,
)
from context_pack.kernel.syntax import Import, Parsed

MOST_PARTS = 100
_SLASH = "\\"
_BUILT = re.compile(
    r"(?:(?P<here>__DIR__)|dirname\s*+\(\s*+(?P<from>__FILE__|__DIR__)\s*+(?:,\s*+(?P<up>\d)\s*+)?+\))\s*+\.\s*+"
    r"(?:\"(?P<double>[^\"\\$]*+)\"|'(?P<single>[^'\\]*+)')",
    re.IGNORECASE,
)
_USE = re.compile(r"use\s++(?P<what>[^;{]*+)(?P<group>\{[^{}]*+\})?+", re.IGNORECASE)
_ALIAS = re.compile(r"\s+as\s+(\w+)\s*\Z", re.IGNORECASE)
_NAME = re.compile(r"\\?[^\W\d]\w*+(?:\\\w++)*+")
_MEMBER = re.compile(r"\A(?:function|const)\s+", re.IGNORECASE)


@frozen
class Required:
    """One required file; `up` is how many folders above the file it starts, None where that is not said."""

    name: str
    up: int | None


@frozen
class Head:
    """What a file says about itself and others."""

    namespace: tuple[str, ...]
    files: tuple[Required, ...]
    classes: tuple[str, ...]
    traits: tuple[str, ...] = ()


def head_of(parsed: Parsed) -> Head:
    """The namespace, the required files, the used classes and the traits of a file."""
    namespace: tuple[str, ...] | None = None
    here: tuple[str, ...] = ()
    files: dict[Required, None] = {}
    used: dict[str, None] = {}
    traits: dict[str, None] = {}
    aliases: dict[str, str] = {}
    for each in parsed.imports:
        if each.how == "namespace":
            here, aliases = tuple(part.strip() for part in each.specifier.split(_SLASH)), {}
            namespace = here if namespace is None else namespace
        elif each.how in ("file", "built"):
            files.update(dict.fromkeys(_required(each)))
        elif (match := _USE.match(each.specifier)) is None:
            continue
        elif each.how == "use":
            for alias, name in _used(match["what"], match["group"]):
                used[name] = None
                aliases[alias.lower()] = name
        else:
            traits.update(dict.fromkeys(_full(name, here, aliases) for name in _traits(match["what"])))
    return Head(namespace or (), tuple(files), tuple(used), tuple(traits))


def _required(each: Import) -> Iterator[Required]:
    """The file that an expression names, if it names one by itself or from the folder of the file."""
    if each.how == "file":
        if "$" not in each.specifier:
            yield Required(each.specifier, None)
    elif (match := _BUILT.fullmatch(each.specifier.strip())) is not None:
        above = int(match["up"] or 1)
        up = 0 if match["here"] else above if match["from"].upper() == "__DIR__" else above - 1
        yield Required(match["double"] or match["single"] or "", up)


def _used(what: str, group: str | None) -> Iterator[tuple[str, str]]:
    """The names of one `use`, here and in full; functions and constants have no file of their own name."""
    prefix = what if group is not None else ""
    for part in (group[1:-1] if group is not None else what).split(","):
        written = (prefix + part.strip()).strip()
        alias = _ALIAS.search(written)
        name = _MEMBER.sub("", _ALIAS.sub("", written).strip()).strip("\\ \t\r\n")
        if part.strip() and name:
            yield (alias[1] if alias else name.rpartition("\\")[2]), name


def _traits(what: str) -> Iterator[str]:
    """The names in the `use` of a class."""
    return (name for part in what.split(",") if _NAME.fullmatch(name := part.strip()))


def _full(name: str, here: tuple[str, ...], aliases: Mapping[str, str]) -> str:
    """The full name of a class as it is written in a namespace."""
    if name.startswith("\\"):
        return name.strip("\\")
    first, slash, rest = name.partition("\\")
    if first.lower() == "namespace" and slash:
        return "\\".join((*here, rest))
    known = aliases.get(first.lower())
    return f"{known}{slash}{rest}" if known is not None else "\\".join((*here, name))


def resolve(parsed: Parsed, path: str, view: TreeView) -> Imports:
    """The files that the names lead to."""
    head = head_of(parsed)
    here = folder_of(path)
    found = Found()
    for required in head.files:
        found.add(required.name, first_file(view, _places(required, here)))
    if head.classes or head.traits:
        maps = _psr4(here, view)
        start = origin(here, head.namespace)
        for name in (*head.classes, *head.traits):
            candidates = [*_mapped(name, maps)]
            if not maps:
                spelled = start.spelled(tuple(name.split("\\")))
                candidates += [within(start.folder, "/".join(parts)) + ".php" for parts in spelled if parts]
            file = first_file(view, candidates)
            if file is not None or name in head.classes:  # a trait of elsewhere was imported, and told, there
                found.add(name, file)
    return found.imports()


def _places(required: Required, here: str) -> Iterator[str]:
    starts = [here, ""] if required.up is None else [join(here, "../" * required.up)]
    for start in starts:
        place = None if start is None else join(start, required.name)
        if place and (required.up is not None or not required.name.startswith("/")):
            yield place


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
    text = None if path is None else view.text(path)
    if path is None or text is None:
        return {}
    try:
        config: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, list[str]] = {}
    for section in ("autoload", "autoload-dev"):
        loaded = config.get(section) if isinstance(config, dict) else None
        mapped = loaded.get("psr-4") if isinstance(loaded, dict) else None
        for prefix, folders in mapped.items() if isinstance(mapped, dict) else ():
            for folder in folders if isinstance(folders, list) else [folders]:
                place = join(folder_of(path), folder) if isinstance(folder, str) else None
                if place is not None:
                    found.setdefault(f"{prefix.rstrip(_SLASH)}{_SLASH}" if prefix else "", []).append(place)
    return found
