"""Imports of Java and Kotlin: the nearest file that ends in the parts of a class.

Of a Kotlin name without a file of its own it is the files of its package that declare it. In multiplatform
projects what is common comes before what is for one platform.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from attrs import frozen

from context_pack.code.imports.tree import (
    MOST_PARTS,
    Found,
    TreeFiles,
    ancestors,
    folder_of,
    in_common,
    name_of,
    within,
)
from context_pack.kernel.syntax import Parsed

_PLATFORM = frozenset({"java", "javax", "jakarta", "kotlin", "kotlinx", "android", "androidx", "jdk"})
"""Beginnings of names that are looked for in the file's own module only."""
MOST_DECLARING = 200
_DECLARES = (
    r"^(?:[\w@][^\n]{{0,200}}?\s)?(?:fun|va[lr]|class|interface|object|typealias)\s+"
    r"(?:<[^\n>]{{0,200}}>+\s*)?(?:[\w.<>?*, ]{{1,200}}\.)?`?{}\b"
)
"""A declaration near the beginning of its line: without bounds, a line full of keywords takes minutes."""


def jvm(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the imports of a Java or Kotlin file lead."""
    here, package = folder_of(path).split("/"), _dotted(parsed.package)
    agree = 0
    while agree < min(len(here), len(package)) and here[-agree - 1] == package[-agree - 1]:
        agree += 1
    omitted = package[
        : len(package) - agree
    ]  # what this file's folders do not spell, others leave out as well
    sources = _JvmFiles(tree, "/".join(here[: len(here) - agree]))
    for specifier, how, whole in dict.fromkeys(
        (each.specifier, each.how, "*" in each.names) for each in parsed.imports
    ):
        # `import module …` is newer than the grammar.
        first, *rest = _dotted(specifier)
        name = (first.split()[-1] if first else "", *rest)
        spelled = [name] if len(name) <= MOST_PARTS else []
        if omitted and name[: len(omitted)] == omitted and spelled:
            spelled.append(name[len(omitted) :])
        found = (sources.named(parts, how == "static", whole) for parts in spelled if parts)
        yield ".".join(name) + (".*" if whole else ""), next(filter(None, found), None)


def _dotted(name: str) -> tuple[str, ...]:
    return tuple(part.strip(" \t\r\n`") for part in name.split(".")) if name else ()


@frozen
class _JvmFiles:
    """The classes and packages that a file sees; `root` is the folder that its own package begins in."""

    tree: TreeFiles
    root: str

    def named(self, parts: tuple[str, ...], static: bool, whole: bool) -> list[str]:
        """The files that an import leads to: a package, a class or the one around it, else a declaration."""
        if whole and not static and (files := next(self._packages(parts), [])):
            return files
        longest = len(parts) - (static and not whole)
        types = (self._type(parts[:length]) for length in range(longest, max(longest - 3, 1), -1))
        return next(filter(None, types), None) or self._type(parts) or self._declaring(parts)

    def _type(self, parts: Sequence[str]) -> list[str]:
        """The file of a class."""
        *package, last = parts
        names = [f"{last}.java", f"{last}.kt", *([f"{last[:-2]}.kt"] if last.endswith("Kt") else [])]
        files = [
            path for name in names if package for path in self.tree.ending_in((*package, name), self.root)
        ]
        return self._seen(files, parts[0])[:1]

    def _packages(self, parts: Sequence[str]) -> Iterator[list[str]]:
        """The files of a package, module by module, the nearest first."""
        folders = self.tree.folders_ending_in(parts)
        files = [within(folder, name) for folder in folders for name in self.tree.folders[folder]]
        sources = self._seen([file for file in files if file.endswith((".java", ".kt"))], "".join(parts[:1]))
        for _, near in groupby(sources, key=lambda path: in_common(path, self._module)):
            yield list(near)

    def _declaring(self, parts: Sequence[str]) -> list[str]:
        """The Kotlin files of a package that declare a name at their top."""
        declares = re.compile(_DECLARES.format(re.escape(parts[-1])), re.MULTILINE)
        for files in self._packages(parts[:-1]):
            kotlin = [path for path in files if path.endswith(".kt")][:MOST_DECLARING]
            texts = ((path, self.tree.text(path) or "") for path in kotlin)
            if found := [path for path, text in texts if parts[-1] in text and declares.search(text)]:
                return found
        return []

    @property
    def _module(self) -> str:
        """The `src` folder that the file is in, else where its package begins."""
        return next((place for place in ancestors(self.root) if name_of(place) == "src"), self.root)

    def _seen(self, paths: Iterable[str], first: str) -> list[str]:
        """Those that the file can see, the own source folder first, then the nearest, then what is common.

        Nothing but tests sees tests.
        """
        tests = "test" in self.root.lower()
        seen = [each for each in paths if tests or "test" not in _source_set(each).lower()]
        if first in _PLATFORM:
            seen = [each for each in seen if each.startswith(within(self._module, ""))]
        own = within(self.root, "")
        return sorted(
            seen,
            key=lambda path: (
                not path.startswith(own),
                -in_common(path, self._module),
                "commonMain" not in path,
                path,
            ),
        )


def _source_set(path: str) -> str:
    """The source set that a file is in, as `main` of `src/main/java/A.java`."""
    parts = path.split("/")
    return parts[parts.index("src") + 1] if "src" in parts[:-1] else ""
