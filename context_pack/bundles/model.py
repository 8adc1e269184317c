"""Bundles as values: entities of declared types, the references between them, and what was wrong with files.

A reference is what an entity says; an edge is a reference whose target exists. Ids are unique in a bundle, so
an id alone names an entity.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from attrs import frozen

from context_pack.kernel.paths import RelativePath
from context_pack.kernel.times import file_time


class DiagnosticSubject(StrEnum):
    """What a diagnostic is about."""

    FILE = "file"
    SCHEMA = "schema"
    DUPLICATE = "duplicate"
    REFERENCE = "reference"
    ORPHAN = "orphan"


@frozen
class Diagnostic:
    """A problem that did not keep the rest of the bundle from loading."""

    severity: str
    message: str
    file: str | None = None
    entity_type: str | None = None
    entity_id: str | None = None
    sort: DiagnosticSubject = DiagnosticSubject.FILE

    def record(self) -> dict[str, str]:
        """The diagnostic as answers show it."""
        fields = {"severity": self.severity, "message": self.message, "filePath": self.file}
        fields |= {"entityType": self.entity_type, "entityId": self.entity_id}
        return {name: value for name, value in fields.items() if value is not None}


class Field(NamedTuple):
    """Where an entity says its reference: the dotted path without indexes, and what people call it."""

    name: str
    display_name: str


class Reference(NamedTuple):
    """An id that an entity names."""

    field: Field
    target: str


@frozen
class Relation:
    """A relation that the bundle type declares."""

    from_entity: str
    from_field: str


@frozen
class EntityKind:
    """A type of entity: its id field, its folder (None: the bundle itself) and its schema."""

    name: str
    id_field: str
    directory: RelativePath | None
    schema_path: RelativePath | None


@frozen(eq=False)
class Entity:
    """One entity as its file says it; `modified` is the instant the export calls `lastModified`."""

    type: str
    id: str
    data: Mapping[str, Any]
    file: str
    modified: str
    references: tuple[Reference, ...] = ()

    @property
    def title(self) -> str:
        """What people call it: its title or name, else its id."""
        for name in ("title", "name"):
            value = self.data.get(name)
            if isinstance(value, str) and value.strip():
                return value
        return self.id


def address_of(entity: Entity) -> dict[str, str]:
    """The type and id of an entity, as answers name it."""
    return {"entityType": entity.type, "entityId": entity.id}


def exported(entity: Entity) -> dict[str, Any]:
    """An entity as exports show it."""
    return {
        "entityType": entity.type,
        "id": entity.id,
        "data": entity.data,
        "lastModified": entity.modified,
    }


def compact(value: Any) -> str:
    """A value as JSON on one line, in its own order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class Edge(NamedTuple):
    """A reference whose target is there."""

    source: Entity
    target: Entity
    field: Field


@frozen(eq=False)
class Bundle:
    """A loaded bundle: everything that could be read, and what was wrong with the rest.

    `entities` are in the order of loading; `edges` and `broken` are by the id of the entity that refers.
    """

    id: str
    name: str
    kinds: Mapping[str, EntityKind]
    schemas: Mapping[str, Mapping[str, Any]]
    entities: Mapping[str, Entity]
    edges: Mapping[str, tuple[Edge, ...]]
    broken: Mapping[str, tuple[Diagnostic, ...]]
    diagnostics: tuple[Diagnostic, ...]

    def find(self, entity_type: str, entity_id: str) -> Entity | None:
        """The entity of that type with that id."""
        entity = self.entities.get(entity_id)
        return entity if entity is not None and entity.type == entity_type else None

    @cached_property
    def referrers(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges that lead to an id, in the order of their sources."""
        by_target: dict[str, list[Edge]] = {}
        for edges in self.edges.values():
            for edge in edges:
                by_target.setdefault(edge.target.id, []).append(edge)
        return {target: tuple(edges) for target, edges in by_target.items()}

    def orphans(self) -> Iterator[Entity]:
        """Entities that name no other, existing or not, and that no other refers to."""
        for entity in self.entities.values():
            named = any(reference.target != entity.id for reference in entity.references)
            if not named and all(edge.source is entity for edge in self.referrers.get(entity.id, ())):
                yield entity

    def troubles(self, shown: Sequence[Entity]) -> list[Diagnostic]:
        """The diagnostics of an answer with these entities: of loading, and their broken references."""
        return [*self.diagnostics, *(one for entity in shown for one in self.broken.get(entity.id, ()))]

    def troubles_of(self, shown: Sequence[Entity]) -> tuple[list[Diagnostic], int]:
        """The diagnostics of these entities alone, and how many others the bundle has."""
        addresses = {(entity.type, entity.id) for entity in shown}
        own = [one for one in self.troubles(shown) if (one.entity_type, one.entity_id) in addresses]
        return own, len(self.diagnostics) + sum(map(len, self.broken.values())) - len(own)

    def findings(self) -> Iterator[Diagnostic]:
        """Everything wrong with the bundle: files, schemas, ids, references, and orphans."""
        yield from self.diagnostics
        for diagnostics in self.broken.values():
            yield from diagnostics
        for entity in self.orphans():
            words = "orphan: it refers to nothing, and nothing refers to it"
            yield Diagnostic("warning", words, entity.file, entity.type, entity.id, DiagnosticSubject.ORPHAN)


@frozen(eq=False)
class Unloadable:
    """A bundle that does not load, and why."""

    diagnostics: tuple[Diagnostic, ...]

    def findings(self) -> Iterator[Diagnostic]:
        """Everything wrong with it."""
        yield from self.diagnostics


# -- names and instants as people read them

# Acronyms stay together (`HTTPPort` is two words), `URLs` is one, digits belong to the word before them.
_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^\W_A-Z]+|[^\W_]+")
_SPECIAL = {
    "id": "ID", "ids": "IDs", "api": "API", "apis": "APIs",
    "uri": "URI", "uris": "URIs", "url": "URL", "urls": "URLs",
}  # fmt: skip


def words_of(field: str) -> str:
    """A field name in words, each with a capital: `ownerActorId` is `Owner Actor ID`."""
    leaf = field.rpartition(".")[2]
    words = [_SPECIAL.get(word.lower(), word[:1].upper() + word[1:]) for word in _WORD.findall(leaf)]
    return " ".join(words) or leaf


def title_of(schema: Any) -> str | None:
    """The title that a schema gives to its property; None if it has none that says something."""
    title = schema.get("title") if isinstance(schema, Mapping) else None
    return title if isinstance(title, str) and title.strip() else None


def iso_utc(instant: datetime) -> str:
    """An instant as ISO 8601 in UTC, with milliseconds and `Z`."""
    plain = instant.astimezone(UTC).replace(tzinfo=None)
    return plain.isoformat(timespec="milliseconds") + "Z"


def last_modified(stated: Any, modified_ns: int) -> str:
    """What an entity's `lastModifiedDate` says, else the time of its file.

    A date is its midnight, and a time without an offset is in UTC, so that no answer depends on the server.
    """
    try:
        instant = datetime.fromisoformat(stated.strip().upper())
        return iso_utc(instant if instant.tzinfo else instant.replace(tzinfo=UTC))
    except (AttributeError, ValueError, OverflowError):
        return iso_utc(file_time(modified_ns))
