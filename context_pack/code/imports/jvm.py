"""Imports of Java and Kotlin: Java's folders spell its packages, Kotlin's files say theirs in a first line.

Of a Kotlin name without a file of its own it is the files of its package that declare it. In multiplatform
projects what is common comes before what is for one platform.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

from attrs import define

from context_pack.code.imports.tree import MOST_PARTS, Found, TreeFiles, folder_of, in_common, within
from context_pack.kernel.syntax import Parsed

_PLATFORM = frozenset({"java", "javax", "jakarta", "kotlin", "kotlinx", "android", "androidx", "jdk"})
"""Beginnings of names that Java files of other modules do not answer to."""
MOST_KOTLIN = 5_000
MOST_DECLARING = 200
_PACKAGE = re.compile(r"^package[ \t]++([\w.`]++)", re.MULTILINE)
LONGEST_HEAD = 10_000
_DECLARES = (
    r"^(?:[\w@][^\n]{{0,200}}?\s)?(?:fun|va[lr]|class|interface|object|typealias)\s+"
    r"(?:<[^\n>]{{0,200}}>+\s*)?(?:[\w.<>?*, ]{{1,200}}\.)?`?{}\b"
)
"""A declaration near the beginning of its line: without bounds, a line full of keywords takes minutes."""


def jvm(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the imports of a Java or Kotlin file lead."""
    sources = _JvmFiles(tree, path, _dotted(parsed.package))
    for specifier, how, whole in dict.fromkeys(
        (each.specifier, each.how, "*" in each.names) for each in parsed.imports
    ):
        # `import module …` is newer than the grammar.
        first, *rest = _dotted(specifier)
        name = (first.split()[-1] if first else "", *rest)
        spelled = sources.named(name, how == "static", whole) if len(name) <= MOST_PARTS else []
        yield ".".join(name) + (".*" if whole else ""), spelled


def _dotted(name: str) -> tuple[str, ...]:
    return tuple(part.strip(" \t\r\n`") for part in name.split(".")) if name else ()


@define(slots=False)
class _JvmFiles:
    """The classes and packages that a file sees."""

    tree: TreeFiles
    path: str
    package: tuple[str, ...]

    def named(self, parts: tuple[str, ...], static: bool, whole: bool) -> list[str]:
        """The files that an import leads to: a package, a class or the one around it, else a declaration."""
        if whole and not static and (files := next(self._nearest(parts), [])):
            return files
        longest = len(parts) - (static and not whole)
        lengths = range(longest, max(longest - 3, 0), -1)
        types = (self._type(parts[:length]) for length in lengths)
        declared = (self._declaring(parts[:length]) for length in range(len(parts), 1, -1)[:3])
        return next(filter(None, types), None) or next(filter(None, declared), [])

    def _type(self, parts: Sequence[str]) -> list[str]:
        """The file of a class."""
        *package, last = parts
        names = {f"{last}.java", f"{last}.kt", f"{last.removesuffix('Kt')}.kt"}
        kotlin = [
            path for path in self._kotlin.get(".".join(package), ()) if path.rpartition("/")[2] in names
        ]
        java = self.tree.ending_in((*package, f"{last}.java"), self.path) if package else []
        return self._seen([*java, *kotlin], parts[0])[:1]

    def _nearest(self, parts: Sequence[str]) -> Iterator[list[str]]:
        """The files of a package, module by module, the nearest first."""
        folders = self.tree.folders_ending_in(parts)
        java = [
            within(folder, name)
            for folder in folders
            for name in self.tree.folders[folder]
            if name.endswith(".java")
        ]
        files = self._seen([*java, *self._kotlin.get(".".join(parts), ())], parts[0] if parts else "")
        for _, near in groupby(files, key=lambda path: in_common(path, self._module)):
            yield list(near)

    def _declaring(self, parts: Sequence[str]) -> list[str]:
        """The Kotlin files of a package that declare a name at their top."""
        declares = re.compile(_DECLARES.format(re.escape(parts[-1])), re.MULTILINE)
        for files in self._nearest(parts[:-1]):
            kotlin = [path for path in files if path.endswith(".kt")][:MOST_DECLARING]
            texts = ((path, self.tree.text(path) or "") for path in kotlin)
            if found := [path for path, text in texts if parts[-1] in text and declares.search(text)]:
                return found
        return []

    @cached_property
    def _kotlin(self) -> Mapping[str, Sequence[str]]:
        """The Kotlin files of each package; of very many files, those that are nearest."""
        files = [path for path in self.tree.files if path.endswith(".kt")]
        if len(files) > MOST_KOTLIN:
            files = sorted(files, key=lambda path: -in_common(path, self.path))[:MOST_KOTLIN]
        packages: dict[str, list[str]] = {}
        for path in files:
            head = _PACKAGE.search((self.tree.text(path) or "")[:LONGEST_HEAD])
            packages.setdefault(head[1].replace("`", "") if head else "", []).append(path)
        return packages

    @cached_property
    def _module(self) -> str:
        """The folder that the source sets of the file's module are in."""
        folders = folder_of(self.path).split("/")
        return "/".join(folders[: folders.index("src") + 1] if "src" in folders else folders)

    def _seen(self, paths: Iterable[str], first: str) -> list[str]:
        """Those that the file can see, the own source set first, then the nearest, then what is common.

        Nothing but tests sees tests.
        """
        tests, own = _is_test(self.path), _source_set(self.path)
        seen = [path for path in paths if tests or not _is_test(path)]
        if first in _PLATFORM:
            seen = [path for path in seen if path.endswith(".kt") or path.startswith(f"{self._module}/")]
        return sorted(
            seen,
            key=lambda path: (
                not path.startswith(f"{own}/"),
                -in_common(path, self._module),
                "common" not in _source_set(path).lower(),
                path,
            ),
        )


def _is_test(path: str) -> bool:
    return any(folder.lower() == "test" or folder.endswith("Test") for folder in path.split("/")[:-1])


def _source_set(path: str) -> str:
    """The folder of the source set that a file is in, as `src/main` or `common/src`."""
    parts = path.split("/")[:-1]
    at = parts.index("src") if "src" in parts else len(parts)
    inside = parts[at + 1 : at + 2]
    return "/".join(parts[: at + 1 + (inside != [] and inside[0].endswith(("main", "Main", "test", "Test")))])
