"""What searching memory asks of the world: the files of the tree, an index, and the stores of `stores`.

Packs are another feature's: what memory finds of them comes as plain notes through a port of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Protocol

from attrs import field, frozen

from context_pack.kernel.syntax import Syntax
from context_pack.memory.stores import DiscoveryStore, SessionLog
from context_pack.retrieval.ports import Background, SearchIndex
from context_pack.retrieval.searching import Searching
from context_pack.retrieval.upkeep import File

GoOn = Callable[[], bool]


def always() -> bool:
    """Always true: nothing keeps the work from being done."""
    return True


@frozen
class CodeFile:
    """A file as it was read: its text, or in words why it has none to index.

    An empty stamp says that the file may change again without a trace.
    """

    text: str
    stamp: str
    skipped: str | None = None


class CodeTree(Protocol):
    """The files of the source tree that may be indexed."""

    def survey(self, go_on: GoOn = always) -> Mapping[str, File] | None:
        """Every file that counts, by path, in path order: from names and states alone.

        None when `go_on`, asked again and again, said no.
        """

    def left_out(self) -> Mapping[str, str]:
        """What does not count at all, denied or ignored, with the reason; folders end in a slash."""

    def read(self, path: str) -> CodeFile:
        """One file."""


@frozen
class PackNote:
    """A section or a ref of a live pack, as memory finds it."""

    pack: str
    section: str
    ref: str | None
    title: str
    text: str
    updated: datetime
    path: str | None = None
    start: int | None = None
    end: int | None = None
    worktree: str | None = None


class PackNotes(Protocol):
    """The texts of live packs."""

    def notes(self) -> Iterable[PackNote]:
        """Every section and every ref of every live pack.

        Raises:
            Failure: the packs cannot be read.
        """


NOTHING_STORED = "nothing"
"""The token of a project that has neither discoveries nor packs: their stores need not be asked."""


def no_token() -> str:
    """Default: no change token, because reading the store is as fast as asking for one."""
    return ""


@frozen
class MemoryPorts:
    """All ports of memory; without a background worker, indexing is done before the answer."""

    discoveries: DiscoveryStore
    sessions: SessionLog
    tree: CodeTree
    index: SearchIndex
    searching: Searching
    syntax: Syntax
    background: Background | None = field(default=None)
    warning: str | None = None
    """What is wrong with the embedder that was asked for, if anything."""
    token: Callable[[], str] = no_token
    """One text for the state of all discoveries and live packs: the same text, nothing has changed.

    Empty where there is none; it raises `Failure` like the stores.
    """
