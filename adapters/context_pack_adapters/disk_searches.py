"""The ports of documents and memory over the real disk: the parts of `disk_ports` that load numpy."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from context_pack.documents.ports import DocumentPorts
from context_pack.kernel.paths import PathPolicy
from context_pack.memory.entries import SNIPPETS, shortened
from context_pack.memory.ports import DiscoveryStore, MemoryPorts, SessionLog
from context_pack.retrieval.chunking import CHUNKER
from context_pack.retrieval.ports import Background, EmbedderFailed
from context_pack.retrieval.searching import Searching, budget_beside
from context_pack_adapters.collections.sources import DiskCollections
from context_pack_adapters.embed import choose
from context_pack_adapters.embed.granite import GraniteEmbedder
from context_pack_adapters.index.sqlite_index import SqliteIndex
from context_pack_adapters.postgres.opening import AnyTeam
from context_pack_adapters.private_places import DOCUMENTS_INDEX, MEMORY_INDEX, PrivatePlaces
from context_pack_adapters.settings import Settings
from context_pack_adapters.source.code_files import CodeFiles
from context_pack_adapters.syntax import shared_syntax
from context_pack_adapters.system import SystemClock


class DiskSearches:
    """Documents and memory of one project, with the embedders that they share."""

    def __init__(
        self,
        settings: Settings,
        places: PrivatePlaces,
        policy: PathPolicy,
        worker: Background | None,
        team: AnyTeam | None,
        discoveries: DiscoveryStore,
        sessions: SessionLog,
    ) -> None:
        cache, chosen = places.cache, choose(settings.embedder, settings.model or None, os.environ)
        root, storage = Path(settings.source_root), Path(settings.root)
        documents = SqliteIndex(cache.place.below(DOCUMENTS_INDEX), chosen.fast, chunker=CHUNKER)
        index = SqliteIndex(cache.place.below(MEMORY_INDEX), chosen.fast, chunker=SNIPPETS)
        self.documents = DocumentPorts(
            sources=DiskCollections(
                root,
                storage,
                policy,
                cache,
                Path(settings.user_config) if settings.user_config else None,
                settings.allowed_roots,
                places.every_project,
                shared=None if team is None else team.collection,
            ),
            index=documents,
            fast=chosen.fast,
            semantic=chosen.semantic,
            background=worker,
            warning=chosen.warning,
        )
        self.memory = MemoryPorts(
            discoveries=discoveries,
            sessions=sessions,
            tree=CodeFiles(root, policy, storage, *places.every_project),
            index=index,
            searching=Searching(
                index,
                chosen.fast,
                chosen.semantic,
                monotonic=SystemClock.monotonic,
                budget=budget_beside(worker),
                shortened=shortened,
            ),
            syntax=shared_syntax(),
            background=worker,
            warning=chosen.warning,
        )
        self._semantic, self._indexes = chosen.semantic, (documents, index)

    def load_model(self) -> None:
        """Load the weights of the bundled model, if it is in use; of faults whoever searches is told."""
        if isinstance(self._semantic, GraniteEmbedder):
            with suppress(EmbedderFailed):
                self._semantic.model()

    def close(self) -> None:
        """Close the indexes."""
        for index in self._indexes:
            index.close()
