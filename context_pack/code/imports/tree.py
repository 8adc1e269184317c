"""The files of a tree as imports are looked for in it.

Paths are plain strings, relative to the root with `/` between parts and "" for the root itself. `join` is the
only way to follow `..`, and it never leaves the root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

Found = Iterator[tuple[str, Iterable[str] | str | None]]
"""Each imported name with the path or paths that it leads to."""
MOST_PARTS = 60
"""A name of more parts is not looked for."""
MOST_LOOKS = 20_000
"""How many files are looked for that the list of the tree does not have."""


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


def in_common(one: str, other: str) -> int:
    """How many folders two paths begin with together."""
    count = 0
    for mine, theirs in zip(one.split("/"), other.split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


class TreeFiles:
    """Every file of the tree by its name, and the text of those that are asked for."""

    def __init__(
        self,
        by_name: Mapping[str, Sequence[str]],
        text: Callable[[str], str | None],
        is_file: Callable[[str], bool],
    ) -> None:
        self.by_name = by_name
        self.text = text
        self._is_file, self._looks = is_file, 0

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
            folders.setdefault(folder, []).append(name)
        return folders

    @cached_property
    def folders_by_name(self) -> Mapping[str, Sequence[str]]:
        """The folders that have a name."""
        named: dict[str, list[str]] = {}
        for folder in self.folders:
            named.setdefault(name_of(folder), []).append(folder)
        return named

    def first(self, places: Iterable[str | None]) -> str | None:
        """The first place that is a file."""
        return next((place for place in places if place is not None and self.has(place)), None)

    def has(self, place: str) -> bool:
        """Whether there is a file; in known folders also one that is ignored, as what was generated is."""
        if place in self.files:
            return True
        if folder_of(place) not in self.folders or place in self.folders or self._looks >= MOST_LOOKS:
            return False
        self._looks += 1
        return self._is_file(place)

    def nearest(self, folder: str, *names: str) -> str | None:
        """The file of one of these names closest above a folder."""
        return self.first(within(above, name) for above in ancestors(folder) for name in names)

    def ending_in(self, parts: Sequence[str], near: str) -> list[str]:
        """The files whose paths end in the parts, the nearest to a path first."""
        if len(parts) > MOST_PARTS:
            return []
        tail = "/" + "/".join(parts)
        found = [path for path in self.by_name.get(parts[-1], ()) if f"/{path}".endswith(tail)]
        return sorted(found, key=lambda path: (-in_common(path, near), path.count("/"), path))

    def folders_ending_in(self, parts: Sequence[str]) -> list[str]:
        """The folders whose paths end in the parts."""
        if not parts or len(parts) > MOST_PARTS:
            return []
        tail = "/" + "/".join(parts)
        return [folder for folder in self.folders_by_name.get(parts[-1], ()) if f"/{folder}".endswith(tail)]
