"""The ports of memory over the real disk, each opened when it is first asked for.

Part of `disk_ports`, kept apart because most calls have nothing to do with memory.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from context_pack.memory.ports import NOTHING_STORED, MemoryPorts
from context_pack_adapters.disk_ports import MEMORY_INDEX, DiskPorts, opened_once, storage_place

if TYPE_CHECKING:
    from context_pack.kernel.syntax import Syntax
    from context_pack.memory.ports import DiscoveryStore
    from context_pack.retrieval.ports import Background
    from context_pack.retrieval.searching import Searching
    from context_pack_adapters.index.sqlite_index import SqliteIndex
    from context_pack_adapters.stores.code_files import CodeFiles
    from context_pack_adapters.stores.session_files import SessionFiles


class DiskMemory(MemoryPorts):
    """The memory of a project on disk, opened port by port: recording opens no index."""

    def __init__(self, ports: DiskPorts) -> None:
        vars(self).update(ports=ports, lock=ports.lock)

    if TYPE_CHECKING:
        ports: DiskPorts

    @property
    def background(self) -> Background | None:
        """Does long work beside the calls."""
        return self.ports.worker

    @opened_once
    def discoveries(self) -> DiscoveryStore:
        """The discoveries in the storage root, or those of the team."""
        if self.ports.settings.store:
            return self.ports.team.discoveries()
        from context_pack_adapters.stores.discovery_files import DiscoveryFiles

        return DiscoveryFiles(storage_place(self.ports.settings), tell=self.ports.tell)

    @property
    def sessions(self) -> SessionFiles:
        """The log of this session and of earlier ones."""
        return self.ports.sessions

    @property
    def syntax(self) -> Syntax:
        """Every language there is a grammar for."""
        return self.ports.syntax

    @property
    def warning(self) -> str | None:
        """A warning if the configured embedder cannot be used."""
        return self.ports.embedders.warning

    def token(self) -> str:
        """One text for the state of the team's discoveries and packs, or that there are no files of any."""
        if self.ports.settings.store:
            return self.ports.team.change_token()
        root = self.ports.settings.root
        stores = (os.path.join(root, "packs"), os.path.join(root, "memory", "discoveries"))
        return NOTHING_STORED if all(map(_is_absent, stores)) else ""

    @opened_once
    def tree(self) -> CodeFiles:
        """The files below the source root."""
        from context_pack_adapters.stores.code_files import CodeFiles

        ports = self.ports
        own = (Path(ports.settings.root), *ports.places.every_project)
        return CodeFiles(Path(ports.settings.source_root), ports.policy, *own)

    @opened_once
    def index(self) -> SqliteIndex:
        """The index in the user's cache."""
        from context_pack.memory.domain.entries import SNIPPETS
        from context_pack_adapters.index.sqlite_index import SqliteIndex

        place = self.ports.places.cache.place.below(MEMORY_INDEX)
        return SqliteIndex(place, self.ports.embedders.fast, chunker=SNIPPETS)

    @opened_once
    def searching(self) -> Searching:
        """Searches the index."""
        from context_pack.memory.domain.short_texts import shortened
        from context_pack.retrieval.searching import Searching, budget_beside

        chosen = self.ports.embedders
        return Searching(
            self.index,
            chosen.fast,
            chosen.semantic,
            monotonic=self.ports.clock.monotonic,
            budget=budget_beside(self.background),
            shortened=shortened,
        )


def _is_absent(path: str) -> bool:
    """Whether there is nothing at a path; False where that cannot be told."""
    try:
        os.lstat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False
