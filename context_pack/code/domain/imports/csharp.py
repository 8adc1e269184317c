"""Usings of C#: a namespace is the files of its folder that declare it, a type is the file of its name.

C# ties neither to the other, so only what a project's folders spell is found: namespaces are looked for from
where the file's own namespace begins, from the nearest project file (whose root namespace its folders leave
out) and from the folder that project is in. Folders may hold several parts of a name (`Shop.Core`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import define

from context_pack.code.domain.imports.namespaces import Origin, folders_of, origin
from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    ancestors,
    folder_of,
    within,
)
from context_pack.kernel.syntax import Parsed

MOST_LOOKED_INTO = 200
MOST_PARTS = 30
"""A name of more parts is not looked for."""
_DECLARES = r"^[ \t]*+namespace[ \t]++{}[ \t]*+(?:[;{{]|//|/\*|\r?$)"
_ROOT_NAMESPACE = re.compile(r"<RootNamespace>\s*([\w.]+)\s*</RootNamespace>")


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """The files that the usings of the file at `path` lead to."""
    namespace = _parts(parsed.package)
    projects = _Projects(view, tuple(dict.fromkeys(_origins(namespace, folder_of(path), view))))
    for name, how in dict.fromkeys((_parts(using.specifier), using.how) for using in parsed.imports):
        if len(name) > MOST_PARTS:
            yield ".".join(name), None
            continue
        files = projects.type_files(name) if how == "type" else []
        yield ".".join(name), files or projects.namespace_files(name)


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a name, without the arguments of a generic type."""
    plain = name.partition("<")[0].rpartition("::")[2]
    return tuple(part.strip().removeprefix("@") for part in plain.split(".")) if plain else ()


def _origins(namespace: tuple[str, ...], here: str, view: TreeView) -> Iterator[Origin]:
    """The folders that names may begin in, the surest first."""
    if namespace:
        yield origin(here, namespace, dotted=True)
    for folder in ancestors(here):
        project = min((name for name in view.files(folder) if name.endswith(".csproj")), default=None)
        if project is not None:
            named = _ROOT_NAMESPACE.search(view.text(within(folder, project)) or "")
            yield Origin(folder, tuple((named[1] if named else project.removesuffix(".csproj")).split(".")))
            if folder:
                yield Origin(folder_of(folder))
            break
    yield Origin("")
    yield Origin("src")


@define
class _Projects:
    """The folders in which namespaces are looked for; how many files are looked into is bounded."""

    view: TreeView
    origins: Sequence[Origin]
    _left: int = MOST_LOOKED_INTO

    def _folders(self, name: tuple[str, ...]) -> list[str]:
        found: dict[str, None] = {}
        for start in self.origins:
            for spelled in start.spelled(name):
                if spelled or start.omitted:
                    found.update(dict.fromkeys(folders_of(spelled, start.folder, self.view)))
        return list(found)

    def type_files(self, name: tuple[str, ...]) -> list[str]:
        """The file of a type, or of the type around a nested one."""
        for length in range(len(name), 1, -1):
            file = f"{name[length - 1]}.cs"
            for folder in self._folders(name[: length - 1]):
                if file in self.view.files(folder):
                    return [within(folder, file)]
        return []

    def namespace_files(self, name: tuple[str, ...]) -> list[str]:
        """The files in the folders of a namespace that declare it."""
        folders = self._folders(name)
        if not folders:
            return []
        declares = re.compile(_DECLARES.format(re.escape(".".join(name))), re.MULTILINE)
        found: list[str] = []
        for folder in folders:
            for file in sorted(each for each in self.view.files(folder) if each.endswith(".cs")):
                self._left -= 1
                text = self.view.text(within(folder, file)) if self._left >= 0 else None
                if text is not None and declares.search(text):
                    found.append(within(folder, file))
        return found
