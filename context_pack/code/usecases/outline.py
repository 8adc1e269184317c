"""The outline of a file or a folder: what is defined there, before anybody reads it.

A folder's files are parsed in path order while they fit the budget and the time; what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from context_pack.code.domain.outline import FileOutline, chosen, outline_lines
from context_pack.code.usecases.read_file import (
    LONGEST_PATH,
    MAX_BYTES,
    Check,
    count_lines,
    is_folder,
    read_source,
    within_root,
)
from context_pack.kernel.classes import field, frozen
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile, SourceTree
from context_pack.kernel.syntax import DefinitionKind, NotParsed, Syntax
from context_pack.toolkit.arguments import arg, integer, text
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack.toolkit.tokens import estimate_tokens

SECONDS = 5.0
FILE_DEPTH, FOLDER_DEPTH, MOST_DEPTH = 3, 1, 10
TOKENS = 4_000
LEAST_TOKENS = 200
ROOT = "."


@frozen
class CodeOutline:
    """What `code_outline` is asked."""

    path: str = arg(text(1, LONGEST_PATH), "File or folder, from the project root", default=ROOT)
    depth: int | None = arg(
        integer(1, MOST_DEPTH), "Levels of definitions; 3 for a file, 1 for a folder", default=None
    )
    query: str | None = arg(text(1, 200), "Only definitions whose name contains this", default=None)
    max_tokens: int = arg(integer(LEAST_TOKENS, DEFAULT_MAX_TOKENS), "Budget of the answer", default=TOKENS)


@frozen
class Outlined:
    """The outlines that fit; `files` counts those with definitions to show that were looked at or left.

    `left` are files that were not looked at, because the budget or the time was used up, `cut` says that the
    last outline has lost definitions.
    """

    outlines: tuple[FileOutline, ...]
    left: int = 0
    cut: bool = False
    timed_out: bool = False
    complete: bool = True


@frozen
class Outliner:
    """Outlines files and folders of the source tree."""

    tree: SourceTree
    syntax: Syntax
    monotonic: Callable[[], float] = field(default=lambda: 0.0)

    def outline(self, command: CodeOutline, check: Check = lambda: None) -> Outlined:
        """What is defined at a path.

        Raises:
            Failure: there is no such file or folder, or it may not be read.
        """
        path = within_root(command.path)
        if path is None or not self.tree.is_file(path):
            paths, complete = self._below(path)
            if path is not None and not paths and not is_folder(self.tree, path):
                read_source(self.tree, path)  # says what is wrong with it
            found = self._fitting(paths, command, check)
            return Outlined(*found, complete=complete)
        outline = self._file(read_source(self.tree, path), command, FILE_DEPTH)
        kept, cut = _cut(outline, command.max_tokens)
        return Outlined((kept,), cut=cut)

    def _below(self, folder: RelativePath | None) -> tuple[list[str], bool]:
        """The files of known languages in a folder and the folders below it, in path order."""
        names = self.tree.names()
        prefix = "" if folder is None else f"{folder.value}/"
        inside = (path for paths in names.paths.values() for path in paths if path.startswith(prefix))
        return sorted(path for path in inside if self.syntax.knows(language_of(path))), names.complete

    def _fitting(
        self, paths: Sequence[str], command: CodeOutline, check: Check
    ) -> tuple[tuple[FileOutline, ...], int, bool, bool]:
        """The outlines within the budget and the time, how many files are left, and why."""
        end = self.monotonic() + SECONDS
        room = command.max_tokens
        found: list[FileOutline] = []
        for number, path in enumerate(paths):
            check()
            if self.monotonic() > end:
                return tuple(found), len(paths) - number, False, True
            outline = self._candidate(path, command)
            if outline is None:
                continue
            outline, cut = _cut(outline, room)
            if cut and found:
                return tuple(found), len(paths) - number, False, False
            found.append(outline)
            room -= _weight(outline_lines(outline))
            if cut:
                return tuple(found), len(paths) - number - 1, True, False
        return tuple(found), 0, False, False

    def _candidate(self, path: str, command: CodeOutline) -> FileOutline | None:
        """The outline of a file of a folder, if there is something in it to show."""
        source = self.tree.read(RelativePath(path), MAX_BYTES)
        if not isinstance(source, SourceFile):
            return None
        wanted = (command.query or "").rpartition(".")[2].lower()
        if wanted not in source.text.lower():
            return None
        outline = self._file(source, command, FOLDER_DEPTH)
        return outline if outline.definitions else None

    def _file(self, source: SourceFile, command: CodeOutline, depth: int) -> FileOutline:
        language = language_of(source.path.value)
        parsed = self.syntax.parse(language, source.text)
        lines = count_lines(source.text)
        if isinstance(parsed, NotParsed):
            return FileOutline(source.path.value, language, lines, (), parsed.reason)
        shown = chosen(parsed.definitions, command.depth or depth, command.query)
        if depth == FOLDER_DEPTH and command.query is None:
            shown = tuple(each for each in shown if each.kind is not DefinitionKind.CONSTANT)
        return FileOutline(source.path.value, language, lines, shown)


def _weight(lines: Iterator[str]) -> int:
    return sum(estimate_tokens(f"{line}\n") for line in lines)


def _cut(outline: FileOutline, room: int) -> tuple[FileOutline, bool]:
    """The outline with as many definitions as there is room for, and whether some had to go."""
    kept = -1
    for line in outline_lines(outline):
        room -= estimate_tokens(f"{line}\n")
        if room < 0:
            break
        kept += 1
    if kept >= len(outline.definitions):
        return outline, False
    definitions = outline.definitions[: max(0, kept)]
    return FileOutline(outline.path, outline.language, outline.lines, definitions, outline.plain), True
