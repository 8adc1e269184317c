"""Reports packs that are made, changed, removed or expire, in this process or another.

While somebody listens, the packs folder is watched, and every change is told from what is on disk, whoever
made it. What a pack is called and when it expires is remembered, so that its end can be told under its name
too, and its expiry in time. While nobody does, nothing is watched; then only this process's own creations and
deletions are told, because a client that was promised news of the list gets them without asking.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import Protocol

from attrs import frozen

from context_pack.kernel.errors import Failure
from context_pack.kernel.ids import is_pack_id
from context_pack.kernel.ports import Clock
from context_pack.kernel.ttl import is_expired
from context_pack.packs.domain.model import Pack
from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.opening import AnyPlace
from context_pack_adapters.disk.watch import FolderWatch

SUFFIX = ".md"
LONGEST_WAIT = 3600.0
"""The longest sleep before the clock is checked again, since it may be set."""
_LEARNING_SECONDS = 0.02


@frozen
class News:
    """Packs that changed, by id and by name, and whether one was made or removed.

    With `unsure`, one of them may have had any name: its file could not be read in time, or not at all.
    """

    handles: frozenset[str]
    listed: bool
    unsure: bool = False

    def concerns(self, handle: str) -> bool:
        """Whether the pack of that id or name may have changed."""
        return handle in self.handles or (self.unsure and bool(handle) and not is_pack_id(handle))


Tell = Callable[[News], None]


class NewsSource(Protocol):
    """Reports changes of packs: from a watched folder, or from a database that notifies."""

    def listen(self, wanted: bool) -> None:
        """Start or stop reporting every change; idempotent."""

    def came_or_went(self, pack: Pack) -> None:
        """Report a pack that this process made or removed, at once if nothing is watched."""


class PackNews:
    """Reports changes of the packs under one storage root, to one listener."""

    def __init__(self, root: AnyPlace, clock: Clock, tell: Tell) -> None:
        self._folder = Folder(root).below("packs")
        self._clock = clock
        self._tell = tell
        self._lock = Lock()
        self._watch: FolderWatch | None = None

    def listen(self, wanted: bool) -> None:
        """Start or stop watching; idempotent.

        Raises:
            OSError: the system has no more watches to give.
        """
        with self._lock:
            if wanted and self._watch is None:
                self._watch = _FolderWatch(self._folder, self._clock, self._tell).begin()
                return
            ended, self._watch = (None, self._watch) if wanted else (self._watch, None)
        if ended is not None:
            ended.stop()  # outside the lock: its last report may be on its way

    def came_or_went(self, pack: Pack) -> None:
        """Report a pack that this process made or removed, unless the folder watch does."""
        if self._watch is None:
            self._tell(News(handles_of(pack.id, pack.name), listed=True))


@frozen
class _KnownFile:
    """The cached facts of a pack; `sure` when its file was read."""

    name: str | None = None
    expires_at: datetime | None = None
    sure: bool = False

    def is_over(self, now: datetime) -> bool:
        """Whether the pack has expired."""
        return self.expires_at is not None and is_expired(self.expires_at, now)


class _FolderWatch:
    """One watch and its cached packs; all but `begin` runs in the thread of the watch."""

    def __init__(self, folder: Folder, clock: Clock, tell: Tell) -> None:
        self._folder = folder
        self._clock = clock
        self._tell = tell
        self._known: dict[str, _KnownFile] = {}
        self._unread: list[str] = []
        self._begun = clock.now()

    def begin(self) -> FolderWatch:
        """Start to watch; packs that exist now are not reported."""
        watch = FolderWatch(self._folder.place, self._changed, self._due)
        self._known = dict.fromkeys(self._present(), _KnownFile())
        self._unread = list(self._known)
        watch.start()
        return watch

    def _changed(self, names: frozenset[str]) -> None:
        """Report the packs whose files changed, and those that have expired."""
        now = self._clock.now()
        ids = {name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)}
        ids |= {pack_id for pack_id, known in self._known.items() if known.is_over(now)}
        handles: set[str] = set()
        listed = unsure = False
        for pack_id in filter(is_pack_id, ids):
            before, after = self._known.pop(pack_id, None), self._read(pack_id)
            if after is not None and after.is_over(now):
                after = None
            if after is not None:
                self._known[pack_id] = after
            elif before is None:
                continue
            listed = listed or before is None or after is None
            for known in filter(None, (before, after)):
                handles |= handles_of(pack_id, known.name)
            # The name of a pack stays: reading it once, before or after, is enough.
            unsure = unsure or not any(known.sure for known in (before, after) if known is not None)
        if handles:
            self._tell(News(frozenset(handles), listed, unsure))

    def _due(self) -> float:
        """Seconds until the next expiry; none at all while there are files to read, a few at a time."""
        until = self._clock.monotonic() + _LEARNING_SECONDS
        while self._unread:
            self._learn(self._unread.pop())
            if self._clock.monotonic() > until:
                return 0.0
        ends = [known.expires_at for known in self._known.values() if known.expires_at is not None]
        left = (min(ends) - self._clock.now()).total_seconds() if ends else LONGEST_WAIT
        return min(max(left, 0.0), LONGEST_WAIT)

    def _learn(self, pack_id: str) -> None:
        """Read a file that was there when the watch began; later changes of it are reported."""
        found = self._read(pack_id) if pack_id in self._known else None
        if found is not None and found.is_over(self._begun):
            del self._known[pack_id]
        elif found is not None:
            self._known[pack_id] = found

    def _read(self, pack_id: str) -> _KnownFile | None:
        """The cached facts from the file of a pack; None if there is none."""
        # Imported here, in the thread of the watch: whoever subscribes does not wait for it.
        from context_pack_adapters.stores import pack_format

        try:
            data, _ = self._folder.read(f"{pack_id}{SUFFIX}", pack_format.MAX_FILE_BYTES)
            pack = pack_format.decode(data, pack_id)
        except FileNotFoundError:
            return None
        except (OSError, Failure):
            return _KnownFile()
        return _KnownFile(pack.name, pack.expires_at, sure=True)

    def _present(self) -> list[str]:
        try:
            names = self._folder.names()
        except OSError:
            return []
        stems = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
        return [stem for stem in stems if is_pack_id(stem)]


def handles_of(pack_id: str, name: str | None) -> frozenset[str]:
    """The handles of a pack: its id, and its name if it has one."""
    return frozenset({pack_id} if name is None else {pack_id, name})
