"""The outline of a file or a folder: its definitions.

A folder's files are parsed in path order while they fit the budget and the time; what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, takewhile
from math import inf

from attrs import evolve, field, frozen

from context_pack.code.reading import LONGEST_PATH, MAX_BYTES, count_lines, read_source, within_root
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import SourceFile, SourceTree
from context_pack.kernel.syntax import Definition, DefinitionKind, NotParsed, Syntax, readable_part
from context_pack.toolkit.arguments import arg, integer, text
from context_pack.toolkit.budget import room_of, size
from context_pack.toolkit.call import Call
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS

SECONDS = 5.0
FILE_DEPTH, FOLDER_DEPTH, MOST_DEPTH = 3, 1, 10
TOKENS = 4_000
LEAST_TOKENS = 200
HUGE_PART = 4
"""A file of a folder that is larger than the whole budget has this part of it."""
ROOT = "."


@frozen
class CodeOutline:
    """What `code_outline` is asked."""

    path: str = arg(text(1, LONGEST_PATH), "File or folder, from the project root", default=ROOT)
    depth: int | None = arg(
        integer(1, MOST_DEPTH), "Levels of definitions; 3 for a file, 1 for a folder", default=None
    )
    query: str | None = arg(text(1, 200), "Only definitions whose name contains this", default=None)
    max_tokens: int = arg(
        integer(LEAST_TOKENS, DEFAULT_MAX_TOKENS), "Budget of the answer", name="maxTokens", default=TOKENS
    )


@frozen
class Outlined:
    """The outlines that fit; `left` counts files that were not looked at: no budget or no time was left."""

    outlines: tuple[FileOutline, ...]
    left: int = 0
    timed_out: bool = False
    complete: bool = True

    @property
    def cut(self) -> bool:
        """Whether an outline lacks definitions."""
        return any(outline.left for outline in self.outlines)


@frozen
class Outliner:
    """Outlines files and folders of the source tree."""

    tree: SourceTree
    syntax: Syntax
    monotonic: Callable[[], float] = field(default=lambda: 0.0)

    def outline(self, command: CodeOutline, call: Call, room: float | None = None) -> Outlined:
        """Outline the file or folder at a path, in so many bytes; without them, in the command's tokens.

        A client gets what is parsed in time; commands and the library have all the time.

        Raises:
            Failure: there is no such file or folder, or it may not be read.
        """
        room = room_of(command.max_tokens) if room is None else room
        path = within_root(command.path)
        if path is None or not self.tree.is_file(path):
            paths, complete = self._below(path)
            if path is not None and not paths and not self.tree.is_folder(path):
                read_source(self.tree, path)  # says what is wrong with it
            return evolve(self._fitting(paths, command, call, room), complete=complete)
        outline = self._file(read_source(self.tree, path), command, FILE_DEPTH)
        return Outlined((_cut(outline, room),))

    def _below(self, folder: RelativePath | None) -> tuple[list[str], bool]:
        """The files of known languages in a folder and the folders below it, in path order."""
        names = self.tree.names()
        prefix = "" if folder is None else f"{folder.value}/"
        inside = (path for paths in names.paths.values() for path in paths if path.startswith(prefix))
        return sorted(path for path in inside if self.syntax.knows(language_of(path))), names.complete

    def _fitting(self, paths: Sequence[str], command: CodeOutline, call: Call, most: float) -> Outlined:
        """The outlines within the budget and the time.

        A file that is larger than the budget is cut to a part of it, so that others are seen beside it.
        """
        end = self.monotonic() + (inf if call.request_id is None else SECONDS) - call.waited
        room = most
        outlines: list[FileOutline] = []
        for number, path in enumerate(paths):
            call.check()
            if number and self.monotonic() > end:
                return Outlined(tuple(outlines), len(paths) - number, timed_out=True)
            outline = self._candidate(path, command)
            if outline is None:
                continue
            is_huge = bool(_cut(outline, most).left)
            shown = _cut(outline, min(room, most // HUGE_PART) if is_huge else room)
            if outlines and (not shown.definitions or (shown.left and not is_huge)):
                return Outlined(tuple(outlines), len(paths) - number)
            outlines.append(shown)
            room -= sum(map(_weight, outline_lines(shown)))
        return Outlined(tuple(outlines))

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
        shown = chosen(readable_part(parsed).definitions, command.depth or depth, command.query)
        if depth == FOLDER_DEPTH and command.query is None:
            shown = tuple(each for each in shown if each.kind is not DefinitionKind.CONSTANT)
        plain = parsed.reason if isinstance(parsed, NotParsed) else parsed.unread_in_words
        return FileOutline(source.path.value, count_lines(source.text), shown, plain)


def _weight(line: str) -> int:
    return size(line) + 1


def _cut(outline: FileOutline, room: float) -> FileOutline:
    """The outline with as many definitions as there is room for."""
    weights = accumulate(map(_weight, outline_lines(outline)))
    kept = max(0, sum(1 for _ in takewhile(lambda weight: weight <= room, weights)) - 1)
    left = len(outline.definitions) - kept
    return evolve(outline, definitions=outline.definitions[:kept], left=left)


INDENT = "  "


@frozen
class FileOutline:
    """The definitions of a file that were asked for, and how many of them are `left` out.

    `plain` says why a file was not parsed, or which lines were not.
    """

    path: str
    lines: int
    definitions: tuple[Definition, ...]
    plain: str | None = None
    left: int = 0


def chosen(definitions: Sequence[Definition], depth: int, query: str | None) -> tuple[Definition, ...]:
    """The definitions at most `depth` levels deep.

    With a query: those whose name has it, however deep, and the definitions around them.
    """
    if query is None:
        return tuple(each for each in definitions if each.depth < depth)
    wanted = query.lower()
    kept: dict[Definition, None] = {}
    around: list[Definition] = []
    for each in definitions:
        del around[each.depth :]
        around.append(each)
        if wanted in (each.qualified if "." in wanted else each.name).lower():
            kept.update(dict.fromkeys(around))
    return tuple(kept)


def outline_lines(outline: FileOutline) -> Iterator[str]:
    """The list of one file: its name, then a line for each definition with its lines and signature."""
    left = f"{outline.left} more definitions" * (outline.left > 0)
    said = ", ".join(filter(None, (f"{outline.lines} lines", outline.plain, left)))
    yield f"{outline.path} ({said})"
    for each in outline.definitions:
        yield f"{INDENT * (each.depth + 1)}{line_range(each.start, each.end)} {each.signature or each.name}"


def line_range(start: int, end: int) -> str:
    """Lines as `12-30`, one line as `12`."""
    return str(start) if start == end else f"{start}-{end}"


def innermost(definitions: Iterable[Definition], line: int) -> Definition | None:
    """The definition that most closely encloses a line."""
    around = [each for each in definitions if each.start <= line <= each.end]
    return max(around, key=lambda each: (each.start, -each.end), default=None)
