"""Discoveries, sessions and code in dictionaries, as the stores keep them on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.languages import language_of
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Clock, Reason, decode
from context_pack.kernel.text import sha256_hex
from context_pack.memory.discovery import Discovery
from context_pack.memory.ports import CodeFile, GoOn, always
from context_pack.memory.session import Session
from context_pack.memory.stores import Recorded
from context_pack.retrieval.upkeep import File


class MemoryDiscoveryStore:
    """A `DiscoveryStore` in memory; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, Discovery] = {}

    def record(self, discovery: Discovery) -> Recorded:
        """Keep a discovery, or record again the one that says the same."""
        with self._lock:
            recorded = self.rehearse(discovery)
            self._kept[discovery.id] = recorded.discovery
            return recorded

    def rehearse(self, discovery: Discovery) -> Recorded:
        """What recording a discovery would leave."""
        known = self._kept.get(discovery.id)
        return Recorded(discovery if known is None else known.again(discovery), merged=known is not None)

    def change(self, discovery_id: str, change: Callable[[Discovery], Discovery]) -> Discovery:
        """Replace a discovery by what `change` makes of it, under its id."""
        with self._lock:
            if discovery_id not in self._kept:
                raise _not_found(discovery_id)
            self._kept[discovery_id] = changed = change(self._kept[discovery_id])
            return changed

    def all(self) -> Sequence[Discovery]:
        """Every discovery, the oldest first."""
        with self._lock:
            return sorted(self._kept.values(), key=lambda one: (one.date, one.id))

    def readable(self) -> tuple[Sequence[Discovery], None]:
        """Every discovery: none is malformed."""
        return self.all(), None

    def forget(self, discovery_id: str) -> Discovery:
        """Remove a discovery and return it."""
        with self._lock:
            known = self._kept.pop(discovery_id, None)
        if known is None:
            raise _not_found(discovery_id)
        return known


def _not_found(discovery_id: str) -> Failure:
    return Failure(Code.NOT_FOUND, "no discovery has that id; list them to see", {"id": discovery_id})


class MemorySessionLog:
    """A `SessionLog` in memory; earlier sessions are those it is given."""

    def __init__(self, clock: Clock, session_id: str, past: Sequence[Session] = ()) -> None:
        self._lock = Lock()
        self._past = tuple(sorted(past, key=lambda session: (session.started, session.id)))
        self.session = Session(id=session_id, started=clock.now())

    @property
    def id(self) -> str:
        """The id of this session."""
        return self.session.id

    def called(self, tool: str) -> None:
        """A tool was called."""
        with self._lock:
            self.session = self.session.called(tool)

    def read(self, path: RelativePath) -> None:
        """A file was read."""
        with self._lock:
            self.session = self.session.read(path.value)

    def touched(self, pack: str) -> None:
        """A pack was read or changed."""
        with self._lock:
            self.session = self.session.touched(pack)

    def keep(self) -> None:
        """Does nothing: an in-memory log cannot outlive the process."""

    def past(self) -> Sequence[Session]:
        """The other sessions."""
        return self._past


class MemoryCodeTree:
    """A `CodeTree` over a dictionary of files, looked at on every call."""

    def __init__(self, files: Mapping[str, str | bytes], policy: PathPolicy) -> None:
        self._files, self._policy = files, policy

    def survey(self, go_on: GoOn = always) -> Mapping[str, File] | None:
        """Every file that counts, by path."""
        found: dict[str, File] = {}
        for path in sorted(self._files):
            if not go_on():
                return None
            data = self._bytes(path)
            if data is not None:
                skipped = None if data and language_of(path) else "no source code"
                found[path] = File(sha256_hex(data), len(data), skipped)
        return found

    def left_out(self) -> Mapping[str, str]:
        """What the policy denies; nothing else is left out of a dictionary."""
        return {path: "denied" for path in sorted(self._files) if self._bytes(path) is None}

    def read(self, path: str) -> CodeFile:
        """One file."""
        data = self._bytes(path)
        if data is None:
            return CodeFile("", "", "gone")
        text, stamp = decode(data), sha256_hex(data)
        return CodeFile("", stamp, "not text") if isinstance(text, Reason) else CodeFile(text, stamp)

    def _bytes(self, path: str) -> bytes | None:
        content = self._files.get(path)
        try:
            if content is None or self._policy.denies(RelativePath(path)):
                return None
        except Failure:
            return None
        return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
