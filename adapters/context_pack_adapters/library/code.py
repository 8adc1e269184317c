"""Code for library callers: read a file with what it imports, and search the tree."""

from __future__ import annotations

from context_pack.code.grep import GrepCodebase, Searched
from context_pack.code.outline import TOKENS as OUTLINE_TOKENS
from context_pack.code.outline import CodeOutline, Outlined
from context_pack.code.reading import FileRead, ReadFile
from context_pack.code.search import DEFAULT_HITS
from context_pack.code.usages import DEFAULT_USES, FindUsages, Usages
from context_pack.composition import UseCases
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.library.spelling import spelled


class SourceCode:
    """Every use case of code; each raises `Failure` as the tools would answer it."""

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
        """A file, a range of its lines or one definition of it, on request with the files it imports."""
        command = spelled(
            ReadFile,
            path=path,
            includeDeps=include_deps,
            maxDepth=max_depth,
            startLine=start_line,
            endLine=end_line,
            symbol=symbol,
            numbered=numbered,
        )
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
        """The definitions of a file, or of the files in a folder."""
        command = spelled(CodeOutline, path=path, depth=depth, query=query, max_tokens=max_tokens)
        return self._cases.outliner.outline(command)

    def usages(
        self, name: str, *, path: str | None = None, limit: int = DEFAULT_USES, offset: int = 0
    ) -> Usages:
        """Where a name is defined and used, by name and not by type.

        Raises:
            ValueError: these ports have no search.
        """
        if self._cases.usages is None:
            raise ValueError("these ports have no search")
        command = spelled(FindUsages, name=name, path=path, limit=limit, offset=offset)
        return self._cases.usages.find(command, QuietCall())

    def grep(
        self,
        pattern: str,
        *,
        file_pattern: str | None = None,
        case_sensitive: bool = False,
        limit: int = DEFAULT_HITS,
    ) -> Searched:
        """The lines that match a regular expression.

        Raises:
            ValueError: these ports have no search.
        """
        if self._cases.searcher is None:
            raise ValueError("these ports have no search")
        command = spelled(
            GrepCodebase,
            pattern=pattern,
            filePattern=file_pattern,
            caseSensitive=case_sensitive,
            limit=limit,
        )
        return self._cases.searcher.search(command, QuietCall())
