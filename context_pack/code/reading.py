"""Reading one file: its text or a range of it, and on request the files that it imports.

A file that does not fit the budget of the call comes in pages of whole lines; the contents of dependencies
get what is left. Reading changes nothing: that it happened is told afterwards, by whoever serves the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

from attrs import evolve, frozen

from context_pack.code.imports import Imports, TreeFiles, imports_of, knows_imports
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Reason, SourceFile, SourceTree, Unreadable, near_paths
from context_pack.kernel.syntax import Definition, NotParsed, Syntax, named, readable_part, with_bodies
from context_pack.kernel.text import split_lines
from context_pack.toolkit.arguments import arg, boolean, integer, text
from context_pack.toolkit.budget import ELLIPSIS, cut_text, json_size, size
from context_pack.toolkit.call import Check, never_cancelled
from context_pack.toolkit.limits import LEAST_TOKENS

MAX_BYTES = 1_048_576
WHOLE = 2 * 6 * MAX_BYTES
"""A size limit that no file exceeds: spelled as JSON a byte takes at most six."""
MAX_DEPTH = 1
BUDGET_CHARS = 80_000
LONGEST_PATH = 4096
ENVELOPE_BYTES = 600
"""Room for what an answer holds beside contents and paths."""
LEAST_BYTES = 100
"""Room for the text on the smallest page, so that no short line is cut."""
ROW_BYTES, NAME_BYTES = 150, 4
"""What a dependency takes beside its path and its content, and an external name beside itself."""
MOST_CANDIDATES = 20

_NO_FILE = "it is no regular file; of a folder, an outline lists what is in it"
_NOT_LET = "the system did not let the file be read"
_REFUSALS: dict[Reason, tuple[Code, str, dict[str, object]]] = {
    Reason.MISSING: (Code.NOT_FOUND, "File not found", {}),
    Reason.NOT_A_FILE: (Code.NOT_FOUND, "File not found", {"hint": _NO_FILE}),
    Reason.OUTSIDE: (Code.PERMISSION_DENIED, "Permission denied", {}),
    Reason.DENIED: (Code.PERMISSION_DENIED, "Permission denied", {}),
    Reason.IO: (
        Code.PERMISSION_DENIED,
        "Permission denied",
        {"hint": _NOT_LET},
    ),
    Reason.TOO_LARGE: (Code.TOO_LARGE, "File too large", {"maxBytes": MAX_BYTES}),
    Reason.BINARY: (Code.NOT_TEXT, "Not a text file", {}),
    Reason.NOT_UTF8: (Code.NOT_TEXT, "Not a text file", {}),
}
_OMITTED = {Reason.TOO_LARGE: "size", Reason.BINARY: "not text", Reason.NOT_UTF8: "not text"}


@frozen
class ReadFile:
    """What `read_file` is asked."""

    path: str = arg(text(1, LONGEST_PATH), "File path relative to the project root")
    include_deps: bool = arg(
        boolean(), "Add the files it imports, with contents", name="includeDeps", default=False
    )
    max_depth: int = arg(
        integer(0, MAX_DEPTH), "Levels of imports; 0 for none", name="maxDepth", default=MAX_DEPTH
    )
    start_line: int | None = arg(integer(1), "First line, from 1", name="startLine", default=None)
    end_line: int | None = arg(integer(1), "Last line, included", name="endLine", default=None)
    symbol: str | None = arg(
        text(1, 500), "Read one definition: `Class.method`, or a unique name", default=None
    )
    numbered: bool = arg(boolean(), "Put line numbers before the lines", default=False)
    max_tokens: int | None = arg(
        integer(LEAST_TOKENS, MAX_BYTES), "Most tokens of a page", name="maxTokens", default=None
    )


@frozen
class Dependency:
    """A file that the read one imports; without content when that is too much, too large or no text."""

    path: str
    language: str
    size: int | None
    lines: int | None
    content: str | None
    omitted: str | None = None


@frozen
class FileRead:
    """A file as it was read; `external` is None when imports were not asked for.

    `rest` is the line to go on with where the page was full, `cut` how many characters its only line lost,
    `until` the last wanted line if the file goes on behind it, `unnamed` how many imports had no room.
    """

    source: SourceFile
    language: str
    lines: int
    content: str
    span: Span | None
    dependencies: tuple[Dependency, ...] = ()
    external: tuple[str, ...] | None = None
    rest: int | None = None
    cut: int = 0
    until: int | None = None
    unnamed: int = 0


@frozen
class FileReader:
    """Reads files of the source tree."""

    tree: SourceTree
    syntax: Syntax

    def read(self, command: ReadFile, check: Check = never_cancelled, room: int = WHOLE) -> FileRead:
        """The file in `room` bytes of an answer, and what it imports if that is wanted.

        Raises:
            Failure: the path is refused or cannot be read, the range is none, or the imports do not parse.
        """
        if command.start_line and command.end_line and command.start_line > command.end_line:
            raise invalid("'startLine' must not be after 'endLine'", "startLine")
        source = read_source(self.tree, RelativePath.lenient(command.path))
        language = language_of(source.path.value)
        start, end = command.start_line, command.end_line
        if command.symbol is not None:
            if start is not None or end is not None:
                raise invalid("'symbol' and lines cannot both be given; leave one out", "symbol")
            start, end = self._symbol(source, language, command.symbol)
        content, span, lines = _cut(source.text, start, end)
        if command.numbered:
            content = numbered_lines(content, 1 if span is None else span.start)
        room = max(room - ENVELOPE_BYTES - 2 * json_size(command.path), LEAST_BYTES)
        until = None if span is None or span.end >= lines else span.end
        inside: tuple[str, ...] = ()
        external, unnamed = None, 0
        if command.include_deps and command.max_depth:
            imports = self._imports(source, language, check)
            paths, names = sorted(set(imports.paths) - {source.path.value}), sorted(imports.external)
            # A content that leaves more than half of the room leaves it to them.
            free = max(room // 2, room - json_size(content))
            inside, left = _fitting(paths, free, ROW_BYTES)
            external, left = _fitting(names, left, NAME_BYTES)
            room -= free - left
            unnamed = len(paths) + len(names) - len(inside) - len(external)
        page = paged(content, span, lines, room)
        dependencies = tuple(self._dependencies(inside, check, min(BUDGET_CHARS, page.room)))
        return FileRead(
            source, language, lines, page.content, page.span, dependencies, external,
            page.rest, page.cut, until, unnamed,
        )  # fmt: skip

    def _symbol(self, source: SourceFile, language: str, symbol: str) -> tuple[int, int]:
        """The lines of the one definition of that name."""
        answer = self.syntax.parse(language, source.text)
        parsed = readable_part(answer)
        matching = named(parsed.definitions, symbol)
        if len(matching) > 1:
            lines = split_lines(source.text)
            matching = with_bodies([(each, lines) for each in matching])
        if len(matching) == 1:
            return matching[0].start, matching[0].end
        if isinstance(answer, NotParsed):
            hint = "read the file by lines"
            raise Failure(Code.NOT_FOUND, f"No symbols are known: {answer.reason}", {"hint": hint})
        if matching:
            message, listed = f"Several definitions are called '{symbol}'", matching
            hint = "name one by its qualified name, or read its lines"
        else:
            message, listed = f"No definition is called '{symbol}'", nearly_named(parsed.definitions, symbol)
            hint = "'code_outline' lists the definitions of a file"
        candidates = [
            {"symbol": each.qualified, "startLine": each.start, "endLine": each.end}
            for each in listed[:MOST_CANDIDATES]
        ]
        raise Failure(Code.NOT_FOUND, message, {"candidates": candidates, "hint": hint})

    def _imports(self, source: SourceFile, name: str, check: Check) -> Imports:
        if not knows_imports(name):
            return Imports()
        answer = self.syntax.parse(name, source.text)
        if isinstance(answer, NotParsed) and answer.partly is None:
            raise _no_imports(source, answer.reason)
        parsed = readable_part(answer)
        if name == "python" and parsed.error_line is not None:
            raise _no_imports(source, f"Syntax error at line {parsed.error_line}")

        @cache
        def text_of(path: str) -> str | None:
            check()
            file = self.tree.read(RelativePath(path), MAX_BYTES) if _is_path(path) else None
            return file.text if isinstance(file, SourceFile) else None

        check()
        imports = imports_of(parsed, source.path.value, name, TreeFiles(self.tree.names().paths, text_of))
        return evolve(imports, paths=tuple(filter(_is_path, imports.paths)))

    def _dependencies(self, paths: Iterable[str], check: Check, left: int) -> Iterator[Dependency]:
        """Each dependency; contents come while they fit the budget, whatever went before them."""
        for path in paths:
            check()
            file = self.tree.read(RelativePath(path), MAX_BYTES)
            language = language_of(path)
            if isinstance(file, SourceFile):
                fits = len(file.text) <= left
                left -= len(file.text) if fits else 0
                content, omitted = (file.text, None) if fits else (None, "budget")
                count = count_lines(file.text)
                yield Dependency(path, language, file.size, count, content, omitted)
            elif file.reason in _OMITTED:
                yield Dependency(path, language, None, None, None, _OMITTED[file.reason])


def read_source(tree: SourceTree, path: RelativePath) -> SourceFile:
    """The text of a file.

    Raises:
        Failure: it cannot be read, and why.
    """
    source = tree.read(path, MAX_BYTES)
    if isinstance(source, Unreadable):
        code, message, details = _REFUSALS[source.reason]
        if source.reason is Reason.MISSING and (near := near_paths(path, tree.names())):
            details = {"hint": f"did you mean {' or '.join(near)}?"}
        raise Failure(code, message, {"path": path.value, **details})
    return source


def within_root(path: str | None) -> RelativePath | None:
    """The place that a path means; None for the root."""
    return None if path is None or path.strip("/\\ ") in ("", ".") else RelativePath.lenient(path)


def nearly_named(definitions: Sequence[Definition], symbol: str) -> list[Definition]:
    """The definitions whose names are like a name, the likest first."""
    by_name = {each.qualified: each for each in definitions}
    by_name |= {each.name: each for each in definitions}
    likely = get_close_matches(symbol, list(by_name), n=5, cutoff=0.6)
    return list(dict.fromkeys(by_name[name] for name in likely))


def _is_path(text: str) -> bool:
    """Whether a text can be a path: names on disk may be too long, or have control characters."""
    with suppress(Failure):
        return bool(RelativePath(text))
    return False


def numbered_lines(content: str, first: int) -> str:
    """The lines with their numbers before them, as packs show them."""
    ending = "\n" if content.endswith("\n") else ""
    lines = content.removesuffix("\n").split("\n") if content else []
    return "\n".join(f"{number:>4}: {line}" for number, line in enumerate(lines, first)) + ending


def _fitting(names: Iterable[str], room: int, each: int) -> tuple[tuple[str, ...], int]:
    """The first names that fit where each takes so many bytes more than it has, and the room left."""
    fitting: list[str] = []
    for name in names:
        if (used := size(name) + each) > room:
            break
        room -= used
        fitting.append(name)
    return tuple(fitting), room


def _no_imports(source: SourceFile, why: str) -> Failure:
    details = {"path": source.path.value, "details": why, "hint": "read the file without includeDeps"}
    return Failure(Code.INVALID_DATA, "Failed to parse imports", details)


def count_lines(content: str) -> int:
    """How many lines there are; a final newline adds none."""
    return content.count("\n") + (not content.endswith("\n") and bool(content))


def _cut(content: str, start: int | None, end: int | None) -> tuple[str, Span | None, int]:
    """The wanted lines with their endings, which lines they are, and how many the whole has."""
    lines = count_lines(content)
    if start is None and end is None:
        return content, None, lines
    first = max(1, min(start or 1, lines))
    last = min(end or lines, lines)
    if not lines:
        return "", Span(1, 0), 0
    pieces = content.split("\n")
    kept = "\n".join(pieces[first - 1 : last])
    return kept + ("\n" if last < len(pieces) else ""), Span(first, max(first, last)), lines


@frozen
class Span:
    """Lines `start` to `end` of a file, both included; an empty file has the span 1 to 0."""

    start: int
    end: int


class FilePage(NamedTuple):
    """Lines of a file, which they are (None for all), and what is left of the room.

    `rest` is the line to go on with, None at the end; `cut` counts the characters its only line lost.
    """

    content: str
    span: Span | None
    room: int
    rest: int | None = None
    cut: int = 0


def paged(content: str, span: Span | None, lines: int, room: int) -> FilePage:
    """As many of the lines as there is room for, at least the beginning of the first."""
    if len(content) <= room and (used := json_size(content)) <= room:
        return FilePage(content, span, room - used)
    first, last = (1, lines) if span is None else (span.start, span.end)
    room -= json_size("")
    shown: list[str] = []
    for line in content.split("\n"):
        room -= json_size(line)  # two quotes, as a line break has two characters
        if room < 0:
            break
        shown.append(line)
    end = first + max(len(shown), 1) - 1
    rest = end + 1 if end < last else None
    if shown:
        return FilePage("".join(f"{line}\n" for line in shown), Span(first, end), 0, rest)
    line = content.partition("\n")[0]
    start = cut_text(line, max(room + json_size(line), 0), json_size)
    return FilePage(start, Span(first, end), 0, rest, len(line) - len(start.removesuffix(ELLIPSIS)))
