"""The source tree as import resolvers see it, and their results.

Paths are plain strings here, relative to the root with `/` between parts and "" for the root itself: a
resolver makes hundreds of guesses for one file, and every hit becomes a checked path behind it. `join` is the
only way to follow `..`, and it never leaves the root.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from attrs import frozen

from context_pack.kernel.syntax import Parsed


class TreeView(Protocol):
    """The tree as it is during one call; every question is cheap to ask twice."""

    def files(self, folder: str) -> frozenset[str]:
        """The names of the readable files in a folder; empty when there is no such folder."""

    def folders(self, folder: str) -> frozenset[str]:
        """The names of the folders in a folder."""

    def text(self, path: str) -> str | None:
        """The text of a file, or None when it cannot be read."""

    def parsed(self, path: str) -> Parsed | None:
        """A file as its grammar reads it, or None when it cannot be read or parsed."""


class Unparsable(Exception):
    """A text that its language's own parser refuses; `line` says where."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class TooManyPlaces(Exception):
    """A project names so many places for imports that they are not all looked at."""


@frozen
class Imports:
    """What a file imports: paths inside the root in the order found, and the names that led to none."""

    paths: tuple[str, ...] = ()
    external: tuple[str, ...] = ()


Found = Iterator[tuple[str, Iterable[str] | str | None]]
"""Each imported name with the path or paths that it leads to."""


def imports_of(found: Found) -> Imports:
    """What was found, each thing once; a name without a path is external."""
    paths: dict[str, None] = {}
    external: dict[str, None] = {}
    for name, hits in found:
        some = (hits,) if isinstance(hits, str) else tuple(hits or ())
        paths.update(dict.fromkeys(some))
        if not some:
            external[name] = None
    return Imports(tuple(paths), tuple(external))


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


def within(folder: str, name: str) -> str:
    """The path of a name in a folder; either may be empty."""
    return f"{folder}/{name}" if folder and name else folder or name


def folder_of(path: str) -> str:
    """The folder a path is in."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def ancestors(folder: str) -> Iterator[str]:
    """The folder and every folder it is in, the nearest first, the root last."""
    while folder:
        yield folder
        folder = folder_of(folder)
    yield ""


def is_file(view: TreeView, path: str) -> bool:
    """Whether there is a readable file at the path."""
    return name_of(path) in view.files(folder_of(path))


def is_folder(view: TreeView, path: str) -> bool:
    """Whether there is a folder at the path; the root is one."""
    return not path or name_of(path) in view.folders(folder_of(path))


def depth_of(view: TreeView, folder: str, parts: Sequence[str]) -> int:
    """How many of the parts are folders, one in the other, below a folder."""
    for count, part in enumerate(parts):
        if part not in view.folders(folder):
            return count
        folder = within(folder, part)
    return len(parts)


def json_object(text: str | None) -> dict[str, Any]:
    """The object that a text spells; an empty one for any other text."""
    try:
        read: Any = json.loads(text or "")
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def first_file(view: TreeView, candidates: Iterable[str]) -> str | None:
    """The first candidate that is a file."""
    return next((path for path in candidates if is_file(view, path)), None)


def nearest(view: TreeView, folder: str, *names: str) -> str | None:
    """The file of one of these names closest above a folder; in one folder the first name wins."""
    for place in ancestors(folder):
        files = view.files(place)
        for name in names:
            if name in files:
                return within(place, name)
    return None
