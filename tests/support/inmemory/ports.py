"""All ports over the files of a mapping, in folders that go away with them, and a workspace over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from attrs import evolve

from context_pack.documents.ports import DocumentPorts
from context_pack.kernel.ports import Clock, IdSource
from context_pack.kernel.text import sha256_hex
from context_pack.kernel.times import format_instant
from context_pack.memory.discovery import uuid_of
from context_pack.memory.ports import MemoryPorts
from context_pack.ports import Ports
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.library import Workspace
from context_pack_adapters.settings import DEFAULT_MAX_SOURCE_BYTES, Settings
from context_pack_adapters.system import SystemClock
from inmemory.folders import Mirror, temporary
from inmemory.stores import MemoryActivity, MemoryExcerptStore, MemoryPackStore

T = TypeVar("T")


def memory_ports(
    files: Mapping[str, str | bytes], clock: Clock | None, ids: IdSource | None, deny: tuple[str, ...]
) -> Ports:
    """The ports over the given files; the real clock and randomness unless others are given."""
    time = clock or SystemClock()
    mirror = Mirror(files)
    own = temporary(mirror)
    settings = Settings(
        str(own / "store"), str(mirror.folder), deny=deny, embedder="fast", cache=str(own / "cache")
    )
    disk = open_ports(settings)
    packs = MemoryPackStore(time, ids or os.urandom)
    session = bytes.fromhex(sha256_hex(format_instant(time.now())))  # named after its start
    activity = MemoryActivity(time, uuid_of(session, version=8))
    fresh = mirror.before_each_call

    def documents() -> DocumentPorts:
        assert disk.documents is not None
        opened = disk.documents()
        return evolve(opened, sources=fresh(opened.sources))

    def memory() -> MemoryPorts:
        assert disk.memory is not None
        opened = disk.memory()
        searching = evolve(opened.searching, monotonic=time.monotonic)
        return evolve(opened, sessions=activity, tree=fresh(opened.tree), searching=searching)

    return Ports(
        clock=time,
        source=fresh(disk.source),
        syntax=disk.syntax,
        packs=packs,
        excerpts=MemoryExcerptStore(time),
        history=packs.history,
        diagrams=disk.diagrams,
        access=activity,
        discoveries=disk.discoveries,
        sessions=activity,
        search=_fresh(mirror, disk.search),
        bundles=_fresh(mirror, disk.bundles),
        contexts=_fresh(mirror, disk.contexts),
        documents=documents,
        memory=memory,
        close=disk.close,
    )


def _fresh(mirror: Mirror, open_port: Callable[[], T] | None) -> Callable[[], T]:
    assert open_port is not None
    return lambda: mirror.before_each_call(open_port())


def open_memory_workspace(
    files: Mapping[str, str | bytes] | None = None,
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    deny: Sequence[str] = (),
    max_source_bytes: int = DEFAULT_MAX_SOURCE_BYTES,
) -> Workspace:
    """A workspace over files (path to content), which are looked at on every call."""
    ports = memory_ports({} if files is None else files, clock, ids, tuple(deny))
    return Workspace(ports, max_source_bytes)
