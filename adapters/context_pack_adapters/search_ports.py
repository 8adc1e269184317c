"""The ports of what is searched: an index, embedders, sources, and a worker for what takes long.

Part of `bootstrap`, kept apart because it is large. Opening touches no file and loads no weights.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from context_pack_adapters.private_places import PrivatePlaces
from context_pack_adapters.settings import Settings

if TYPE_CHECKING:
    from context_pack.documents.ports import DocumentPorts
    from context_pack.kernel.paths import PathPolicy
    from context_pack.retrieval.ports import Background
    from context_pack_adapters.embed.choosing import Embedders
    from context_pack_adapters.index.background import ChildBackground, Done

DOCUMENTS_INDEX = "documents.sqlite3"


def embedders(settings: Settings) -> Embedders:
    """What searches embed with."""
    from context_pack_adapters.embed.choosing import choose

    return choose(settings.embedder, settings.model_dir or None, os.environ)


def worker(settings: Settings, places: PrivatePlaces, on_done: Done) -> ChildBackground:
    """A worker whose children die with this process; none is started before there is something to do."""
    from context_pack_adapters.index.background import ChildBackground, task_command, task_environment

    environ = task_environment(settings.root, settings.source_root, places.given)
    return ChildBackground(
        task_command(), environ, folder=places.cache, cwd=settings.source_root, on_done=on_done
    )


def document_ports(
    settings: Settings, places: PrivatePlaces, policy: PathPolicy, background: Background | None
) -> DocumentPorts:
    """The documents of a project on disk."""
    from context_pack.documents.ports import DocumentPorts
    from context_pack.retrieval.chunking import CHUNKER
    from context_pack_adapters.index.sqlite_index import SqliteIndex
    from context_pack_adapters.stores.collection_sources import DiskCollections
    from context_pack_adapters.stores.collection_turns import DiskTurns

    cache, chosen = places.cache, embedders(settings)
    user = Path(settings.user_config) if settings.user_config else None
    return DocumentPorts(
        sources=DiskCollections(
            Path(settings.source_root),
            Path(settings.root),
            policy,
            cache,
            user,
            settings.allowed_roots,
            places.every_project,
        ),
        turns=DiskTurns(cache),
        index=SqliteIndex(cache.place.below(DOCUMENTS_INDEX), chosen.fast, chunker=CHUNKER),
        fast=chosen.fast,
        semantic=chosen.semantic,
        background=background,
        warning=chosen.warning,
    )


def memory_document_ports(
    files: Mapping[str, str | bytes],
    policy: PathPolicy,
    verdict: Callable[[str, str, bool], bool | None],
) -> DocumentPorts:
    """The documents of a mapping, in memory."""
    from context_pack.documents.ports import DocumentPorts
    from context_pack_adapters.embed.hashed import HashedEmbedder
    from context_pack_adapters.index.memory import MemoryIndex
    from context_pack_adapters.inmemory.collections import MemoryCollections, MemoryTurns

    fast = HashedEmbedder()
    sources = MemoryCollections(files, policy, verdict)
    return DocumentPorts(sources, MemoryTurns(), MemoryIndex(fast), fast)
