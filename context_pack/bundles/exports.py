"""What is asked of entities: all they depend on, as a value or a text, or what is around one.

An export (`export_context`, `export_entity_markdown`) goes breadth-first from all targets at once, so that
the depth is exact; what refers to a target is not followed. The same bundle and the same question make the
same bytes, but for the time of the export. Neighbours (`get_context`) go both ways, nearest first; among
equals, what an entity refers to comes before what refers to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from attrs import frozen

from context_pack.bundles.markdown import document
from context_pack.bundles.model import Bundle, Edge, Entity, address_of, compact, exported, iso_utc
from context_pack.kernel.errors import Code, Failure, clip
from context_pack.kernel.ports import Clock
from context_pack.kernel.text import canonical_json, close, sha256_hex
from context_pack.toolkit.arguments import arg, array, boolean, choice, integer, text
from context_pack.toolkit.budget import json_size

MOST_DEPTH = 5
"""Deeper exports are made to this depth, and say so."""
MOST_NEAR, MOST_RELATED = 3, 100
MOST_TARGETS = 100_000
NAME_CHARS = 1_000

_NAME = text(1, NAME_CHARS)
_BUNDLE = (text(0, NAME_CHARS), "Which bundle, if several")
_TYPE = (_NAME, "Entity type, e.g. Feature")
_ID = (_NAME, "Entity id")


@frozen(kw_only=True)
class Target:
    """One entity to export."""

    entity_type: str = arg(*_TYPE, name="entityType")
    entity_id: str = arg(*_ID, name="entityId")


@frozen(kw_only=True)
class ExportContext:
    """Export entities with what they depend on."""

    targets: tuple[Target, ...] = arg(array(Target, 1, MOST_TARGETS), "Entities to export")
    bundle_id: str | None = arg(*_BUNDLE, name="bundleId", default=None)
    dependency_depth: int = arg(
        integer(0), "How far to follow references; at most 5", name="dependencyDepth", default=3
    )
    include_schemas: bool = arg(
        boolean(), "With the JSON Schemas of the types", name="includeSchemas", default=True
    )
    include_relations: bool = arg(
        boolean(), "With which field refers to what", name="includeRelationMetadata", default=True
    )
    format: str = arg(choice("json", "yaml"), "Format of the text", default="json")


@frozen(kw_only=True)
class GetContext:
    """Look at one entity and its neighbours."""

    entity_type: str = arg(*_TYPE, name="entityType")
    id: str = arg(*_ID)
    bundle_id: str | None = arg(*_BUNDLE, name="bundleId", default=None)
    depth: int = arg(integer(0, MOST_NEAR), "How far neighbours may be", default=1)
    max_related: int = arg(integer(0, MOST_RELATED), "Most neighbours", name="maxRelated", default=20)
    include_related: str = arg(
        choice("full", "summary", "ids"), "How much of each neighbour", name="includeRelated", default="full"
    )
    fields: tuple[str, ...] | None = arg(array(_NAME), "Only these fields, and its id", default=None)


@frozen(kw_only=True)
class ExportMarkdown:
    """Write one entity as a document."""

    entity_type: str = arg(*_TYPE, name="entityType")
    entity_id: str = arg(*_ID, name="entityId")
    bundle_id: str | None = arg(*_BUNDLE, name="bundleId", default=None)
    include_dependencies: bool = arg(
        boolean(), "With the entities it depends on", name="includeDependencies", default=True
    )
    dependency_depth: int = arg(
        integer(0), "How far to follow references; at most 5", name="dependencyDepth", default=2
    )


# -- the entities that a command names

MOST_SHOWN = 5
MOST_TYPES = 30
MOST_TOLD = 20
"""The most diagnostics that are added to a not-found error."""


def require(bundle: Bundle, targets: Sequence[Target]) -> list[Entity]:
    """The entities that these name, each once.

    Raises:
        Failure: `not_found`, with every missing one in `details.notFound`, and in `details.diagnostics` what
            was wrong with files that may hold them.
    """
    entities = {target: bundle.find(target.entity_type, target.entity_id) for target in targets}
    missing = [target for target, entity in entities.items() if entity is None]
    if missing:
        shown = ", ".join(_called(each) for each in missing[:MOST_SHOWN])
        more = f" and {len(missing) - MOST_SHOWN} more" if len(missing) > MOST_SHOWN else ""
        words = f"not in the bundle: {shown}{more}{_hint(bundle, missing[0])}"
        names = [{"entityType": each.entity_type, "entityId": each.entity_id} for each in missing]
        types = {None, *(each.entity_type for each in missing)}
        near = [each.record() for each in bundle.diagnostics if each.entity_type in types]
        diagnostics = {"diagnostics": near[:MOST_TOLD]} if near else {}
        raise Failure(Code.NOT_FOUND, words, {"notFound": names, "bundleId": bundle.id, **diagnostics})
    return [entity for entity in entities.values() if entity is not None]


def _called(target: Target) -> str:
    """Its type and id; the command line has `?` for a type that nobody wrote."""
    kind = "" if target.entity_type == "?" else f"{clip(target.entity_type)} "
    return kind + clip(target.entity_id)


def _hint(bundle: Bundle, target: Target) -> str:
    """What was perhaps meant by a target that is not there."""
    key, kind = target.entity_id, target.entity_type
    owner = bundle.entities.get(key)
    if owner is not None:
        return f"; {clip(key)} is of the type {clip(owner.type)}"
    typed = kind in bundle.kinds
    ids = (entity.id for entity in bundle.entities.values() if not typed or entity.type == kind)
    by_folded = {each.casefold(): each for each in ids}
    near = [clip(by_folded[each]) for each in close(key.strip().casefold(), by_folded)]
    if near:
        return f"; did you mean {', '.join(near)}?"
    types = list(bundle.kinds)
    more = ", …" if len(types) > MOST_TYPES else ""
    return f"; the types are {', '.join(map(clip, types[:MOST_TYPES]))}{more}" if types and not typed else ""


# -- exports

VERSION = "1.0"


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


def export(bundle: Bundle, command: ExportContext, clock: Clock) -> ExportedText:
    """The export that a command asks of a bundle.

    Raises:
        Failure: `not_found`, naming every target that is not there.
    """
    chosen = select(bundle, require(bundle, command.targets), command.dependency_depth)
    counts = {"targetCount": len(chosen.targets), "dependencyCount": len(chosen.dependencies)}
    about = {
        "bundleId": bundle.id,
        "bundleName": bundle.name,
        "exportedAt": iso_utc(clock.now()),
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
        "bundleId": bundle.id,
        **counts,
        "relationCount": len(edges),
        "schemaCount": len(schemas),
        "dependencyDepth": chosen.depth,
        "digest": sha256_hex(canonical_json({"exportMeta": timeless, **body})),
    }
    diagnostics = [diagnostic.record() for diagnostic in bundle.troubles(chosen.entities)]
    return ExportedText(bundle.id, compact({"exportMeta": about, **body}), meta, diagnostics)


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


def write_document(bundle: Bundle, command: ExportMarkdown, most: int) -> WrittenDocument:
    """The document of an entity in at most `most` bytes.

    Raises:
        Failure: `not_found`.
    """
    target = Target(entity_type=command.entity_type, entity_id=command.entity_id)
    (entity,) = require(bundle, [target])
    chosen = select(bundle, [entity], command.dependency_depth if command.include_dependencies else 0)
    markdown, shown = document(bundle, entity, chosen.dependencies, most)
    return WrittenDocument(markdown, entity, shown, chosen.depth, len(chosen.dependencies) - len(shown))


# -- neighbours

REFERENCES, REFERENCED_BY = "references", "referencedBy"
SUMMARY = ("title", "name", "status", "state")


class Neighbour(NamedTuple):
    """An entity near another: how far away, which way the reference that led to it goes, by which field."""

    entity: Entity
    distance: int
    relation: str
    field: str


class EntityNeighbours(NamedTuple):
    """An entity and its neighbours; `total` counts also those that were left out."""

    entity: Entity
    neighbours: Sequence[Neighbour]
    total: int


def look_around(bundle: Bundle, command: GetContext) -> EntityNeighbours:
    """The entity and its neighbours.

    Raises:
        Failure: `not_found`.
    """
    (entity,) = require(bundle, [Target(entity_type=command.entity_type, entity_id=command.id)])
    neighbours = list(_neighbours(bundle, entity, command.depth))
    return EntityNeighbours(entity, neighbours[: command.max_related], len(neighbours))


def _neighbours(bundle: Bundle, start: Entity, depth: int) -> Iterator[Neighbour]:
    """Neighbours by breadth-first search; the first reference to reach an entity is shown."""
    met, nearest = {start.id}, [start.id]
    for distance in range(1, depth + 1):
        nearest, before = [], nearest
        for one in (one for key in before for one in _adjacent(bundle, key, distance)):
            if one.entity.id not in met:
                met.add(one.entity.id)
                nearest.append(one.entity.id)
                yield one


def _adjacent(bundle: Bundle, key: str, far: int) -> Iterator[Neighbour]:
    """The neighbours one reference away from an entity, both ways, at that distance."""
    for edge in bundle.edges.get(key, ()):
        yield Neighbour(edge.target, far, REFERENCES, edge.field.name)
    for edge in bundle.referrers.get(key, ()):
        yield Neighbour(edge.source, far, REFERENCED_BY, edge.field.name)


def target_record(entity: Entity, id_field: str, fields: Sequence[str] | None) -> dict[str, Any]:
    """The entity itself: all of its data, or the wanted fields and its id, in the order of the file."""
    record = exported(entity)
    if fields is not None:
        kept = {id_field, *fields}
        record["data"] = {name: value for name, value in entity.data.items() if name in kept}
    return record


def neighbour_record(neighbour: Neighbour, id_field: str, detail: str) -> dict[str, Any]:
    """A neighbour: what it is and how it was met; its data as far as it is wanted."""
    entity = neighbour.entity
    record: dict[str, Any] = {
        "id": entity.id,
        "entityType": entity.type,
        "relation": neighbour.relation,
        "field": neighbour.field,
        "distance": neighbour.distance,
    }
    if detail == "full":
        record["data"] = entity.data
    elif detail == "summary":
        kept = (id_field, *SUMMARY)
        record["data"] = {name: value for name, value in entity.data.items() if name in kept}
    return record


def fit_to_budget(
    target: dict[str, Any], related: Sequence[dict[str, Any]], most: int
) -> tuple[list[dict[str, Any]], int]:
    """The neighbours without the data that an answer has no room for, and how many go without.

    The nearest come first; one that fits still has its data behind one that does not.
    """
    bare = [{name: value for name, value in one.items() if name != "data"} for one in related]
    room = most - json_size(target) - json_size(bare)
    fitting: list[dict[str, Any]] = []
    for whole, without in zip(related, bare, strict=True):
        cost = json_size(whole["data"]) if "data" in whole else 0
        fits = cost == 0 or cost <= room
        room -= cost if fits else 0
        fitting.append(whole if fits else {**without, "truncated": True})
    return fitting, sum("truncated" in one for one in fitting)
