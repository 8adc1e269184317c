"""Code for embedders: read a file with what it imports, and search the tree."""

from __future__ import annotations

from context_pack.app import Ports
from context_pack.code.domain.search import DEFAULT_HITS
from context_pack.code.usecases.grep import CodeSearcher, GrepCodebase, Searched
from context_pack.code.usecases.read_file import FileRead, FileReader, ReadFile
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.workspace.spelling import spelled


class SourceCode:
    """Every use case of code; each raises `Failure` as the tools would answer it."""

    def __init__(self, ports: Ports) -> None:
        self._access, self._now = ports.access, ports.clock.now
        self._reader = FileReader(ports.source, ports.syntax)
        self._searcher = None if ports.search is None else CodeSearcher(ports.search, ports.clock.monotonic)

    def read(
        self,
        path: str,
        *,
        include_deps: bool = False,
        max_depth: int = 1,
        start_line: int | None = None,
        end_line: int | None = None,
    ) -> FileRead:
        """A file, or a range of its lines, on request with the files it imports."""
        command = spelled(
            ReadFile,
            path=path,
            includeDeps=include_deps,
            maxDepth=max_depth,
            startLine=start_line,
            endLine=end_line,
        )
        read = self._reader.read(command)
        self._access.record(read.source.path, self._now())
        return read

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
        if self._searcher is None:
            raise ValueError("these ports have no search")
        command = spelled(
            GrepCodebase,
            pattern=pattern,
            filePattern=file_pattern,
            caseSensitive=case_sensitive,
            limit=limit,
        )
        return self._searcher.search(command, QuietCall())
