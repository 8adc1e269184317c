"""How each language spells where its imports lead; `imports_of` is the one way to ask."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from attrs import frozen

from context_pack.code.domain.imports.manifests import (
    Names,
    go_modules,
    main_places,
    node_packages,
    psr4,
    read_json,
    typescript_paths,
)
from context_pack.code.domain.imports.rust import rust
from context_pack.code.domain.imports.tree import (
    MOST_PARTS,
    SourceFiles,
    ancestors,
    folder_of,
    in_common,
    join,
    name_of,
    within,
)
from context_pack.kernel.syntax import Import, Parsed

Found = Iterator[tuple[str, Iterable[str] | str | None]]
"""Each imported name with the path or paths that it leads to."""


class Unparsable(Exception):
    """A text that its language's own parser refuses; `line` says where."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@frozen
class Imports:
    """What a file imports: paths inside the root, and the names that led to none."""

    paths: tuple[str, ...] = ()
    external: tuple[str, ...] = ()


def imports_of(parsed: Parsed, path: str, language: str, tree: SourceFiles) -> Imports:
    """Where the imports of a parsed file lead.

    Raises:
        Unparsable: the text is none of its language.
    """
    paths: dict[str, None] = {}
    external: dict[str, None] = {}
    for name, hits in _LANGUAGES[language](parsed, path, tree):
        some = (hits,) if isinstance(hits, str) else tuple(hits or ())
        paths.update(dict.fromkeys(some))
        if not some:
            external[name] = None
    return Imports(tuple(paths), tuple(external))


def knows_imports(language: str) -> bool:
    """Whether the imports of a language can be followed."""
    return language in _LANGUAGES


# Python: from the root, from `src`, then from folders above the file that are no packages.


def _python(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
    if parsed.error_line is not None:
        raise Unparsable(parsed.error_line)
    here = folder_of(path)
    scripts = [
        above for above in ancestors(here) if above and _python_file(tree, above, ("__init__",)) is None
    ]
    usual = ["", "src"]
    others = [within(above, inner) for above in scripts for inner in ("", "src")]
    for each in parsed.imports:
        name = "".join(each.specifier.replace("\\", " ").split())
        module = name.lstrip(".")
        parts = tuple(module.split(".")) if module else ()
        bases = usual if parts and parts[0] in sys.stdlib_module_names else [*usual, *others]
        if level := len(name) - len(module):
            up = join(here, "../" * (level - 1))
            bases = [] if up is None else [up]
        elif module == "__future__":
            continue
        own = next((file for base in bases if (file := _python_file(tree, base, parts))), None)
        if each.how == "import":
            yield module, own
            continue
        packages = [place for base in bases if (place := within(base, *parts)) in tree.folders]
        for taken in each.names:
            inner = next((file for place in packages if (file := _python_file(tree, place, (taken,)))), None)
            if taken != "*" and inner is not None:
                yield taken, inner
            else:  # a package without a file of its own can be there and still not have the name
                whole = taken != "*" and (packages or not module)
                yield (f"{name}{'' if name.endswith('.') else '.'}{taken}" if whole else name), own


def _python_file(tree: SourceFiles, base: str, parts: Sequence[str]) -> str | None:
    """The file of a module or package; a package wins over a module of its name."""
    if len(parts) > MOST_PARTS:
        return None
    place = within(base, *parts)
    return tree.first(
        (within(place, "__init__.py"), within(place, "__init__.pyi"), f"{place}.py", f"{place}.pyi")
    )


# JavaScript and TypeScript: as compilers and bundlers look, then by tsconfig paths and the tree's packages.

TYPED = (".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
_OTHERS = (".json", ".vue", ".svelte")
_TS_FIRST = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", *_OTHERS)
_JS_FIRST = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".d.ts", *_OTHERS)
_COMPILED = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
    ".ts": (".tsx", ".d.ts"),
    ".mts": (".d.mts",),
    ".cts": (".d.cts",),
}
"""What a name with one ending may stand for besides itself: sources, or their types."""
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(?s:(.)))")


def script_names(parsed: Parsed) -> tuple[str, ...]:
    """The literal names that a script imports, in order, each once."""
    found = (_ESCAPE.sub(_unescaped, each.specifier) for each in parsed.imports)
    return tuple(dict.fromkeys(name for name in found if name.strip()))


def _unescaped(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    if digits is None:
        return str(escape[4])
    value = int(digits, 16)
    return chr(value) if value < 0xD800 or 0xE000 <= value <= 0x10FFFF else "\0"


def _script(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
    here, typed = folder_of(path), path.endswith(TYPED)
    names: list[Names] | None = None
    for name in script_names(parsed):
        if name in (".", "..") or name.startswith(("./", "../")):
            written = dict.fromkeys((name, re.split(r"[?#]", name, maxsplit=1)[0]))
            places = [place for each in written if (place := join(here, each)) is not None]
            as_folder = name.endswith(("/", "/.", "/..")) or name in (".", "..")
            look = _script_folder if as_folder else _script_file
            yield name, next(filter(None, (look(place, typed, tree) for place in places)), None)
            continue
        if names is None:
            names = [*typescript_paths(tree, path), node_packages(tree, path)]
        known = (join("", place) for each in names for place, _ in each.places(name) if name != "/")
        yield name, next(filter(None, (_script_file(place, typed, tree) for place in known if place)), None)


def _script_file(place: str, typed: bool, tree: SourceFiles) -> str | None:
    """The file that a name without its ending, or with another's, stands for."""
    exact = [place] if place else []
    others = [
        place[: -len(end)] + real for end, reals in _COMPILED.items() if place.endswith(end) for real in reals
    ]
    sources_first = typed and not place.endswith((".ts", ".mts", ".cts"))
    tried = [*others, *exact] if sources_first else [*exact, *others]
    tried += [place + ending for ending in (_TS_FIRST if typed else _JS_FIRST)]
    return tree.first(tried) or _script_folder(place, typed, tree)


def _script_folder(folder: str, typed: bool, tree: SourceFiles) -> str | None:
    """The file that a folder stands for: what its package.json says, else its index."""
    if folder not in tree.folders:
        return None
    endings = _TS_FIRST if typed else _JS_FIRST
    starts = [within(folder, "index")]
    if (manifest := within(folder, "package.json")) in tree.files:
        main = main_places(folder, read_json(tree.text(manifest)), typed)
        starts = [*(each for place in main for each in (place, within(place, "index"))), *starts]
    return tree.first(start + ending for start in starts for ending in ("", *endings))


# Go: a package is every file of its folder that is neither a test nor hidden.


def _go(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
    modules = go_modules(tree, path)
    first = min((each.line for each in parsed.definitions), default=None)
    for name in dict.fromkeys(
        each.specifier for each in parsed.imports if first is None or each.line <= first
    ):
        if name.startswith(("./", "../")):
            yield name, _go_files(join(folder_of(path), name), tree)
            continue
        homes = ((place, folder_of(place) if rest else place, rest) for place, rest in modules.places(name))
        found = (_go_files(place, tree) for place, _, rest in homes if _is_of_module(place, rest, tree))
        yield name, next(filter(None, found), None)


def _is_of_module(place: str, rest: str, tree: SourceFiles) -> bool:
    """Whether no other go.mod stands between a module's folder and a place below it."""
    home = place.removesuffix(rest).rstrip("/")
    above = tree.nearest(place, "go.mod")
    return above is None or len(folder_of(above)) <= len(home)


def _go_files(folder: str | None, tree: SourceFiles) -> list[str]:
    names = tree.folders.get(folder, ()) if folder is not None else ()
    return [
        within(folder or "", name)
        for name in names
        if name.endswith(".go") and not name.endswith("_test.go") and not name.startswith(("_", "."))
    ]


# Java and Kotlin: the nearest file that ends in the parts of a class; of a Kotlin name without a file of its
# own the files of its package that declare it. In multiplatform projects what is common comes first.

_PLATFORM = frozenset({"java", "javax", "jakarta", "kotlin", "kotlinx", "android", "androidx", "jdk"})
"""Beginnings of names that are looked for in the file's own module only."""
MOST_DECLARING = 200
_DECLARES = (
    r"^(?:[\w@][^\n]*?\s)?(?:fun|va[lr]|class|interface|object|typealias)\s+"
    r"(?:<[^\n>]*>+\s*)?(?:[\w.<>?*, ]+\.)?`?{}\b"
)


def _jvm(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
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

    tree: SourceFiles
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


# C, C++ and Objective-C: quoted names beside the file, then where headers are kept above it, then nearest.

HEADER_FOLDERS = ("include", "src", "")


def _c(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
    here = folder_of(path)
    usual = dict.fromkeys(
        [here, *(within(above, inner) for above in ancestors(here) for inner in HEADER_FOLDERS)]
    )
    for each in parsed.imports:
        name = each.specifier.strip()
        if each.how == "module" or name.startswith("<"):
            yield name.removeprefix("@import").strip("<> \t\r\n;"), None
            continue
        name = name.strip('"').replace("\\", "/")
        places = () if name.startswith("/") else (join(folder, name) for folder in usual)
        parts = [part for part in name.split("/") if part not in ("", ".", "..")]
        near = [] if name.startswith("/") or not parts else tree.ending_in(parts, path)
        yield name, tree.first(places) or (near[0] if near else None)


# Ruby: beside the file, or under `lib`, `spec` and `test` of the folders above.


def _ruby(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
    here = folder_of(path)
    for each in parsed.imports:
        starts = [here] if each.how == "relative" else [""]  # "./x" starts where the process was started
        if each.how != "relative" and not each.specifier.startswith("."):
            starts = [within(above, inner) for above in ancestors(here) for inner in ("lib", "spec", "test")]
        places = () if each.specifier.startswith("/") else (join(start, each.specifier) for start in starts)
        yield each.specifier, tree.first(file for place in places if place for file in (f"{place}.rb", place))


# PHP: required files, and classes by the PSR-4 map of composer.json, else the nearest file of their name.

_DIR = re.compile(
    r"__DIR__|dirname\s*\(\s*(?P<from>__FILE__|__DIR__)\s*(?:,\s*(?P<up>\d)\s*)?\)", re.IGNORECASE
)
_TAKEN = re.compile(
    r"(?:(?:function|const)\s+)?(?P<name>[^\s]+)(?:\s+as\s+(?P<alias>\w+))?\s*\Z", re.IGNORECASE
)


def _php(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
    here, namespace = folder_of(path), parsed.package.strip("\\")
    called: dict[str, str] = {}
    for each in parsed.imports:
        specifier = each.specifier.strip("\\")
        if each.how in ("file", "built"):
            if (starts := _php_starts(each, here)) is not None:
                yield each.specifier, tree.first(join(start, each.specifier) for start in starts)
        elif each.how == "use":
            called[(each.names[0] if each.names else specifier.rpartition("\\")[2]).lower()] = specifier
        elif each.how == "group":
            for taken in filter(None, map(_TAKEN.match, each.names)):
                alias = taken["alias"] or taken["name"].rpartition("\\")[2]
                called[alias.lower()] = f"{specifier}\\{taken['name']}"
    names = psr4(tree, path)
    for name in dict.fromkeys(called.values()):
        yield name, _php_class(name, path, names, tree)
    for each in parsed.imports:  # a trait of elsewhere was imported, and told, there
        if each.how == "trait" and (
            file := _php_class(_php_full(each.specifier, namespace, called), path, names, tree)
        ):
            yield each.specifier, file


def _php_starts(required: Import, here: str) -> list[str] | None:
    """The folders that a required file may be in; None if that is not known."""
    written = required.names[0] if required.names else ""
    start = _DIR.fullmatch(written)
    if start is None:
        return None if written else [] if required.specifier.startswith("/") else [here, ""]
    up = int(start["up"] or 1) - (start["from"].upper() == "__FILE__") if start["from"] else 0
    above = join(here, "../" * up)
    return [] if above is None else [above]


def _php_full(name: str, namespace: str, called: dict[str, str]) -> str:
    """The full name of a class as it is written in a namespace."""
    if name.startswith("\\"):
        return name.strip("\\")
    first, slash, rest = name.partition("\\")
    if first.lower() == "namespace" and slash:
        return f"{namespace}\\{rest}"
    known = called.get(first.lower())
    return f"{known}{slash}{rest}" if known is not None else f"{namespace}\\{name}".strip("\\")


def _php_class(name: str, path: str, names: Names | None, tree: SourceFiles) -> str | None:
    if names is not None:
        return tree.first(place.replace("\\", "/") + ".php" for place, _ in names.places(name))
    *namespace, last = name.split("\\")
    for start in range(min(len(namespace), MOST_PARTS)):
        if found := tree.ending_in((*namespace[start:], f"{last}.php"), path):
            return found[0]
    return None


# C#: of a namespace the files of its folder whose names the text uses; a type is the file of its name.

_WORD = re.compile(r"\w+")


def _csharp(parsed: Parsed, path: str, tree: SourceFiles) -> Found:
    own = parsed.package.partition(".")[0]
    words = frozenset(_WORD.findall(tree.text(path) or ""))
    for each in dict.fromkeys((using.specifier, using.how) for using in parsed.imports):
        name = each[0].partition("<")[0].rpartition("::")[2].replace("@", "").replace(" ", "")
        parts = name.split(".")
        if len(parts) > MOST_PARTS:
            yield name, None
            continue
        folders = _namespace_folders(parts, own, tree)
        used = [
            within(folder, file)
            for folder in folders
            for file in tree.folders[folder]
            if file.endswith(".cs") and file.removesuffix(".cs") in words
        ]
        if each[1] == "type":
            types = (
                within(folder, f"{parts[length - 1]}.cs")
                for length in range(len(parts), 1, -1)
                for folder in _namespace_folders(parts[: length - 1], own, tree)
            )
            found = tree.first(types)
            used = [found] if found else used
        if used or not folders:
            yield name, used


def _namespace_folders(parts: Sequence[str], own: str, tree: SourceFiles) -> list[str]:
    """The folders that spell a namespace, with dots or one in the other; own ones may leave out a part."""
    for start in range(len(parts) if parts[0] == own else 1):
        tail = "." + ".".join(parts[start:])
        ends = tree.folders_by_name
        named = (
            folder
            for count in range(1, len(parts) - start + 1)
            for folder in ends.get(".".join(parts[-count:]), ())
        )
        if found := sorted({each for each in named if f".{each.replace('/', '.')}".endswith(tail)}):
            return found
    return []


_LANGUAGES: dict[str, Callable[[Parsed, str, SourceFiles], Found]] = {
    "python": _python,
    **dict.fromkeys(("javascript", "jsx", "typescript", "tsx", "vue", "svelte"), _script),
    "go": _go,
    "rust": rust,
    **dict.fromkeys(("java", "kotlin"), _jvm),
    **dict.fromkeys(("c", "cpp", "objectivec"), _c),
    "ruby": _ruby,
    "php": _php,
    "csharp": _csharp,
}
