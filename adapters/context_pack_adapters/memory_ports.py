"""The ports of memory, on disk and in memory. Part of `bootstrap`, kept apart because it is large.

Opening touches no file and loads no weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from context_pack_adapters import search_ports
from context_pack_adapters.private_places import PrivatePlaces
from context_pack_adapters.settings import Settings

if TYPE_CHECKING:
    from context_pack.kernel.paths import PathPolicy
    from context_pack.kernel.ports import Clock
    from context_pack.kernel.syntax import Syntax
    from context_pack.memory.ports import MemoryPorts, SessionLog
    from context_pack.retrieval.ports import Background
    from context_pack_adapters.stores.events import Tell

INDEX = "memory.sqlite3"


def disk_memory(
    settings: Settings,
    places: PrivatePlaces,
    clock: Clock,
    sessions: SessionLog,
    policy: PathPolicy,
    syntax: Syntax,
    background: Background | None,
    tell: Tell,
) -> MemoryPorts:
    """The memory of a project on disk."""
    from context_pack.memory.domain.entries import SNIPPETS
    from context_pack.memory.ports import MemoryPorts
    from context_pack.retrieval.searching import Searching
    from context_pack_adapters.disk.opening import Place
    from context_pack_adapters.index.sqlite_index import SqliteIndex
    from context_pack_adapters.stores.code_files import CodeFiles
    from context_pack_adapters.stores.discovery_files import DiscoveryFiles

    root, chosen = Path(settings.root), search_ports.embedders(settings)
    index = SqliteIndex(places.cache.place.below(INDEX), chosen.fast, chunker=SNIPPETS)
    return MemoryPorts(
        discoveries=DiscoveryFiles(Place.of(root, settings.source_root), tell=tell),
        sessions=sessions,
        tree=CodeFiles(Path(settings.source_root), policy, root, *places.every_project),
        index=index,
        searching=Searching(index, chosen.fast, chosen.semantic, monotonic=clock.monotonic),
        syntax=syntax,
        background=background,
        warning=chosen.warning,
    )


def memory_in_memory(
    files: Mapping[str, str | bytes], clock: Clock, policy: PathPolicy, syntax: Syntax
) -> MemoryPorts:
    """Memory over a mapping of files; its one session is named after its start."""
    from context_pack.kernel.digest import sha256_hex
    from context_pack.kernel.instants import format_instant
    from context_pack.memory.domain.discovery import uuid_of
    from context_pack.memory.ports import MemoryPorts
    from context_pack.retrieval.searching import Searching
    from context_pack_adapters.embed.hashed import HashedEmbedder
    from context_pack_adapters.index.memory import MemoryIndex
    from context_pack_adapters.inmemory.memory import MemoryCodeTree, MemoryDiscoveryStore, MemorySessionLog

    fast = HashedEmbedder()
    index = MemoryIndex(fast)
    token = bytes.fromhex(sha256_hex(format_instant(clock.now())))
    return MemoryPorts(
        discoveries=MemoryDiscoveryStore(),
        sessions=MemorySessionLog(clock, uuid_of(token, version=8)),
        tree=MemoryCodeTree(files, policy),
        index=index,
        searching=Searching(index, fast, None, monotonic=clock.monotonic),
        syntax=syntax,
    )
