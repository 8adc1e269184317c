"""A first look at a folder: the few places a newcomer would open, found the same way every time.

The walk is shallow and bounded, skips what is hidden or generated, and only collects names; text is read
through the source tree, so that the path policy holds here as everywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from context_pack.kernel.errors import Failure
from context_pack.kernel.lines import split_lines
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile, SourceTree

DEEPEST = 4
MOST_FILES = 2000
MOST_READ = 120
LARGEST = 200_000
LONGEST = 40
LONGEST_README = 16
SKIPPED = frozenset(
    {"node_modules", "__pycache__", "venv", "env", "dist", "build", "target", "vendor", "out", "coverage"}
)
ENTRIES = (
    "__main__.py",
    "main.py",
    "app.py",
    "cli.py",
    "manage.py",
    "main.go",
    "main.rs",
    "lib.rs",
    "main.ts",
    "index.ts",
    "main.js",
    "index.js",
    "Main.java",
    "Main.kt",
    "Program.cs",
    "main.c",
    "main.cpp",
    "main.rb",
    "index.php",
    "__init__.py",
    "index.html",
)
CODE = frozenset(
    {".py", ".ts", ".tsx", ".js", ".jsx", ".go", ".rs", ".java", ".kt", ".cs", ".c", ".cc", ".cpp", ".h"}
    | {".hpp", ".rb", ".php", ".swift", ".scala"}
)
_DEFINITION = re.compile(
    r"(?:(?:export|default|async|pub(?:\([^)]*\))?|public|static|abstract|final|open|data)\s+)*"
    r"(?:class|def|function|func|fn|struct|enum|trait|interface|fun|object)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)"
)
_INSIDE = re.compile(r"\s|[)\]}]|$")


class Place(NamedTuple):
    """Some lines of a file, and what they are called."""

    path: str
    start: int
    end: int
    name: str


class Survey(NamedTuple):
    """What a first look found; any of it may be missing."""

    readme: Place | None
    entry: Place | None
    definition: Place | None
    top: Sequence[str]
    files: int


def survey(root: str, tree: SourceTree) -> Survey:
    """Look at a folder."""
    names = list(_walk(root))
    readme = next((name for name in names if "/" not in name and name.lower().startswith("readme")), None)
    ranks = {name: rank for rank, name in enumerate(ENTRIES)}
    entries = sorted((name for name in names if _base(name) in ranks), key=lambda name: _rank(name, ranks))
    entry = next(filter(None, (_opening(tree, name, "entry point") for name in entries)), None)
    return Survey(
        readme=_opening(tree, readme, "read me", LONGEST_README) if readme is not None else None,
        entry=entry,
        definition=_definition(tree, names, entry),
        top=list(dict.fromkeys(name.split("/")[0] + ("/" if "/" in name else "") for name in names)),
        files=len(names),
    )


def _walk(root: str) -> Iterator[str]:
    """Relative names of the files, the shallow ones first, each level in order; bounded."""
    level, found = [""], 0
    for _ in range(DEEPEST):
        below: list[str] = []
        for folder in level:
            for entry in _entries(os.path.join(root, folder)):
                name = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    below.append(f"{name}/")
                elif entry.is_file(follow_symlinks=False):
                    yield name
                    found += 1
                    if found >= MOST_FILES:
                        return
        level = below


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(filter(_is_interesting, entries), key=lambda entry: entry.name)
    except OSError:
        return []


def _is_interesting(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and entry.name not in SKIPPED and entry.name.isprintable()


def _rank(name: str, ranks: dict[str, int]) -> tuple[bool, int, int, str]:
    return _is_test(name), name.count("/"), ranks[_base(name)], name


def _base(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _is_test(name: str) -> bool:
    return any(part.startswith(("test", "bench", "example", "fixture")) for part in name.lower().split("/"))


def _lines(tree: SourceTree, name: str) -> list[str]:
    """The lines of a file that can be shown, or none."""
    try:
        found = tree.read(RelativePath.parse(name), LARGEST)
    except Failure:  # a name that no ref can carry
        return []
    return split_lines(found.text) if isinstance(found, SourceFile) else []


def _opening(tree: SourceTree, name: str, called: str, most: int = LONGEST) -> Place | None:
    """The first lines of a file, without blank ones at their end."""
    lines = _lines(tree, name)[:most]
    while lines and not lines[-1].strip():
        lines.pop()
    return Place(name, 1, len(lines), called) if lines else None


def _definition(tree: SourceTree, names: Sequence[str], entry: Place | None) -> Place | None:
    """The longest definition that fits, in the file that defines most, rather not in the entry point's."""
    code = [name for name in names if os.path.splitext(name)[1] in CODE and not _is_test(name)]
    best: tuple[int, list[Place]] = (0, [])
    for name in code[:MOST_READ]:
        places = list(_definitions(name, _lines(tree, name)))
        weight = len(places) * (1 if entry is not None and name == entry.path else 2)
        if weight > best[0]:
            best = (weight, places)
    fitting = [place for place in best[1] if place.end - place.start < LONGEST] or best[1]
    if not fitting:
        return None
    chosen = max(fitting, key=lambda place: (min(place.end - place.start, LONGEST), -place.start))
    return chosen._replace(end=min(chosen.end, chosen.start + LONGEST - 1))


def _definitions(name: str, lines: Sequence[str]) -> Iterator[Place]:
    """Every definition at the left margin with the lines that belong to it."""
    for index, line in enumerate(lines):
        match = _DEFINITION.match(line)
        if match is None:
            continue
        end = index + 1
        while end < len(lines) and _INSIDE.match(lines[end]):
            end += 1
        while not lines[end - 1].strip():
            end -= 1
        yield Place(name, index + 1, end, match[1])
