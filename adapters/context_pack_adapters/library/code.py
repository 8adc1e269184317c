"""Code for library callers: read a file with what it imports, outline and search the tree."""

from __future__ import annotations

from typing import TypeVar

from context_pack.code.grep import GrepCodebase
from context_pack.code.outline import CodeOutline, Outlined
from context_pack.code.reading import FileRead, ReadFile
from context_pack.code.search import FoundLines
from context_pack.code.usages import FindUsages, Usages
from context_pack.composition import UseCases
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.library.calls import asked

T = TypeVar("T")


class SourceCode:
    """The code of the project; each method raises `Failure` where the tools would refuse."""

    def __init__(self, cases: UseCases) -> None:
        self._ports, self._cases = cases.ports, cases.code

    def _read(self, command: ReadFile) -> FileRead:
        read = self._cases.reader.read(command)
        if self._ports.access is not None:
            self._ports.access.record(read.source.path, self._ports.clock.now())
        return read

    def _outline(self, command: CodeOutline) -> Outlined:
        return self._cases.outliner.outline(command)

    def _usages(self, command: FindUsages) -> Usages:
        return _searching(self._cases.usages).find(command, QuietCall())

    def _grep(self, command: GrepCodebase) -> FoundLines:
        return _searching(self._cases.searcher).search(command, QuietCall()).found

    read = asked(
        ReadFile,
        _read,
        "A file, lines of it or one definition: `content`, `language`, `lines`, `span`, `dependencies`.",
    )
    outline = asked(
        CodeOutline,
        _outline,
        "The definitions of a file, or of the files in a folder: `outlines`, one for each file.",
    )
    usages = asked(
        FindUsages,
        _usages,
        "Where a name is defined (`definitions`) and used (`uses`), by name and not by type.",
    )
    grep = asked(
        GrepCodebase,
        _grep,
        "The lines that match a regular expression: `hits` with `path`, `line`, `text`; `total` of all.",
    )


def _searching(case: T | None) -> T:
    """A use case that needs the port of a search."""
    if case is None:
        raise Failure(Code.NOT_FOUND, "these ports have no search")
    return case
