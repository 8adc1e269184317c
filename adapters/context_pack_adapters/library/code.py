"""Code for library callers: read a file with what it imports, and search the tree."""

from __future__ import annotations

from typing import TypeVar

from context_pack.code.grep import GrepCodebase
from context_pack.code.outline import TOKENS as OUTLINE_TOKENS
from context_pack.code.outline import CodeOutline, Outlined
from context_pack.code.reading import FileRead, ReadFile
from context_pack.code.search import DEFAULT_HITS, FoundLines
from context_pack.code.usages import DEFAULT_USES, FindUsages, Usages
from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import QuietCall

T = TypeVar("T")


class SourceCode:
    """The code of the project; each method raises `Failure` where the tools would refuse."""

    def __init__(self, cases: UseCases) -> None:
        self._access, self._now = cases.ports.access, cases.ports.clock.now
        self._cases = cases.code

    def read(
        self,
        path: str,
        *,
        include_deps: bool = False,
        max_depth: int = 1,
        start_line: int | None = None,
        end_line: int | None = None,
        symbol: str | None = None,
        numbered: bool = False,
    ) -> FileRead:
        """A file, lines of it or one definition: `content`, `language`, `lines`, `span`, `dependencies`.

        Args:
            path: relative to the project.
            include_deps: add the files that it imports, with their contents.
            max_depth: how many levels of imports.
            start_line: the first line, from 1.
            end_line: the last line, included.
            symbol: one definition instead: `Class.method`, or a name that is unique in the file.
            numbered: put line numbers before the lines.
        """
        command = ReadFile(path, include_deps, max_depth, start_line, end_line, symbol, numbered)
        read = self._cases.reader.read(command)
        if self._access is not None:
            self._access.record(read.source.path, self._now())
        return read

    def outline(
        self,
        path: str = ".",
        *,
        depth: int | None = None,
        query: str | None = None,
        max_tokens: int = OUTLINE_TOKENS,
    ) -> Outlined:
        """The definitions of a file, or of the files in a folder: `outlines`, one for each file.

        Args:
            path: a file or folder, relative to the project.
            depth: how many levels of definitions; 3 for a file, 1 for a folder.
            query: only definitions whose name contains this.
            max_tokens: files are looked at until their outlines are so large.
        """
        return self._cases.outliner.outline(CodeOutline(path, depth, query, max_tokens))

    def usages(
        self, name: str, *, path: str | None = None, limit: int = DEFAULT_USES, offset: int = 0
    ) -> Usages:
        """Where a name is defined (`definitions`) and used (`uses`), by name and not by type.

        Args:
            name: an identifier; of `Class.method` the last part.
            path: only in this file or folder.
            limit: at most so many uses.
            offset: how many of them to skip.
        """
        finder = _searching(self._cases.usages)
        return finder.find(FindUsages(name, path, limit, offset), QuietCall())

    def grep(
        self,
        pattern: str,
        *,
        file_pattern: str | None = None,
        case_sensitive: bool = False,
        limit: int = DEFAULT_HITS,
    ) -> FoundLines:
        """The lines that match a regular expression: `hits` with `path`, `line`, `text`; `total` of all.

        Args:
            pattern: matched line by line.
            file_pattern: a glob of the files to search, as in `**/*.ts`.
            case_sensitive: whether case matters.
            limit: at most so many hits.
        """
        searcher = _searching(self._cases.searcher)
        command = GrepCodebase(pattern, file_pattern, case_sensitive, limit)
        return searcher.search(command, QuietCall()).found


def _searching(case: T | None) -> T:
    """A use case that needs the port of a search."""
    if case is None:
        raise Failure(Code.NOT_FOUND, "these ports have no search")
    return case
