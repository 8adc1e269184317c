"""One entity as a readable document: `export_entity_markdown`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from context_pack.bundles.domain.document import document
from context_pack.bundles.domain.model import Entity
from context_pack.bundles.usecases.commands import ExportMarkdown
from context_pack.bundles.usecases.export import select
from context_pack.bundles.usecases.shelf import Address, Opened, require
from context_pack.toolkit.limits import DEFAULT_MAX_BYTES


class Written(NamedTuple):
    """A document, the entity it is about, those it shows besides, and how far it went for them.

    `left_out` counts those that it has no room for.
    """

    markdown: str
    entity: Entity
    related: Sequence[Entity]
    depth: int
    left_out: int


def write_document(opened: Opened, command: ExportMarkdown) -> Written:
    """The document of an entity.

    Raises:
        Failure: `not_found`.
    """
    bundle = opened.bundle
    found = require(bundle, opened.id, [Address(command.entity_type, command.entity_id)])
    chosen = select(bundle, found, command.dependency_depth if command.include_dependencies else 0)
    text, shown = document(bundle, found[0], chosen.dependencies, DEFAULT_MAX_BYTES)
    return Written(text, found[0], shown, chosen.depth, len(chosen.dependencies) - len(shown))
