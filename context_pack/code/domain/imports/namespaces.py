"""Finds the folder where a namespace begins, for Java, Kotlin, PHP and C#.

A file that says its own namespace shows where names begin: as much of its folder as agrees with the end of
the namespace is part of the name, the rest is the folder that names are looked for in. A beginning of the
namespace that no folder spells (a common prefix that projects leave out) is left off other names too.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from context_pack.code.domain.imports.tree import TreeView, within

MOST_FOLDERS = 200


@frozen
class Origin:
    """A folder that names start from, and the beginning of names that its folders do not spell."""

    folder: str
    omitted: tuple[str, ...] = ()

    def spelled(self, name: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """The ways a name may be spelled by folders here."""
        yield name
        if self.omitted and name[: len(self.omitted)] == self.omitted:
            yield name[len(self.omitted) :]


def origin(folder: str, namespace: tuple[str, ...], dotted: bool = False) -> Origin:
    """Where names begin for a file of this namespace in this folder; `dotted` folders hold several names."""
    parts = folder.split("/") if folder else []
    left = namespace
    while parts and left:
        names = tuple(parts[-1].split(".")) if dotted else (parts[-1],)
        if left[-len(names) :] != names:
            break
        left = left[: -len(names)]
        parts.pop()
    return Origin("/".join(parts), left)


def folders_of(name: tuple[str, ...], start: str, view: TreeView) -> list[str]:
    """The folders below `start` that spell a name, each of them one or, with dots, several of its parts."""
    found: list[str] = []
    todo = [(start, name)]
    looked = 0
    while todo and looked < MOST_FOLDERS:
        folder, left = todo.pop()
        looked += 1
        if not left:
            found.append(folder)
            continue
        for count in range(1, len(left) + 1):
            if (inner := ".".join(left[:count])) in view.folders(folder):
                todo.append((within(folder, inner), left[count:]))
    return sorted(found)
