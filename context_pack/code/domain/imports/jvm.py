"""Imports of Java and Kotlin: classes, nested classes, static members, whole packages, functions.

A class is the file of its name in the folder of its package; a package is every file of its folder. Folders
are looked for from where the importing file's own package begins, in the source sets beside it
(`src/main/java`, `src/test/kotlin`, …) and in the modules around it. A Kotlin name without a file of its own
is looked for among the declarations of its package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from context_pack.code.domain.imports.namespaces import Origin, origin
from context_pack.code.domain.imports.tree import (
    Found,
    TreeView,
    ancestors,
    depth_of,
    folder_of,
    is_folder,
    name_of,
    within,
)
from context_pack.kernel.syntax import Import, Parsed

ENDINGS = (".java", ".kt")
LANGUAGE_FOLDERS = ("java", "kotlin")
MOST_MODULES = 100
MOST_DECLARING = 64
_PLATFORM = ("java", "javax", "jakarta", "kotlin", "kotlinx", "android", "androidx", "jdk")


@frozen
class JvmImport:
    """One import; `member` for a static one, `all` for one that ends in a star."""

    name: tuple[str, ...]
    member: bool
    all: bool

    @property
    def written(self) -> str:
        """The name as it was written."""
        return ".".join(self.name) + (".*" if self.all else "")


def resolve(parsed: Parsed, path: str, view: TreeView) -> Found:
    """The files that the imports of the file at `path` lead to."""
    sources = _Sources(view, origin(folder_of(path), _parts(parsed.package)))
    for each in dict.fromkeys(map(_wanted, parsed.imports)):
        yield each.written, sources.files(each)


def _wanted(written: Import) -> JvmImport:
    # `import module …` is newer than the grammar.
    first, *others = _parts(written.specifier)
    name = (first.split()[-1] if first else first, *others)
    return JvmImport(name, written.how == "static", "*" in written.names)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip(" \t\r\n`") for part in name.split(".")) if name else ()


@define
class _Sources:
    """The folders in which packages are looked for."""

    view: TreeView
    own: Origin
    _around: list[Origin] | None = field(default=None, init=False)

    def files(self, each: JvmImport) -> list[str]:
        """Where an import leads: near first, then in the modules around."""
        near = [self.own, *(Origin(folder, self.own.omitted) for folder in self._sets(self.own.folder))]
        found = self._in(near, each)
        if found or each.name[0] in _PLATFORM:
            return found
        if self._around is None:
            self._around = [Origin(folder, self.own.omitted) for folder in self._modules()]
        return self._in(self._around, each)

    def _in(self, origins: Sequence[Origin], each: JvmImport) -> list[str]:
        if each.all and not each.member:
            found = {
                file for folder in self._packages(origins, each.name) for file in self._sources_in(folder)
            }
            return sorted(found) or self._class(origins, each.name)
        name = each.name[:-1] if each.member and not each.all else each.name
        return (
            self._class(origins, name)
            or self._class(origins, each.name)
            or self._declaring(origins, each.name)
        )

    def _packages(self, origins: Sequence[Origin], name: tuple[str, ...]) -> Iterator[str]:
        """The folders of a package."""
        for start in origins:
            for spelled in start.spelled(name):
                folder = "/".join(filter(None, (start.folder, *spelled)))
                if spelled and is_folder(self.view, folder):
                    yield folder

    def _sources_in(self, folder: str) -> Iterator[str]:
        return (within(folder, name) for name in sorted(self.view.files(folder)) if name.endswith(ENDINGS))

    def _class(self, origins: Sequence[Origin], name: tuple[str, ...]) -> list[str]:
        """The file of a class, or of the class around a nested one."""
        for length in range(min(len(name), self._depth(origins, name) + 1), 1, -1):
            *package, last = name[:length]
            for folder in self._packages(origins, tuple(package)):
                names = [last + ending for ending in ENDINGS]
                names += [last.removesuffix("Kt") + ".kt"] if last.endswith("Kt") else []
                hit = next((each for each in names if each in self.view.files(folder)), None)
                if hit is not None:
                    return [within(folder, hit)]
        return []

    def _depth(self, origins: Sequence[Origin], name: tuple[str, ...]) -> int:
        """How many parts of a name are folders, or left out by them."""
        depths = (
            len(name) - len(spelled) + depth_of(self.view, start.folder, spelled)
            for start in origins
            for spelled in start.spelled(name)
        )
        return max(depths, default=0)

    def _declaring(self, origins: Sequence[Origin], name: tuple[str, ...]) -> list[str]:
        """The Kotlin files of a package that declare a name."""
        found: dict[str, None] = {}
        for folder in self._packages(origins, name[:-1]):
            files = [file for file in self._sources_in(folder) if file.endswith(".kt")]
            found.update(
                dict.fromkeys(each for each in files[:MOST_DECLARING] if self._declares(each, name[-1]))
            )
        return list(found)

    def _declares(self, file: str, name: str) -> bool:
        """Whether a file declares a name at its top."""
        parsed = self.view.parsed(file) if name in (self.view.text(file) or "") else None
        return parsed is not None and any(
            not each.depth and each.name.strip("`") == name for each in parsed.definitions
        )

    def _sets(self, folder: str) -> Iterator[str]:
        """The source folders next to one, as in `src/main/java` and `src/test/kotlin`."""
        source = _source_folder(folder)
        if source is not None:
            yield from self._set_folders(source)

    def _set_folders(self, source: str) -> Iterator[str]:
        for each in sorted(self.view.folders(source)):
            if "test" in each.lower() and "test" not in self.own.folder.lower():
                continue  # nothing but tests sees tests
            languages = self.view.folders(within(source, each))
            yield from (f"{source}/{each}/{name}" for name in LANGUAGE_FOLDERS if name in languages)
        yield source

    def _modules(self) -> Iterator[str]:
        """The source folders of the modules around, up to two folders deep."""
        source = _source_folder(self.own.folder)
        looked = 0
        for place in ancestors(folder_of(folder_of(source)) if source else self.own.folder):
            for module in sorted(self.view.folders(place)):
                inner = within(place, module)
                for each in (inner, *(within(inner, name) for name in sorted(self.view.folders(inner)))):
                    looked += 1
                    if looked > MOST_MODULES:
                        return
                    if "src" in self.view.folders(each):
                        yield from self._set_folders(within(each, "src"))


def _source_folder(folder: str) -> str | None:
    """The `src` folder that a folder is in."""
    return next((place for place in ancestors(folder) if name_of(place) == "src"), None)
