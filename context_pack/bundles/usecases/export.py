"""Entities with all they depend on, as one value (`export_context`) or a text (`export_entity_markdown`).

Breadth-first from all targets at once, so that the depth is exact; what refers to a target is not followed.
The same bundle and the same question always make the same bytes, but for the time of the export.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from attrs import frozen

from context_pack.bundles.domain.document import document
from context_pack.bundles.domain.model import Bundle, Edge, Entity, address_of, compact, exported
from context_pack.bundles.domain.modified import spelled
from context_pack.bundles.usecases.commands import MOST_DEPTH, ExportContext, ExportMarkdown
from context_pack.bundles.usecases.shelf import EntityAddress, OpenedBundle, require
from context_pack.kernel.ports import Clock
from context_pack.kernel.text import canonical_json, sha256_hex

VERSION = "1.0"
MOST_KEPT = 4
"""How many exports of one bundle are cached."""


@frozen(eq=False)
class Selection:
    """What an export holds: targets as asked, dependencies by distance, and the edges among them."""

    targets: tuple[Entity, ...]
    dependencies: tuple[Entity, ...]
    edges: tuple[Edge, ...]
    depth: int

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Targets, then dependencies."""
        return self.targets + self.dependencies


def select(bundle: Bundle, targets: Sequence[Entity], depth: int) -> Selection:
    """The targets, what they depend on to that depth (5 at most), and every edge among them."""
    used = min(depth, MOST_DEPTH)
    reached = _reach(bundle, targets, used)
    entities = [bundle.entities[key] for key in reached]
    edges = tuple(
        edge for entity in entities for edge in bundle.edges[entity.id] if edge.target.id in reached
    )
    first = dict.fromkeys(target.id for target in targets)
    return Selection(
        targets=tuple(bundle.entities[key] for key in first),
        dependencies=tuple(entity for entity in entities if entity.id not in first),
        edges=edges,
        depth=used,
    )


def _reach(bundle: Bundle, targets: Sequence[Entity], depth: int) -> dict[str, None]:
    """The ids within so many steps of a target: by distance, then in the order of the references."""
    reached = dict.fromkeys(target.id for target in targets)
    nearest = list(reached)
    for _ in range(depth):
        met = dict.fromkeys(edge.target.id for key in nearest for edge in bundle.edges[key])
        nearest = [key for key in met if key not in reached]
        reached.update(dict.fromkeys(nearest))
    return reached


@frozen(eq=False)
class ExportedText:
    """An export as JSON text in the order of the contract, and what its envelope says besides."""

    bundle_id: str
    data: str
    meta: dict[str, Any]
    diagnostics: list[dict[str, str]]


def export(opened: OpenedBundle, command: ExportContext, clock: Clock) -> ExportedText:
    """The export that a command asks of an opened bundle.

    The last few are kept but for their time: by `benches/side_by_side/bundles.py` the second of two equal
    ones is else not ten times as fast as the first.

    Raises:
        Failure: `not_found`, naming every target that is not there.
    """
    kept: dict[tuple[str, ExportContext], tuple[Any, ...]] = opened.bundle.memo
    made = kept.get((opened.id, command))
    if made is None:
        made = _made(opened, command)
        for oldest in list(kept)[: max(0, len(kept) + 1 - MOST_KEPT)]:
            kept.pop(oldest, None)
        kept[opened.id, command] = made
    about, rest, meta, diagnostics = made
    data = f'{{"exportMeta":{compact({**about, "exportedAt": spelled(clock.now())})},{rest}'
    return ExportedText(opened.id, data, dict(meta), [dict(each) for each in diagnostics])


def _made(
    opened: OpenedBundle, command: ExportContext
) -> tuple[dict[str, Any], str, dict[str, Any], list[dict[str, str]]]:
    """An export but for its time: `exportMeta`, the JSON behind it, `meta` and the diagnostics."""
    bundle = opened.bundle
    wanted = [EntityAddress(target.entity_type, target.entity_id) for target in command.targets]
    chosen = select(bundle, require(bundle, opened.id, wanted), command.dependency_depth)
    counts = {"targetCount": len(chosen.targets), "dependencyCount": len(chosen.dependencies)}
    about = {
        "bundleId": opened.id,
        "bundleName": bundle.name,
        "exportedAt": "",  # holds the place
        **counts,
        "totalEntities": len(chosen.entities),
        "format": command.format,
        "version": VERSION,
    }
    edges = chosen.edges if command.include_relations else ()
    body: dict[str, Any] = {
        "targets": [exported(entity) for entity in chosen.targets],
        "dependencies": [exported(entity) for entity in chosen.dependencies],
        "relations": [_relation(edge) for edge in edges],
    }
    present = dict.fromkeys(entity.type for entity in chosen.entities) if command.include_schemas else {}
    schemas = {name: bundle.schemas[name] for name in present if name in bundle.schemas}
    if command.include_schemas:
        body["schemas"] = schemas
    timeless = {name: value for name, value in about.items() if name != "exportedAt"}
    meta = {
        "bundleId": opened.id,
        **counts,
        "relationCount": len(edges),
        "schemaCount": len(schemas),
        "dependencyDepth": chosen.depth,
        "digest": sha256_hex(canonical_json({"exportMeta": timeless, **body})),
    }
    diagnostics = [diagnostic.record() for diagnostic in bundle.troubles(chosen.entities)]
    return about, compact(body)[1:], meta, diagnostics


def _relation(edge: Edge) -> dict[str, Any]:
    ends = {"from": address_of(edge.source), "to": address_of(edge.target)}
    return {**ends, "field": edge.field.name, "displayName": edge.field.display_name}


class WrittenDocument(NamedTuple):
    """A document, the entity it is about, those it shows besides, and how far it went for them.

    `left_out` counts those that it has no room for.
    """

    markdown: str
    entity: Entity
    related: Sequence[Entity]
    depth: int
    left_out: int


def write_document(opened: OpenedBundle, command: ExportMarkdown, most: int) -> WrittenDocument:
    """The document of an entity in at most `most` bytes.

    Raises:
        Failure: `not_found`.
    """
    bundle = opened.bundle
    found = require(bundle, opened.id, [EntityAddress(command.entity_type, command.entity_id)])
    chosen = select(bundle, found, command.dependency_depth if command.include_dependencies else 0)
    text, shown = document(bundle, found[0], chosen.dependencies, most)
    return WrittenDocument(text, found[0], shown, chosen.depth, len(chosen.dependencies) - len(shown))
