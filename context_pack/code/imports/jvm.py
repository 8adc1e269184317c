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

from context_pack.code.imports.tree import Found, TreeFiles, folder_of, in_common, name_of, within
from context_pack.kernel.syntax import Parsed

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
    sources = _JvmFiles(tree, path)
    for specifier, how, whole in dict.fromkeys(
        (each.specifier, each.how, "*" in each.names) for each in parsed.imports
    ):
        # `import module …` is newer than the grammar.
        parts = [part.strip(" \t\r\n`") for part in specifier.removeprefix("module ").split(".")]
        yield ".".join(parts) + (".*" if whole else ""), sources.named(parts, how == "static", whole)


@define(slots=False)
class _JvmFiles:
    """The classes and packages that a file sees."""

    tree: TreeFiles
    path: str

    def named(self, parts: Sequence[str], static: bool, whole: bool) -> list[str]:
        """The files that an import leads to: a package, a class or the one around it, else a declaration."""
        if whole and not static and (files := next(self._package(parts), [])):
            return files
        longest = len(parts) - (static and not whole)
        types = (self._type(parts[:length]) for length in range(longest, max(longest - 3, 0), -1))
        declared = (self._declaring(parts[:length]) for length in range(len(parts), 1, -1)[:3])
        return next(filter(None, types), None) or next(filter(None, declared), [])

    def _type(self, parts: Sequence[str]) -> list[str]:
        """The file of a class."""
        *package, last = parts
        names = {f"{last}.java", f"{last}.kt", f"{last.removesuffix('Kt')}.kt"}
        kotlin = [path for path in self._kotlin.get(".".join(package), ()) if name_of(path) in names]
        java = self.tree.ending_in((*package, f"{last}.java"), self.path) if package else []
        return self._visible([*java, *kotlin])[:1]

    def _package(self, parts: Sequence[str]) -> Iterator[list[str]]:
        """The files of a package, module by module, the nearest first."""
        folders = self.tree.folders_ending_in(parts)
        inside = (within(folder, name) for folder in folders for name in self.tree.folders[folder])
        java = [path for path in inside if path.endswith(".java")]
        files = self._visible([*java, *self._kotlin.get(".".join(parts), ())])
        for _, near in groupby(files, key=lambda path: in_common(path, self._module)):
            yield list(near)

    def _declaring(self, parts: Sequence[str]) -> list[str]:
        """The Kotlin files of a package that declare a name at their top."""
        declares = re.compile(_DECLARES.format(re.escape(parts[-1])), re.MULTILINE)
        for files in self._package(parts[:-1]):
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
        return re.sub(r"(?<=/src)/.*|(?<=\Asrc)/.*", "", folder_of(self.path), count=1)

    def _visible(self, paths: Iterable[str]) -> list[str]:
        """Those that the file can see, the own source set first, then the nearest, then what is common.

        Nothing but tests sees tests.
        """
        tests, own = _is_test(self.path), _source_set(self.path)
        return sorted(
            (path for path in paths if tests or not _is_test(path)),
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
    before, source, inside = f"/{path}".partition("/src/")
    name = inside.partition("/")[0]
    named = name if "/" in inside and name.endswith(("main", "Main", "test", "Test")) else ""
    return within(before.lstrip("/"), "src", named) if source else folder_of(path)
