"""Bundles for library callers: export entities with dependencies, list neighbours, write Markdown."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from context_pack.bundles.exports import (
    EntityNeighbours,
    ExportContext,
    ExportedText,
    ExportMarkdown,
    GetContext,
    WrittenDocument,
    export,
    look_around,
    write_document,
)
from context_pack.bundles.model import Bundle, Unloadable
from context_pack.bundles.ports import BundlePlace
from context_pack.composition import UseCases
from context_pack.toolkit.budget import room_of
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.limits import DEFAULT_MAX_TOKENS
from context_pack_adapters.library.spelling import spelled


class Bundles:
    """Every use case of bundles; each raises `Failure` as the tools would answer it.

    Where there is one bundle, it need not be named.
    """

    def __init__(self, cases: UseCases) -> None:
        self._shelf, self._clock = cases.bundles, cases.ports.clock

    def list(self) -> builtins.list[tuple[BundlePlace, Bundle | Unloadable]]:
        """Every bundle, with its entities and what is wrong with it, or why it does not load."""
        return self._shelf.bundles(QuietCall())

    def export(
        self,
        targets: Iterable[tuple[str, str]],
        *,
        bundle: str | None = None,
        depth: int = 3,
        schemas: bool = True,
        relations: bool = True,
    ) -> ExportedText:
        """Entities, each (type, id), with what they depend on; `data` is JSON text."""
        command = spelled(
            ExportContext,
            targets=[{"entityType": kind, "entityId": name} for kind, name in targets],
            bundleId=bundle,
            dependencyDepth=depth,
            includeSchemas=schemas,
            includeRelationMetadata=relations,
        )
        return export(self._shelf.open(bundle, QuietCall()), command, self._clock)

    def around(
        self, entity_type: str, entity_id: str, *, bundle: str | None = None, depth: int = 1, limit: int = 20
    ) -> EntityNeighbours:
        """An entity and its neighbours: what it refers to, and what refers to it."""
        command = spelled(
            GetContext, entityType=entity_type, id=entity_id, bundleId=bundle, depth=depth, maxRelated=limit
        )
        return look_around(self._shelf.open(bundle, QuietCall()), command)

    def document(
        self,
        entity_type: str,
        entity_id: str,
        *,
        bundle: str | None = None,
        dependencies: bool = True,
        depth: int = 2,
    ) -> WrittenDocument:
        """An entity, with what it depends on, as Markdown."""
        command = spelled(
            ExportMarkdown,
            entityType=entity_type,
            entityId=entity_id,
            bundleId=bundle,
            includeDependencies=dependencies,
            dependencyDepth=depth,
        )
        most = room_of(DEFAULT_MAX_TOKENS)
        return write_document(self._shelf.open(bundle, QuietCall()), command, most)
