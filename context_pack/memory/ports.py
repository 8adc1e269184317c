"""What memory asks of the world: stores of notes, places in code, the files of the tree and an index.

Packs are another feature's: what memory finds of them comes as plain notes through a port of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.syntax import Syntax
from context_pack.kernel.text import LineRange
from context_pack.memory.discovery import CodePlace, CodeState, Discovery, Session

if TYPE_CHECKING:
    from context_pack.retrieval.ports import Background, SearchIndex
    from context_pack.retrieval.searching import Searching
    from context_pack.retrieval.upkeep import File


@frozen
class Recorded:
    """A discovery as it is now kept, and whether it was there before."""

    discovery: Discovery
    merged: bool


class DiscoveryStore(Protocol):
    """Where discoveries live. Reads take no lock, writes exclude each other across processes.

    Raises `Failure` only: `io_error`, `lock_timeout`, `not_found`, `malformed_discovery`.
    """

    def record(self, discovery: Discovery) -> Recorded:
        """Keep a discovery; one that says the same is recorded again instead, and keeps its id."""

    def change(self, discovery_id: str, change: Callable[[Discovery], Discovery]) -> Discovery:
        """Replace a discovery by what `change` makes of it, under its id; returns what is now kept."""

    def all(self) -> Sequence[Discovery]:
        """Every discovery, the oldest first; fails closed when one file is malformed."""

    def readable(self) -> tuple[Sequence[Discovery], Failure | None]:
        """Every discovery that can be read, and what `all` raises for those that cannot."""

    def forget(self, discovery_id: str) -> Discovery | None:
        """Remove a discovery and return it, or None when what was removed was malformed."""


class SessionLog(Protocol):
    """What this connection does, and what earlier ones did; noting never waits, and nothing here fails."""

    @property
    def id(self) -> str:
        """The id of this connection's session."""

    def called(self, tool: str) -> None:
        """A tool was called."""

    def read(self, path: RelativePath) -> None:
        """A file was read."""

    def touched(self, pack: str) -> None:
        """A pack was read or changed."""

    def keep(self) -> None:
        """Write the session to disk now, because a record that names it is about to be stored."""

    def past(self) -> Sequence[Session]:
        """The other sessions, the oldest first; what cannot be read is left out."""


class CodePlaces(Protocol):
    """Anchors the code that discoveries point at, and finds its state."""

    def anchored(self, path: str | None, lines: LineRange | None, symbol: str | None) -> CodePlace:
        """The place of a file, of lines of it or of a definition, with an anchor of its text as it is now.

        Raises:
            Failure: `invalid_data`, when there is no such code, or several definitions have that name.
        """

    def states(
        self, places: Sequence[CodePlace], check: Callable[[], None] = lambda: None
    ) -> Sequence[CodeState]:
        """What became of the code of each place; what `check` raises ends the search."""


# -- what searching asks besides

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
