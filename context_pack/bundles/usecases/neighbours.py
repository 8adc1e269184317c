"""One entity and what is around it, both ways: `get_context`.

Neighbours come nearest first; among equals, what an entity refers to comes before what refers to it. Each is
told once, with the edge by which it was first met, as seen from the nearer end. The entity itself is always
told whole; its neighbours have their data as far as an answer's budget goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from context_pack.bundles.domain.model import Bundle, Entity, exported
from context_pack.bundles.usecases.commands import GetContext
from context_pack.bundles.usecases.shelf import EntityAddress, OpenedBundle, require
from context_pack.toolkit.budget import json_size

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


def look_around(opened: OpenedBundle, command: GetContext) -> EntityNeighbours:
    """The entity and its neighbours.

    Raises:
        Failure: `not_found`.
    """
    bundle = opened.bundle
    (entity,) = require(bundle, opened.id, [EntityAddress(command.entity_type, command.id)])
    found = list(_neighbours(bundle, entity, command.depth))
    return EntityNeighbours(entity, found[: command.max_related], len(found))


def _neighbours(bundle: Bundle, start: Entity, depth: int) -> Iterator[Neighbour]:
    """Neighbours by breadth-first search; the first reference to reach an entity is shown."""
    met, nearest = {start.id}, [start.id]
    for distance in range(1, depth + 1):
        nearest, before = [], nearest
        for one in (one for key in before for one in _beside(bundle, key, distance)):
            if one.entity.id not in met:
                met.add(one.entity.id)
                nearest.append(one.entity.id)
                yield one


def _beside(bundle: Bundle, key: str, far: int) -> Iterator[Neighbour]:
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


def lightened(
    target: dict[str, Any], related: Sequence[dict[str, Any]], most: int
) -> tuple[list[dict[str, Any]], int]:
    """The neighbours without the data that an answer has no room for, and how many go without.

    The nearest come first; one that fits still has its data behind one that does not.
    """
    bare = [{name: value for name, value in one.items() if name != "data"} for one in related]
    room = most - json_size(target) - json_size(bare)
    found: list[dict[str, Any]] = []
    for whole, without in zip(related, bare, strict=True):
        cost = json_size(whole["data"]) if "data" in whole else 0
        fits = cost == 0 or cost <= room
        room -= cost if fits else 0
        found.append(whole if fits else {**without, "truncated": True})
    return found, sum("truncated" in one for one in found)
