"""Languages that import by names: Rust, Java and Kotlin, PHP, C#."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from posixpath import basename as name_of
from posixpath import dirname as folder_of

from attrs import define

from context_pack.code.imports.tree import (
    Found,
    Names,
    TreeFiles,
    ancestors,
    in_common,
    join,
    table,
    texts,
    within,
)
from context_pack.kernel.syntax import Import, Parsed
from context_pack.kernel.text import toml_of

# Rust: `mod`, `use` trees and `extern crate`. A module is known by the folder of its inner modules: of
# `src/a.rs` and `src/a/mod.rs` that is `src/a`, of a crate's root the crate's folder. So a path goes from
# folder to folder, `super` is the folder above, and the deepest one on the way that is a module's counts.

MOST_NESTED = 64
_STEP = re.compile(r"[{},*]|(?:r#)?+(\w++)")
_ROOTS = ("lib.rs", "main.rs")
_TARGETS = frozenset({"bin", "tests", "examples", "benches"})


def rust(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the modules and used paths of a file lead."""
    crate = _Crate(tree, path, *_root_of(path, tree))
    declared = {(each.inside, each.specifier) for each in parsed.imports if each.how == "mod"}
    for each in parsed.imports:
        inside, name = each.inside[:MOST_NESTED], each.specifier.removeprefix("r#")
        here = within(crate.own, *inside)
        if each.how == "mod":
            named = [join(here if inside else folder_of(path), written) for written in each.names]
            files = [place for place in named if place in tree.files]
            yield name, files or crate.module(within(here, name))
            continue
        outside = each.how == "crate" or each.specifier.lstrip().startswith("::")
        for parts in [[name]] if each.how == "crate" else _paths(each.specifier):
            first, *rest = parts
            if not outside and first in ("crate", "self", "super"):
                start, below = (crate.folder if first == "crate" else here), rest
                if first == "super":
                    below = parts
                while below[:1] == ["super"]:
                    start, below = folder_of(start) if start != crate.folder else start, below[1:]
                yield "::".join(parts), crate.deepest(start, below)
            elif not outside and ((inside, first) in declared or crate.module(within(here, first))):
                yield first, crate.deepest(here, parts)
            else:
                yield first, crate.other(first, rest)


def _paths(tree: str) -> Iterator[list[str]]:
    """The paths that a `use` tree spells, without new names."""
    prefixes: list[list[str]] = [[]]
    path: list[str] = []
    renamed = False
    for step in _STEP.finditer(f"{tree},"):
        sign, word = step[0], step[1]
        if word is not None:
            if not renamed and word != "as":
                path.append(word)
            renamed = word == "as"
        elif sign == "{":
            prefixes.append([*prefixes[-1], *path])
            path = []
            if len(prefixes) > MOST_NESTED:
                return
        elif sign in ",}":
            parts = [*prefixes[-1], *path]
            if path and (named := parts[:-1] if len(parts) > 1 and parts[-1] == "self" else parts):
                yield named
            path = []
            if sign == "}" and len(prefixes) > 1:
                prefixes.pop()
        elif sign == "*" and not path and prefixes[-1]:
            yield prefixes[-1]


def _root_of(path: str, tree: TreeFiles) -> tuple[str | None, str]:
    """The root file of a file's crate and the folder of its top modules: the nearest that has such a file.

    Files in folders of targets (`tests`, `bin`, …) are crates of their own.
    """
    here = folder_of(path)
    for above in ancestors(here):
        if name_of(above) in _TARGETS:
            return path if above == here else None, above
        own = path if above == here and name_of(path) in _ROOTS else None
        if root := tree.first((own, *(within(above, each) for each in _ROOTS))):
            return root, above
    return path, here


@define(slots=False)
class _Crate:
    """The crate of a file: its root file, and the folder of its top modules."""

    tree: TreeFiles
    path: str
    root: str | None
    folder: str

    @cached_property
    def own(self) -> str:
        """The folder of the file's inner modules."""
        name = name_of(self.path)
        is_folders = self.path == self.root or name in (*_ROOTS, "mod.rs")
        return within(folder_of(self.path), "" if is_folders else name.removesuffix(".rs"))

    def module(self, folder: str) -> str | None:
        """The file of the module whose inner modules are in a folder."""
        if folder == self.own:  # also where `#[path]` has put it
            return self.path
        return self.root if folder == self.folder else self.tree.first((f"{folder}.rs", f"{folder}/mod.rs"))

    def deepest(self, folder: str, parts: Sequence[str]) -> str | None:
        """The deepest module with a file on a path, or around where it begins."""
        lengths = range(min(len(parts), MOST_NESTED), -1, -1)
        below = (self.module(within(folder, *parts[:length])) for length in lengths)
        around = (self.module(each) for each in ancestors(folder))
        return next(filter(None, (*below, *around)), None)

    def other(self, name: str, parts: Sequence[str]) -> str | None:
        """The deepest file on a path of another crate of the tree."""
        root = self._others.get(name)
        if root is None:
            return None
        return _Crate(self.tree, root, root, folder_of(root)).deepest(folder_of(root), parts)

    @cached_property
    def _others(self) -> dict[str, str]:
        """The libraries of the tree by the names of their packages; the nearest counts."""
        libraries: dict[str, str] = {}
        for path in reversed(self.tree.manifests("Cargo.toml", self.path)):
            try:
                manifest = toml_of(self.tree.text(path) or "")
            except ValueError:
                continue
            library = table(manifest, "lib")
            named = [join(folder_of(path), written) for written in texts(library.get("path"))]
            root = self.tree.first((*named, within(folder_of(path), "src/lib.rs")))
            for name in (table(manifest, "package").get("name"), library.get("name")):
                if isinstance(name, str) and root:
                    libraries[name.replace("-", "_")] = root
        return libraries


# Java and Kotlin: Java's folders spell its packages, Kotlin's files say theirs in a first line. A Kotlin name
# without a file of its own leads to the files of its package that declare it. In multiplatform projects what
# is common comes before what is for one platform.

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
            if declaring := [path for path, text in texts if parts[-1] in text and declares.search(text)]:
                return declaring
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
        """Those that the file can see, the nearest first, then what is common to platforms.

        Nothing but tests sees tests.
        """
        tests = _is_test(self.path)
        return sorted(
            (path for path in paths if tests or not _is_test(path)),
            key=lambda path: (-in_common(path, self.path), "/common" not in path.lower(), path),
        )


def _is_test(path: str) -> bool:
    return any(folder.lower() == "test" or folder.endswith("Test") for folder in path.split("/")[:-1])


# PHP: required files, and classes by the PSR-4 map of composer.json, else the nearest file of their name.

_DIR = re.compile(
    r"__DIR__|dirname\s*\(\s*(?P<from>__FILE__|__DIR__)\s*(?:,\s*(?P<up>\d)\s*)?\)", re.IGNORECASE
)
_TAKEN = re.compile(r"(?:(?:function|const)\s+)?(?P<name>[^\s]+)", re.IGNORECASE)


def php(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where required files and used classes lead."""
    here = folder_of(path)
    names = _psr4(here, tree)
    for each in parsed.imports:
        specifier = each.specifier.strip("\\")
        if each.how in ("file", "built"):
            if (starts := _php_starts(each, here)) is not None:
                yield each.specifier, tree.first(join(start, each.specifier) for start in starts)
        elif each.how == "use":
            yield specifier, _php_class(specifier, path, names, tree)
        elif each.how == "group":
            for taken in filter(None, map(_TAKEN.match, each.names)):
                name = f"{specifier}\\{taken['name']}"
                yield name, _php_class(name, path, names, tree)


def _php_starts(required: Import, here: str) -> list[str] | None:
    """The folders that a required file may be in; None if that is not known."""
    written = required.names[0] if required.names else ""
    start = _DIR.fullmatch(written)
    if start is None:
        return None if written else [] if required.specifier.startswith("/") else [here, ""]
    up = int(start["up"] or 1) - (start["from"].upper() == "__FILE__") if start["from"] else 0
    above = join(here, "../" * up)
    return [] if above is None else [above]


def _psr4(here: str, tree: TreeFiles) -> Names | None:
    """The namespaces of the nearest composer.json, None if it has none."""
    path = tree.nearest(here, "composer.json")
    rows = [
        (f"{prefix.strip(chr(92))}\\*".lstrip("\\"), within(place, "*"))
        for section in ("autoload", "autoload-dev")
        for prefix, folders in table(tree.json(path), section, "psr-4").items()
        for folder in texts(folders)
        if (place := join(folder_of(path or ""), folder)) is not None
    ]
    return Names(rows) if rows else None


def _php_class(name: str, path: str, names: Names | None, tree: TreeFiles) -> str | None:
    if names is not None:
        return tree.first(place.replace("\\", "/") + ".php" for place in names.places(name))
    *namespace, last = name.split("\\")
    tails = (tree.ending_in((*namespace[start:], f"{last}.php"), path) for start in range(len(namespace)))
    return next((found[0] for found in tails if found), None)


# C#: of a namespace the files whose names the text uses, in folders that spell it or all but its first part.


def csharp(parsed: Parsed, path: str, tree: TreeFiles) -> Found:
    """Where the used namespaces and types lead."""
    words = {f"{word}.cs" for word in re.findall(r"\w+", tree.text(path) or "")}
    used = [file for name in sorted(words & tree.by_name.keys()) for file in tree.by_name[name]]
    folders = {file: f".{folder_of(file).replace('/', '.')}" for file in used}
    for specifier, how in dict.fromkeys((each.specifier, each.how) for each in parsed.imports):
        name = specifier.partition("<")[0].rpartition("::")[2].replace("@", "").replace(" ", "")
        space = name.rpartition(".")[0] if how == "type" else name
        ends = (f".{space}", f".{space.partition('.')[2] or space}")
        yield (
            name,
            next(
                filter(None, ([file for file in used if folders[file].endswith(end)] for end in ends)), None
            ),
        )
