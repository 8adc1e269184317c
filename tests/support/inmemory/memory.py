"""A session's log that nothing writes to a disk."""

from __future__ import annotations

from collections.abc import Sequence

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock
from context_pack.memory.discovery import Session


class MemorySessionLog:
    """A `SessionLog` of one test; earlier sessions are those it is given."""

    def __init__(self, clock: Clock, session_id: str, past: Sequence[Session] = ()) -> None:
        self._past = tuple(sorted(past, key=lambda session: (session.started, session.id)))
        self.session = Session(id=session_id, started=clock.now())

    @property
    def id(self) -> str:
        """The id of this session."""
        return self.session.id

    def called(self, tool: str) -> None:
        """A tool was called."""
        self.session = self.session.called(tool)

    def read(self, path: RelativePath) -> None:
        """A file was read."""
        self.session = self.session.read(path.value)

    def touched(self, pack: str) -> None:
        """A pack was read or changed."""
        self.session = self.session.touched(pack)

    def keep(self) -> None:
        """Does nothing: this log does not outlive the test."""

    def past(self) -> Sequence[Session]:
        """The other sessions."""
        return self._past
