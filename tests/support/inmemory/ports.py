"""All ports in memory over a mapping of files, and a workspace over them: what unit tests run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import inmemory as twins
from context_pack.composition import Ports
from context_pack.documents.ports import DocumentPorts
from context_pack.kernel.gitignore import IgnoreFile
from context_pack.kernel.paths import PathPolicy
from context_pack.kernel.ports import Clock, IdSource
from context_pack.kernel.text import sha256_hex
from context_pack.kernel.times import format_instant
from context_pack.memory.discovery import uuid_of
from context_pack.memory.ports import MemoryPorts
from context_pack.retrieval.searching import Searching
from context_pack_adapters.embed.hashed import HashedEmbedder
from context_pack_adapters.files.ignore import IgnoredPaths
from context_pack_adapters.library import Workspace
from context_pack_adapters.page.diagrams import DrawnDiagrams
from context_pack_adapters.settings import DEFAULT_MAX_SOURCE_BYTES
from context_pack_adapters.syntax import shared_syntax
from context_pack_adapters.system import SystemClock, SystemIds
from inmemory.code_search import MemorySearch
from inmemory.collections import MemoryCollections, MemoryLocks
from inmemory.contexts import MemoryProjects
from inmemory.memory import MemoryCodeTree, MemoryDiscoveryStore, MemorySessionLog
from inmemory.search_index import MemoryIndex


def memory_ports(
    files: Mapping[str, str | bytes], clock: Clock | None, ids: IdSource | None, deny: tuple[str, ...]
) -> Ports:
    """The ports in memory, over the given files; the real clock and randomness unless others are given."""

    time, policy = clock or SystemClock(), PathPolicy(deny)
    syntax = shared_syntax()

    def hides(lines: str, scope: str) -> bool:
        return IgnoreFile(lines).verdict(scope, True) is True

    fast = HashedEmbedder()
    index = MemoryIndex(fast)
    packs = twins.MemoryPackStore(time, ids or SystemIds())
    session = bytes.fromhex(sha256_hex(format_instant(time.now())))  # named after its start
    documents = DocumentPorts(
        MemoryCollections(files, policy, lambda read: IgnoredPaths(read).ignores),
        MemoryLocks(),
        MemoryIndex(fast),
        fast,
    )
    memory = MemoryPorts(
        discoveries=MemoryDiscoveryStore(),
        sessions=MemorySessionLog(time, uuid_of(session, version=8)),
        tree=MemoryCodeTree(files, policy),
        index=index,
        searching=Searching(index, fast, None, monotonic=time.monotonic),
        syntax=syntax,
    )
    search, bundles = MemorySearch(files, policy), twins.MemoryBundleStore()
    projects = MemoryProjects(files, hides)
    return Ports(
        clock=time,
        source=twins.MemorySourceTree(files, policy),
        syntax=syntax,
        search=lambda: search,
        packs=packs,
        excerpts=twins.MemoryExcerptStore(time),
        history=packs.history,
        diagrams=DrawnDiagrams(),
        access=twins.MemoryAccessLog(time),
        bundles=lambda: bundles,
        contexts=lambda: projects,
        documents=lambda: documents,
        discoveries=memory.discoveries,
        sessions=memory.sessions,
        memory=lambda: memory,
    )


def open_memory_workspace(
    files: Mapping[str, str | bytes] | None = None,
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    deny: Sequence[str] = (),
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES,
) -> Workspace:
    """Open a workspace in memory: packs in a dictionary, sources from `files` (path to content).

    `files` is looked at on every call, so that changing it edits the tree. The clock and the ids are the real
    ones unless given; `inmemory` has a clock that stands still and ids that repeat.
    """
    ports = memory_ports({} if files is None else files, clock, ids, tuple(deny))
    return Workspace(ports, max_source_bytes)
