"""Sessions in the user's state, one Markdown file each: `{state}/sessions/{id}.md`.

Noting something only changes a value in memory. A moment after the first note and then every few seconds one
thread writes the session whole, so that a killed server leaves a session that can be read and only lacks its
end. The first call that changes something does not wait for that thread: what it leaves may name the session,
so the session is there before it, and again with that call before its reply. Only its own connection writes a
session, so there is nothing to lock. Nothing here ever fails a call. The newest thousand sessions are kept.
What was parsed of past ones is kept in memory: 300 take 5 ms of a search instead of 39
(`benches/side_by_side/memory.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Timer, get_ident

from attrs import evolve

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.ports import Clock
from context_pack.memory.discovery import is_id
from context_pack.memory.session import Session, from_record, summary, to_record
from context_pack_adapters.files import front_matter
from context_pack_adapters.files.folder import PrivateFolder

SUFFIX = ".md"
FIRST_SECONDS, NEXT_SECONDS = 0.2, 5.0
KEPT = 1000
MAX_FILE_BYTES = 2 * 1024 * 1024


class SessionFiles:
    """A `SessionLog` on disk; safe to share between threads."""

    def __init__(self, state: PrivateFolder, clock: Clock, session_id: str, kept: int = KEPT) -> None:
        self._folder = state.below("sessions")
        self._clock = clock
        self._kept = kept
        self._lock = Lock()
        self._writing = Lock()
        self._session = Session(id=session_id, started=clock.now())
        self._calls: dict[str, int] = {}  # by tool, since the session was last written
        self._timer: Timer | None = None
        self._kept_early = self._written = self._tidied = False
        self._owing: int | None = None
        self._past: dict[str, tuple[tuple[int, int], Session]] = {}

    @property
    def id(self) -> str:
        """The id of this connection's session."""
        return self._session.id

    def called(self, tool: str) -> None:
        """A tool was called."""
        with self._lock:
            self._calls[tool] = self._calls.get(tool, 0) + 1
            if self._timer is None:
                self._start_timer()
        if self._owing is not None and self._owing == get_ident():
            self._owing = None
            self._save()

    def read(self, path: RelativePath) -> None:
        """A file was read."""
        self._note(lambda session: session.read(path.value))

    def touched(self, pack: str) -> None:
        """A pack was read or changed."""
        self._note(lambda session: session.touched(pack))

    def keep(self) -> None:
        """Write the session to disk now, because a record that names it is about to be stored.

        The call that changes it is not noted yet; when it is, the session is written with it, by the same
        thread. Later changes find the session there and leave the rest to the interval.
        """
        with self._lock:
            if self._kept_early:
                return
            self._kept_early, self._owing = True, get_ident()
        self._save()

    def past(self) -> Sequence[Session]:
        """The other sessions, the oldest first."""
        found = {name: seen for name in self._names() if (seen := self._load(name)) is not None}
        self._past = found
        others = (session for _, session in found.values() if session.id != self.id)
        return sorted(others, key=lambda session: (session.started, session.id))

    def end(self) -> None:
        """Write the end of the session, if anything was noted in it."""
        with self._lock:
            if not self._calls and not self._session.tools and not self._written:
                return
            self._session = evolve(self._session, ended=self._clock.now())
        self.flush()

    def flush(self) -> None:
        """Write the session as it is now; what cannot be written is tried again with the next note."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        self._save()
        if self._written and not self._tidied:
            self._tidied = True
            self._remove_oldest()

    def _save(self) -> None:
        with self._writing, suppress(OSError, UnicodeEncodeError):
            with self._lock:
                for tool, times in self._calls.items():
                    self._session = self._session.called(tool, times)
                self._calls.clear()
            self._write(self._session)

    def _note(self, change: Callable[[Session], Session]) -> None:
        with self._lock:
            self._session = change(self._session)
            if self._timer is None:
                self._start_timer()

    def _start_timer(self) -> None:
        self._timer = Timer(NEXT_SECONDS if self._tidied else FIRST_SECONDS, self.flush)
        self._timer.daemon = True
        self._timer.start()

    def _write(self, session: Session) -> None:
        data = front_matter.render(to_record(session), summary(session) + "\n")
        self._folder.write(session.id + SUFFIX, data)
        self._written = True

    def _remove_oldest(self) -> None:
        """Remove the oldest sessions past the number that is kept."""
        names = self._names()
        if len(names) > self._kept:
            for session in self.past()[: len(names) - self._kept]:
                with suppress(OSError):
                    self._folder.remove(session.id + SUFFIX)

    def _names(self) -> list[str]:
        try:
            names = self._folder.names()
        except OSError:
            return []
        return [name for name in names if name.endswith(SUFFIX) and is_id(name[: -len(SUFFIX)])]

    def _load(self, name: str) -> tuple[tuple[int, int], Session] | None:
        """A session with the state of its file, from memory where that is the same."""
        try:
            status = self._folder.status(name)
            known, state = self._past.get(name), (status.st_mtime_ns, status.st_ino)
            if known is not None and known[0] == state:
                return known
            data, _ = self._folder.read(name, MAX_FILE_BYTES)
            return state, from_record(front_matter.parse(front_matter.split(data)))
        except (OSError, front_matter.Malformed, ValueError, KeyError, TypeError, AttributeError):
            return None
