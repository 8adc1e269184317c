"""Reports subscribed packs whose source files were edited, because their rendering changed, too.

Only the folders of those files are watched (inotify on Linux, a slow look elsewhere), and on every event the
files themselves are looked at: an event says that something happened, their signatures say what.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import suppress

from context_pack.kernel.errors import Failure
from context_pack.packs.ports import PackStore
from context_pack.packs.resources import handle_in
from context_pack.packs.usecases.commands import NamedPack
from context_pack.packs.usecases.naming import located
from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.opening import Place
from context_pack_adapters.disk.signature import Signature, signature
from context_pack_adapters.disk.watch import FolderEvents

Tell = Callable[[list[str]], None]


class PackSources:
    """Watches the files that the packs of some URIs point at; `tell` gets the URIs whose files changed."""

    def __init__(self, source_root: str, packs: PackStore, tell: Tell) -> None:
        self._root = Place.of(source_root)
        self._packs = packs
        self._tell = tell
        self._lock = threading.Lock()
        self._files: dict[str, frozenset[str]] = {}
        """The files of each URI's pack."""
        self._seen: dict[str, Signature | None] = {}
        self._folders: list[Place] = []
        self._events: FolderEvents | None = None

    def follow(self, uris: Collection[str]) -> None:
        """Watch the files of these packs from now on, and no others; a pack that is not there has none.

        Raises:
            OSError: the system has no more watches to give.
        """
        files = {uri: self._files_of(uri) for uri in uris}
        wanted = frozenset().union(*files.values())
        with self._lock:
            self._files = files
            if not wanted:
                if self._events is not None:
                    self._events.stop()
                self._events, self._seen = None, {}
                return
            if self._events is None:
                self._events = FolderEvents()
                threading.Thread(target=self._run, args=[self._events], daemon=True).start()
            self._folders = sorted({self._folder(path) for path in wanted})
            self._cover(self._events)  # before the files are looked at, so that nothing falls between
            self._seen = {
                path: self._seen[path] if path in self._seen else self._status(path) for path in wanted
            }

    def _files_of(self, uri: str) -> frozenset[str]:
        handle = handle_in(uri)
        if not handle:
            return frozenset()
        try:
            pack = located(self._packs, NamedPack(id=handle))
        except Failure:
            return frozenset()
        return frozenset(ref.path.value for _, ref in pack.refs)

    def _run(self, events: FolderEvents) -> None:
        """Look whenever something happened in one of the folders, until the events are stopped."""
        while events.wait() is not None:
            self._cover(events)  # a folder may have come, or be another one now
            self._look()

    def _cover(self, events: FolderEvents) -> None:
        """Watch each folder, or the nearest one above it that exists."""
        queue = events.queue
        for place in self._folders if queue is not None else ():
            ways = (Place(place.top, place.inside[:depth]) for depth in range(len(place.inside), -1, -1))
            next((way for way in ways if queue is None or queue.add(way) >= 0), None)

    def _look(self) -> None:
        """Report the packs whose files differ from the last check."""
        with self._lock:
            now = {path: self._status(path) for path in self._seen}
            edited = {path for path, state in now.items() if state != self._seen[path]}
            self._seen = now
            uris = sorted(uri for uri, files in self._files.items() if files & edited)
        if uris:
            self._tell(uris)

    def _folder(self, path: str) -> Place:
        return self._root.below(*path.split("/")[:-1])

    def _status(self, path: str) -> Signature | None:
        with suppress(OSError, Failure):
            return signature(Folder(self._folder(path)).status(path.rpartition("/")[2]))
        return None
