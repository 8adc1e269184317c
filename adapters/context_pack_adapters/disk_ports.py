"""The ports over the real disk, clock and randomness, each opened when it is first asked for.

Opening touches no file. What searches by meaning (numpy) is imported with the feature that needs it.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from context_pack.composition import Ports
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.disk.folder import Folder
from context_pack_adapters.disk.opening import Place
from context_pack_adapters.postgres.opening import open_team
from context_pack_adapters.private_places import PrivatePlaces, open_places
from context_pack_adapters.search.code_search import FileTreeSearch
from context_pack_adapters.settings import Settings
from context_pack_adapters.stores.access_files import AccessFiles
from context_pack_adapters.stores.events import Tell
from context_pack_adapters.stores.excerpt_files import FileExcerptStore
from context_pack_adapters.stores.pack_history import FilePackHistory
from context_pack_adapters.stores.pack_store import FilePackStore
from context_pack_adapters.stores.pack_watch import folder_mark
from context_pack_adapters.stores.session_files import SessionFiles
from context_pack_adapters.stores.source_tree import DiskSourceTree
from context_pack_adapters.syntax import shared_syntax
from context_pack_adapters.system import SystemClock, SystemIds

if TYPE_CHECKING:
    from context_pack.code.ports import CodeSearch
    from context_pack.contexts.ports import Projects
    from context_pack.documents.ports import DocumentPorts
    from context_pack.kernel.ports import Clock, IdSource, SourceTree
    from context_pack.kernel.syntax import Syntax
    from context_pack.memory.ports import MemoryPorts
    from context_pack.packs.ports import DiagramCheck, ExcerptStore, PackHistory, PackStore
    from context_pack.retrieval.ports import Background
    from context_pack_adapters.embed import Embedders
    from context_pack_adapters.index.background import ChildBackground, Done
    from context_pack_adapters.postgres.opening import UnopenedTeam
    from context_pack_adapters.postgres.team import Team
    from context_pack_adapters.stores.bundle_files import FileBundleStore
DOCUMENTS_INDEX, MEMORY_INDEX = "documents.sqlite3", "memory.sqlite3"


def storage_place(settings: Settings) -> Place:
    """The storage root, from the project down if it is inside."""
    return Place.of(settings.root, settings.source_root)


def file_packs(
    settings: Settings,
    ids: IdSource,
    tell: Tell = lambda _: None,
    trash: Folder | None = None,
    history: FilePackHistory | None = None,
) -> PackStore:
    """The packs in the storage root."""
    place, clock = storage_place(settings), SystemClock()
    return FilePackStore(place, clock, ids, tell=tell, trash=trash, history=history)


if TYPE_CHECKING:
    opened_once = cached_property
else:

    class opened_once(cached_property):
        """A `cached_property` under its object's lock, as before Python 3.12: two threads get one port."""

        def __get__(self, instance, owner=None):
            with instance.lock if instance is not None else nullcontext():
                return super().__get__(instance, owner)


class DiskPorts(Ports):
    """All ports of a project on disk; without a background worker, long work is done inside the calls.

    `tell` hears what happens in the stores.
    """

    def __init__(
        self,
        settings: Settings,
        worker: Background | None = None,
        tell: Tell = lambda _: None,
        places: PrivatePlaces | None = None,
    ) -> None:
        # The private places go by the real path of the project, which must not change under a call.
        places = open_places(settings) if places is None else places
        vars(self).update(settings=settings, worker=worker, tell=tell, places=places, lock=RLock())

    if TYPE_CHECKING:
        settings: Settings
        worker: Background | None
        tell: Tell
        places: PrivatePlaces
        lock: RLock

    def has(self, _: str) -> bool:
        """True: the disk provides every port."""
        return True

    def close(self) -> None:
        """Close the indexes and the connections to the team's database, where they were opened."""
        documents, memory = vars(self).get("documents"), vars(self).get("memory")
        if documents is not None:
            documents.index.close()
        if memory is not None and "index" in vars(memory):
            memory.index.close()
        if "team" in vars(self):
            self.team.close()

    def open_all(self) -> None:
        """Open every port now, in one thread: opened later, two threads might each make one of their own."""
        for name, value in vars(DiskPorts).items():
            if isinstance(value, opened_once) and (name != "team" or self.settings.store):
                getattr(self, name)

    @opened_once
    def policy(self) -> PathPolicy:
        """Which files are never read."""
        return PathPolicy(self.settings.deny, allow=self.settings.allow)

    @opened_once
    def clock(self) -> Clock:
        """The system's clock."""
        return SystemClock()

    @opened_once
    def source(self) -> SourceTree:
        """The source root."""
        own = (Path(self.settings.root), *self.places.every_project)
        return DiskSourceTree(Path(self.settings.source_root), self.policy, own=own)

    @opened_once
    def syntax(self) -> Syntax:
        """Every language there is a grammar for."""
        return shared_syntax()

    @opened_once
    def search(self) -> CodeSearch:
        """Searches the source root."""
        settings = self.settings
        copies = [Path(settings.root, name) for name in ("excerpts", "packs")]  # of code that is there itself
        root, storage = Path(settings.source_root), Path(settings.root)
        return FileTreeSearch(root, self.policy, copies=copies, storage=storage)

    @opened_once
    def team(self) -> Team | UnopenedTeam:
        """The database that is shared, if one is configured."""
        return open_team(self.settings, os.environ, self.tell)

    @opened_once
    def packs(self) -> PackStore:
        """The packs in the storage root, or those of the team."""
        if self.settings.store:
            return self.team.packs(SystemIds())
        trash = self.places.state.below("trash")
        return file_packs(self.settings, SystemIds(), self.tell, trash, self._file_history)

    def packs_mark(self) -> object:
        """A value that differs from the last one whenever a pack was changed.

        Raises:
            Failure: the team's database cannot be reached.
        """
        if self.settings.store:
            return self.team.change_token()
        return folder_mark(Folder(storage_place(self.settings)).below("packs"))

    @opened_once
    def history(self) -> PackHistory | None:
        """The last revisions of packs."""
        return self.team.history() if self.settings.store else self._file_history

    @opened_once
    def _file_history(self) -> FilePackHistory:
        """The last revisions of the packs in the storage root."""
        return FilePackHistory(self.places.state.below("history"))

    @opened_once
    def diagrams(self) -> DiagramCheck:
        """Reads diagrams as those of exported pages are read."""
        from context_pack_adapters.html.drawing import DrawnDiagrams

        return DrawnDiagrams()

    @opened_once
    def excerpts(self) -> ExcerptStore:
        """The excerpts that refs were anchored to, stored beside the packs."""
        if self.settings.store:
            return self.team.excerpts()
        return FileExcerptStore(storage_place(self.settings), self.clock)

    @opened_once
    def access(self) -> AccessFiles:
        """Which files were read."""
        return AccessFiles(self.places.state, self.clock, tell=self.tell)

    @opened_once
    def bundles(self) -> FileBundleStore:
        """The bundles of the project."""
        from context_pack_adapters.stores.bundle_files import FileBundleStore

        return FileBundleStore(Path(self.settings.source_root), self.policy, self.settings.bundles)

    @opened_once
    def contexts(self) -> Projects:
        """The projects whose directory contexts may be asked about."""
        from context_pack_adapters.stores.context_projects import DiskProjects

        return DiskProjects(self.settings.source_root, self.settings.allowed_roots, self.policy)

    @opened_once
    def embedders(self) -> Embedders:
        """The embedders of searches."""
        from context_pack_adapters.embed import choose

        return choose(self.settings.embedder, self.settings.model_dir or None, os.environ)

    @opened_once
    def documents(self) -> DocumentPorts:
        """The documents of the project and the user."""
        from context_pack.documents.ports import DocumentPorts
        from context_pack.retrieval.chunking import CHUNKER
        from context_pack_adapters.index.sqlite_index import SqliteIndex
        from context_pack_adapters.stores.collection_locks import FileLocks
        from context_pack_adapters.stores.collection_sources import DiskCollections

        settings, cache, chosen = self.settings, self.places.cache, self.embedders
        return DocumentPorts(
            sources=DiskCollections(
                Path(settings.source_root),
                Path(settings.root),
                self.policy,
                cache,
                Path(settings.user_config) if settings.user_config else None,
                settings.allowed_roots,
                self.places.every_project,
                shared=self.team.collection if settings.store else None,
            ),
            locks=FileLocks(cache),
            index=SqliteIndex(cache.place.below(DOCUMENTS_INDEX), chosen.fast, chunker=CHUNKER),
            fast=chosen.fast,
            semantic=chosen.semantic,
            background=self.worker,
            warning=chosen.warning,
        )

    @opened_once
    def sessions(self) -> SessionFiles:
        """The log of this session and of earlier ones."""
        from context_pack.memory.domain.discovery import uuid_of

        return SessionFiles(self.places.state, self.clock, uuid_of(SystemIds().token(16)))

    @opened_once
    def memory(self) -> MemoryPorts:
        """The memory of the project."""
        from context_pack_adapters.disk_memory import DiskMemory

        return DiskMemory(self)


def background(settings: Settings, places: PrivatePlaces, on_done: Done) -> ChildBackground:
    """A worker whose children die with this process; none is started before there is something to do."""
    from context_pack_adapters.index.background import ChildBackground, task_command, task_environment

    environ = task_environment(settings.root, settings.source_root, places.given)
    return ChildBackground(
        task_command(), environ, folder=places.cache, cwd=settings.source_root, on_done=on_done
    )
