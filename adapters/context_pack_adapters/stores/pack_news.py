"""Tells of packs that come, change and go, in this process or another.

While somebody listens, the packs folder is watched, and every change is told from what is on disk, whoever
made it. While nobody does, nothing is watched; then only this process's own creations and deletions are told,
because a client that was promised news of the list gets them without asking.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Lock

from context_pack.kernel.ids import is_pack_id
from context_pack.packs.domain.model import Pack
from context_pack.packs.ports import PackStore, Waiting, patiently
from context_pack_adapters.disk.watch import FolderWatch

SUFFIX = ".md"

Tell = Callable[[Collection[str], bool], None]
"""(ids of packs that changed, whether one of them came or went)"""


class PackNews:
    """News of the packs under one storage root, for one listener."""

    def __init__(self, root: Path, tell: Tell) -> None:
        self._folder = root / "packs"
        self._tell = tell
        self._lock = Lock()
        self._watch: FolderWatch | None = None
        self._known: set[str] = set()

    def listen(self, wanted: bool) -> None:
        """Begin or end watching; asking twice is the same as once.

        Raises:
            OSError: the system has no more watches to give.
        """
        with self._lock:
            if wanted and self._watch is None:
                self._known = self._present()
                self._watch = FolderWatch(self._folder, self._changed)
                return
            ended, self._watch = (None, self._watch) if wanted else (self._watch, None)
        if ended is not None:
            ended.stop()  # outside the lock: its last report may be on its way

    def came_or_went(self, pack_id: str) -> None:
        """This process has made or removed a pack; while the folder is watched, the watch tells it."""
        if self._watch is None:
            self._tell((pack_id,), True)

    def _changed(self, names: frozenset[str]) -> None:
        ids = sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
        packs = [pack_id for pack_id in ids if is_pack_id(pack_id)]
        there = {pack_id for pack_id in packs if (self._folder / f"{pack_id}{SUFFIX}").exists()}
        listed = there != self._known.intersection(packs)
        self._known = self._known.difference(packs) | there
        if packs:
            self._tell(packs, listed)

    def _present(self) -> set[str]:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return set()
        return {name.removesuffix(SUFFIX) for name in names if is_pack_id(name.removesuffix(SUFFIX))}


class AnnouncingPackStore:
    """A pack store that says when this process makes or removes a pack."""

    def __init__(self, store: PackStore, announce: Callable[[str], None]) -> None:
        self._store = store
        self._announce = announce
        self.get = store.get
        self.find = store.find
        self.update = store.update

    def all(self) -> Sequence[Pack]:
        """Every live pack."""
        return self._store.all()

    def create(self, make: Callable[[str], Pack], name: str | None, waiting: Waiting = patiently) -> Pack:
        """Store a new pack, then tell."""
        pack = self._store.create(make, name, waiting)
        self._announce(pack.id)
        return pack

    def delete(self, pack_id: str, check: Callable[[Pack], None], waiting: Waiting = patiently) -> None:
        """Remove a pack, then tell."""
        self._store.delete(pack_id, check, waiting)
        self._announce(pack_id)
