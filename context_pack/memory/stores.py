"""What recording in memory asks of the world: notes on disk, a log of this connection, the places in code.

What searching asks besides is in `ports`, which loads the index with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from attrs import frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import LineRange
from context_pack.memory.discovery import CodePlace, CodeState, Discovery
from context_pack.memory.session import Session


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
