"""What can be asked of bundles, as frozen commands; each field has its JSON Schema and its description."""

from __future__ import annotations

from attrs import frozen

from context_pack.toolkit.arguments import arg, array, boolean, choice, integer, text

MOST_DEPTH = 5
"""Deeper exports are made to this depth, and say so."""
MOST_NEAR, MOST_RELATED = 3, 100
MOST_TARGETS = 100_000
NAME_CHARS = 1_000

_NAME = text(1, NAME_CHARS)
_BUNDLE = (text(0, NAME_CHARS), "Which bundle, if there are several")
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
    depth: int = arg(integer(0, MOST_NEAR), "How far away neighbours may be", default=1)
    max_related: int = arg(integer(0, MOST_RELATED), "Most neighbours", name="maxRelated", default=20)
    include_related: str = arg(
        choice("full", "summary", "ids"), "How much of each neighbour", name="includeRelated", default="full"
    )
    fields: tuple[str, ...] | None = arg(
        array(_NAME), "Only these fields of the entity; its id always stays", default=None
    )


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
