"""Small projects, one per language, each in one text file: a line `=== path`, then that file's content.

In one file, because the projects' own files are no tests, no modules and no configuration of this house.
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen
from inmemory import MemorySourceTree

from context_pack.code.reading import FileReader, ReadFile
from context_pack_adapters.syntax import shared_syntax

PROJECTS = Path(__file__).resolve().parent.parent / "fixtures" / "imports"
SYNTAX = shared_syntax()
"""One for all tests of a process: each has a parser process of its own."""
LANGUAGES = sorted(path.stem for path in PROJECTS.glob("*.txt"))


@frozen
class Imported:
    """The paths that a file depends on, and its external names."""

    paths: list[str]
    external: list[str]


def project(language: str) -> dict[str, str]:
    """The files of a language's project."""
    files: dict[str, str] = {}
    text = (PROJECTS / f"{language}.txt").read_text("utf-8")
    for part in text.split("=== ")[1:]:
        path, _, content = part.partition("\n")
        files[path] = content
    return files


def imported(files: dict[str, str], path: str) -> Imported:
    """What `read_file` says that a file imports."""
    read = FileReader(MemorySourceTree(dict(files)), SYNTAX).read(ReadFile(path=path, include_deps=True))
    assert read.external is not None
    return Imported([each.path for each in read.dependencies], list(read.external))
