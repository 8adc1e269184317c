"""Surveys a project for the demo: the few files a newcomer would open, found deterministically.

Names, texts and definitions come from the ports, so that the path policy holds here as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from context_pack.kernel.errors import Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile, SourceTree
from context_pack.kernel.syntax import DefinitionKind, NotParsed, Syntax
from context_pack.kernel.text import split_lines

MOST_FILES = 2000
MOST_READ = 120
LARGEST = 200_000
LONGEST = 40
LONGEST_README = 16
# fmt: off
SKIPPED = frozenset((
    "node_modules", "__pycache__", "venv", "env", "dist", "build", "target", "vendor", "out", "coverage",
))
ENTRIES = (
    "__main__.py", "main.py", "app.py", "cli.py", "manage.py", "main.go", "main.rs", "lib.rs", "main.ts",
    "index.ts", "main.js", "index.js", "Main.java", "Main.kt", "Program.cs", "main.c", "main.cpp", "main.rb",
    "index.php", "__init__.py", "index.html",
)
# fmt: on
"""Names of entry points, the likeliest first."""


class SurveyedLines(NamedTuple):
    """Some lines of a file, with a title."""

    path: str
    start: int
    end: int
    name: str


class ProjectSurvey(NamedTuple):
    """The places that the survey found; any of them may be missing."""

    readme: SurveyedLines | None
    entry: SurveyedLines | None
    definition: SurveyedLines | None
    top: Sequence[str]
    files: int


def survey(tree: SourceTree, syntax: Syntax) -> ProjectSurvey:
    """Look at a project."""
    names = _names(tree)
    readme = next((name for name in names if "/" not in name and name.lower().startswith("readme")), None)
    ranks = {name: rank for rank, name in enumerate(ENTRIES)}
    entries = sorted((name for name in names if _base(name) in ranks), key=lambda name: _rank(name, ranks))
    entry = next(filter(None, (_opening(tree, name, "entry point") for name in entries)), None)
    return ProjectSurvey(
        readme=_opening(tree, readme, "read me", LONGEST_README) if readme is not None else None,
        entry=entry,
        definition=_definition(tree, syntax, names, entry),
        top=list(dict.fromkeys(name.split("/")[0] + ("/" if "/" in name else "") for name in names)),
        files=len(names),
    )


def _names(tree: SourceTree) -> list[str]:
    """The files that may be interesting, the shallow ones first; bounded."""
    found = (path for paths in tree.names().paths.values() for path in paths)
    kept = [path for path in found if all(map(_is_interesting, path.split("/"))) and path.isprintable()]
    return sorted(kept, key=lambda path: (path.count("/"), path))[:MOST_FILES]


def _is_interesting(part: str) -> bool:
    return not part.startswith(".") and part not in SKIPPED


def _rank(name: str, ranks: dict[str, int]) -> tuple[bool, int, int, str]:
    return _is_test(name), name.count("/"), ranks[_base(name)], name


def _base(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _is_test(name: str) -> bool:
    return any(part.startswith(("test", "bench", "example", "fixture")) for part in name.lower().split("/"))


def _text(tree: SourceTree, name: str) -> str:
    """The text of a file that can be shown, or none."""
    try:
        found = tree.read(RelativePath.parse(name), LARGEST)
    except Failure:  # a name that no ref can carry
        return ""
    return found.text if isinstance(found, SourceFile) else ""


def _opening(tree: SourceTree, name: str, called: str, most: int = LONGEST) -> SurveyedLines | None:
    """The first lines of a file, without blank ones at their end."""
    lines = split_lines(_text(tree, name))[:most]
    while lines and not lines[-1].strip():
        lines.pop()
    return SurveyedLines(name, 1, len(lines), called) if lines else None


def _definition(
    tree: SourceTree, syntax: Syntax, names: Sequence[str], entry: SurveyedLines | None
) -> SurveyedLines | None:
    """The longest definition that fits, in the file with most definitions, preferably not the entry point."""
    code = [name for name in names if syntax.knows(language_of(name)) and not _is_test(name)]
    best: tuple[int, list[SurveyedLines]] = (0, [])
    for name in code[:MOST_READ]:
        places = list(_definitions(name, _text(tree, name), syntax))
        weight = len(places) * (1 if entry is not None and name == entry.path else 2)
        if weight > best[0]:
            best = (weight, places)
    fitting = [place for place in best[1] if place.end - place.start < LONGEST] or best[1]
    if not fitting:
        return None
    chosen = max(fitting, key=lambda place: (min(place.end - place.start, LONGEST), -place.start))
    return chosen._replace(end=min(chosen.end, chosen.start + LONGEST - 1))


def _definitions(name: str, text: str, syntax: Syntax) -> Iterator[SurveyedLines]:
    """Every definition at the top of a file, but for constants."""
    parsed = syntax.parse(language_of(name), text)
    if not isinstance(parsed, NotParsed):
        for each in parsed.definitions:
            if not each.depth and each.kind is not DefinitionKind.CONSTANT:
                yield SurveyedLines(name, each.start, each.end, each.name)
