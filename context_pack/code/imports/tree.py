"""The files of a tree as imports are looked for in it, and what its manifests call them.

Paths are plain strings, relative to the root with `/` between parts and "" for the root itself. `join` is the
only way to follow `..`, and it never leaves the root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from posixpath import basename as name_of
from posixpath import commonprefix
from posixpath import dirname as folder_of
from typing import Any

Found = Iterator[tuple[str, Iterable[str] | str | None]]
"""Each imported name with the path or paths that it leads to."""
MOST_MANIFESTS = 500
LONGEST_MANIFEST = 200_000
MOST_TARGETS = 50
"""How many places a pattern may have."""
_JSON_STRING = r"(\"(?:[^\"\\]|\\.)*+\"?+)"
_COMMENT = re.compile(rf"{_JSON_STRING}|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"{_JSON_STRING}|,(?=\s*+[}}\]])", re.DOTALL)


def join(folder: str, written: str) -> str | None:
    """Where `written` leads from a folder; None when it climbs out of the root."""
    parts = folder.split("/") if folder else []
    for part in written.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def within(folder: str, *names: str) -> str:
    """The path of names below a folder; any of them may be empty."""
    return "/".join(filter(None, (folder, *names)))


def ancestors(folder: str) -> Iterator[str]:
    """The folder and every folder it is in, the nearest first, the root last."""
    while folder:
        yield folder
        folder = folder_of(folder)
    yield ""


def in_common(one: str, other: str) -> int:
    """How many folders two paths begin with together."""
    return len(commonprefix((one.split("/"), other.split("/"))))


class TreeFiles:
    """Every file of the tree by its name, and the text of those that are asked for."""

    def __init__(self, by_name: Mapping[str, Sequence[str]], text: Callable[[str], str | None]) -> None:
        self.by_name, self.text = by_name, text

    @cached_property
    def files(self) -> frozenset[str]:
        """The paths of all files."""
        return frozenset(path for paths in self.by_name.values() for path in paths)

    @cached_property
    def folders(self) -> Mapping[str, Sequence[str]]:
        """The names of the files in each folder; of a folder with none, none."""
        folders: dict[str, list[str]] = {"": []}
        for path in sorted(self.files):
            folder, _, name = path.rpartition("/")
            for above in ancestors(folder):
                if above in folders:
                    break
                folders[above] = []
            folders[folder].append(name)
        return folders

    @cached_property
    def _folders_by_name(self) -> Mapping[str, Sequence[str]]:
        named: dict[str, list[str]] = {}
        for folder in self.folders:
            named.setdefault(name_of(folder), []).append(folder)
        return named

    def first(self, places: Iterable[str | None]) -> str | None:
        """The first place that is a file."""
        return next((place for place in places if place in self.files), None)

    def nearest(self, folder: str, name: str) -> str | None:
        """The file of a name closest above a folder."""
        return self.first(within(above, name) for above in ancestors(folder))

    def ending_in(self, parts: Sequence[str], near: str) -> list[str]:
        """The files whose paths end in the parts, the nearest to a path first."""
        tail = "/" + "/".join(parts)
        paths = [path for path in self.by_name.get(parts[-1], ()) if f"/{path}".endswith(tail)]
        return sorted(paths, key=lambda path: (-in_common(path, near), path.count("/"), path))

    def folders_ending_in(self, parts: Sequence[str]) -> list[str]:
        """The folders whose paths end in the parts."""
        tail = "/" + "/".join(parts)
        named = self._folders_by_name.get(parts[-1], ()) if parts else ()
        return [folder for folder in named if f"/{folder}".endswith(tail)]

    def manifests(self, name: str, near: str) -> list[str]:
        """The files of a name, the nearest to a path first."""
        paths = sorted(self.by_name.get(name, ()), key=lambda path: (-in_common(path, near), path))
        return paths[:MOST_MANIFESTS]

    def json(self, path: str | None) -> dict[str, Any]:
        """The object that a file spells, which may have comments and trailing commas; else an empty one."""
        text, read = self.text(path) if path else None, None
        if text is not None and len(text) <= LONGEST_MANIFEST:
            for left_out in (None, _COMMENT, _COMMA):
                text = left_out.sub(lambda found: found[1] or " ", text) if left_out else text
                with suppress(ValueError, RecursionError):
                    read = json.loads(text)
                    break
        return read if isinstance(read, dict) else {}


def table(value: Any, *keys: str) -> dict[str, Any]:
    """A table inside of tables; empty where it is missing or something else."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: Any) -> list[str]:
    """The texts of a list, or the one text."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str)]


class Names:
    """What manifests call places: patterns with at most one star, and a place with the same star."""

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        self._rows: dict[str, list[tuple[str, str, str]]] = {}
        for pattern, place in rows:
            head, star, tail = pattern.partition("*")
            places = self._rows.setdefault(head if star else f"{head}\0", [])
            if len(places) < MOST_TARGETS:
                places.append((star, tail, place))
        self._lengths = sorted({len(head) for head in self._rows}, reverse=True)

    def places(self, name: str) -> Iterator[str]:
        """The places that a name may stand for, those of the longest pattern first."""
        for length in self._lengths:
            whole = length == len(name) + 1
            if length > len(name) and not whole:
                continue
            for star, tail, place in self._rows.get(f"{name}\0" if whole else name[:length], ()):
                if not star:
                    yield place
                elif name.endswith(tail) and len(name) >= length + len(tail):
                    yield place.replace("*", name[length : len(name) - len(tail)], 1)
