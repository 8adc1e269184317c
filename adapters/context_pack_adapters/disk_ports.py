"""The ports of a project on the real disk, clock and randomness, or in its team's database.

Opening touches no file; it makes the private folders. What searches by meaning is in `disk_searches`, which
loads numpy and is imported by the first who searches.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from context_pack.kernel.paths import PathPolicy
from context_pack.memory.discovery import uuid_of
from context_pack.memory.ports import DiscoveryStore
from context_pack.packs.ports import ExcerptStore, PackHistory, PackStore
from context_pack.ports import Ports, Readable
from context_pack_adapters.bundles.store import FileBundleStore
from context_pack_adapters.contexts.projects import DiskProjects
from context_pack_adapters.files.events import Tell
from context_pack_adapters.files.folder import Folder
from context_pack_adapters.memory.activity import Activity
from context_pack_adapters.memory.discoveries import DiscoveryFiles
from context_pack_adapters.packs.excerpts import FileExcerptStore
from context_pack_adapters.packs.history import FilePackHistory
from context_pack_adapters.packs.pack_files import folder_mark
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.page.diagrams import DrawnDiagrams
from context_pack_adapters.postgres.opening import open_team
from context_pack_adapters.private_places import PrivatePlaces, check_settings, open_places, storage_place
from context_pack_adapters.settings import Settings
from context_pack_adapters.source.changes import GitChanges
from context_pack_adapters.source.tree import DiskSourceTree
from context_pack_adapters.syntax import shared_syntax
from context_pack_adapters.system import SystemClock
from context_pack_adapters.worktrees import (
    DiscoveriesOfAllTrees,
    ExcerptsOfAllTrees,
    OtherTrees,
    PacksOfAllTrees,
)

if TYPE_CHECKING:
    from context_pack.code.grep import CodeSearch
    from context_pack.retrieval.ports import Background
    from context_pack_adapters.disk_searches import DiskSearches


@frozen(kw_only=True)
class DiskPorts(Ports):
    """The ports of a project on disk, and what its server asks besides."""

    places: PrivatePlaces
    policy: PathPolicy
    access: Activity
    discoveries: DiscoveryStore
    sessions: Activity
    load_model: Callable[[], None]
    """Loads what the first search by meaning would wait for."""
    packs_mark: Callable[[], object]
    """A value that differs from the last one whenever a pack was changed; raises `Failure` if unreachable."""


def open_ports(
    settings: Settings,
    worker: Background | None = None,
    tell: Tell = lambda _: None,
    places: PrivatePlaces | None = None,
) -> DiskPorts:
    """Open every port; without a worker long work is done inside the calls. `tell` hears of the stores.

    Raises:
        Failure: `invalid_data`, if the settings do not say where our files are.
    """
    check_settings(settings)
    # The private places go by the real path of the project, which must not change under a call.
    places = open_places(settings) if places is None else places
    storage, root = storage_place(settings), Path(settings.source_root)
    clock, ids, closing = SystemClock(), os.urandom, ExitStack()
    policy = PathPolicy(settings.deny, allow=settings.allow)
    activity = Activity(places.state, clock, uuid_of(ids(16)), tell)
    closing.callback(activity.close)
    team = open_team(settings, os.environ, tell) if settings.store else None
    packs: PackStore
    excerpts: ExcerptStore
    history: PackHistory
    discoveries: DiscoveryStore
    readable = None
    if team is None:
        history, trash = FilePackHistory(places.state.below("history")), places.state.below("trash")
        packs = FilePackStore(storage, clock, ids, tell=tell, trash=trash, history=history)
        excerpts, discoveries = FileExcerptStore(storage, clock), DiscoveryFiles(storage, tell=tell)
        trees = OtherTrees(settings.source_root, storage, clock)
        readable = Readable(
            PacksOfAllTrees(packs, trees),
            ExcerptsOfAllTrees(excerpts, trees),
            DiscoveriesOfAllTrees(discoveries, trees),
        )
    else:
        packs, excerpts = team.packs(ids), team.excerpts()
        history, discoveries = team.history(), team.discoveries()
        closing.callback(team.close)

    @cache
    def searches() -> DiskSearches:
        from context_pack_adapters.disk_searches import DiskSearches

        notes = discoveries if readable is None else readable.discoveries
        opened = DiskSearches(settings, places, policy, worker, team, notes, activity)
        closing.callback(opened.close)
        return opened

    def search() -> CodeSearch:
        from context_pack_adapters.source.grep import FileTreeSearch  # with `regex`, a twentieth of a start

        return FileTreeSearch(root, policy, storage=Path(settings.root))

    return DiskPorts(
        clock=clock,
        source=DiskSourceTree(root, policy, own=(Path(settings.root), *places.every_project)),
        packs=packs,
        syntax=shared_syntax(),
        excerpts=excerpts,
        history=history,
        readable=readable,
        diagrams=DrawnDiagrams(),
        access=activity,
        changes=GitChanges(root),
        discoveries=discoveries,
        sessions=activity,
        search=search,
        bundles=lambda: FileBundleStore(root, policy, settings.bundles, settings.call_seconds),
        contexts=lambda: DiskProjects(settings.source_root, settings.allowed_roots, policy),
        documents=lambda: searches().documents,
        memory=lambda: searches().memory,
        close=closing.close,
        places=places,
        policy=policy,
        load_model=lambda: searches().load_model(),
        packs_mark=lambda: (
            folder_mark(Folder(storage).below("packs")) if team is None else team.change_token()
        ),
    )
