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
    Target,
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


class Bundles:
    """Graphs of entities in files; each method raises `Failure` where the tools would refuse.

    An entity is named by its type and its id; where there is one `bundle`, it need not be named.
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
        """Entities with what they depend on; `data` is JSON text.

        Args:
            targets: each (type, id).
            depth: how far to follow references, up to 5.
            schemas: with the JSON Schemas of the types.
            relations: with which field refers to what.
        """
        wanted = tuple(Target(entity_type=kind, entity_id=name) for kind, name in targets)
        command = ExportContext(
            targets=wanted,
            bundle_id=bundle,
            dependency_depth=depth,
            include_schemas=schemas,
            include_relations=relations,
        )
        return export(self._shelf.open(bundle, QuietCall()), command, self._clock)

    def around(
        self, entity_type: str, entity_id: str, *, bundle: str | None = None, depth: int = 1, limit: int = 20
    ) -> EntityNeighbours:
        """An entity and at most `limit` neighbours: what it refers to, and what refers to it."""
        command = GetContext(
            entity_type=entity_type, id=entity_id, bundle_id=bundle, depth=depth, max_related=limit
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
        """An entity, with what it depends on down to a depth, as `markdown`."""
        command = ExportMarkdown(
            entity_type=entity_type,
            entity_id=entity_id,
            bundle_id=bundle,
            include_dependencies=dependencies,
            dependency_depth=depth,
        )
        most = room_of(DEFAULT_MAX_TOKENS)
        return write_document(self._shelf.open(bundle, QuietCall()), command, most)
