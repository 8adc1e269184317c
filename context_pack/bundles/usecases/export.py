"""Entities with everything they depend on, as one value: `export_context`.

Breadth-first from all targets at once, so that the depth is exact; what refers to a target is not followed.
The same bundle and the same question always make the same bytes, but for the time of the export. The JSON is
joined from the texts that entities keep, because an unchanged bundle is exported often and may be large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import field, frozen

from context_pack.bundles.domain.model import Bundle, Edge, Entity, compact
from context_pack.bundles.domain.modified import spelled
from context_pack.bundles.usecases.commands import MOST_DEPTH, ExportContext
from context_pack.bundles.usecases.shelf import Address, Opened, require
from context_pack.kernel.digest import canonical_json, sha256_hex
from context_pack.kernel.ports import Clock

VERSION = "1.0"
MOST_KEPT = 4
"""Exports of one bundle that are kept, lest who asks again waits again."""


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
    reached = bundle.graph.reach((target.id for target in targets), used)
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


@frozen(eq=False)
class Export:
    """An export as JSON text in the order of the contract, and what its envelope says besides.

    `memo` is for what else was made of it; it is the same for every export that differs only in its time.
    """

    bundle_id: str
    exported_at: str
    data: str
    meta: dict[str, Any]
    diagnostics: list[dict[str, str]]
    memo: dict[str, Any]


@frozen(eq=False)
class _Made:
    """An export but for the time: everything that the same question about the same bundle has in common."""

    about: dict[str, Any]
    rest: str
    """`data` as JSON behind `exportMeta`, with the closing brace."""
    meta: dict[str, Any]
    diagnostics: list[dict[str, str]]
    memo: dict[str, Any] = field(factory=dict)


def export(opened: Opened, command: ExportContext, clock: Clock) -> Export:
    """The export that a command asks of an opened bundle.

    Raises:
        Failure: `not_found`, naming every target that is not there.
    """
    kept: dict[tuple[str, ExportContext], _Made] = opened.bundle.memo.setdefault(export, {})
    made = kept.get((opened.id, command))
    if made is None:
        made = _made(opened, command)
        for oldest in list(kept)[: max(0, len(kept) + 1 - MOST_KEPT)]:
            kept.pop(oldest, None)
        kept[opened.id, command] = made
    now = spelled(clock.now())
    data = f'{{"exportMeta":{compact({**made.about, "exportedAt": now})},{made.rest}'
    told = [dict(each) for each in made.diagnostics]
    return Export(opened.id, now, data, dict(made.meta), told, made.memo)


def _made(opened: Opened, command: ExportContext) -> _Made:
    bundle = opened.bundle
    wanted = [Address(target.entity_type, target.entity_id) for target in command.targets]
    chosen = select(bundle, require(bundle, opened.id, wanted), command.dependency_depth)
    parts = _Parts(bundle, chosen, command.include_schemas, command.include_relations)
    about = {
        "bundleId": opened.id,
        "bundleName": bundle.name,
        "exportedAt": "",  # holds the place
        "targetCount": len(chosen.targets),
        "dependencyCount": len(chosen.dependencies),
        "totalEntities": len(chosen.entities),
        "format": command.format,
        "version": VERSION,
    }
    meta = {
        "bundleId": opened.id,
        "targetCount": len(chosen.targets),
        "dependencyCount": len(chosen.dependencies),
        "relationCount": len(parts.edges),
        "schemaCount": len(parts.types),
        "dependencyDepth": chosen.depth,
        "digest": parts.digest({name: value for name, value in about.items() if name != "exportedAt"}),
    }
    told = [diagnostic.record() for diagnostic in bundle.troubles(chosen.entities)]
    return _Made(about, parts.text(), meta, told)


@frozen(eq=False)
class _Parts:
    """The pieces that both spellings of an export are joined from."""

    bundle: Bundle
    chosen: Selection
    with_schemas: bool
    with_relations: bool

    @property
    def edges(self) -> tuple[Edge, ...]:
        return self.chosen.edges if self.with_relations else ()

    @property
    def types(self) -> list[str]:
        """The types that are present and have a schema, in the order of their first entity."""
        if not self.with_schemas:
            return []
        present = dict.fromkeys(entity.type for entity in self.chosen.entities)
        return [name for name in present if name in self.bundle.schemas]

    def text(self) -> str:
        """`data` as JSON in the order of the contract, from its second member on."""
        members = [
            ("targets", _list(entity.text for entity in self.chosen.targets)),
            ("dependencies", _list(entity.text for entity in self.chosen.dependencies)),
            ("relations", _list(_relations(self.edges))),
        ]
        if self.with_schemas:
            schemas = self.bundle.schemas
            members.append(("schemas", _object((name, schemas[name].text) for name in self.types)))
        return _object(members)[1:]

    def digest(self, about: dict[str, Any]) -> str:
        """The digest of `data` without the time of the export: keys sorted, no spaces, no ASCII escaping."""
        members = [
            ("dependencies", _list(entity.canonical for entity in self.chosen.dependencies)),
            ("exportMeta", canonical_json(about)),
            ("relations", _list(_canonical_relations(self.edges))),
        ]
        if self.with_schemas:
            schemas = self.bundle.schemas
            members.append(
                ("schemas", _object((name, schemas[name].canonical) for name in sorted(self.types)))
            )
        members.append(("targets", _list(entity.canonical for entity in self.chosen.targets)))
        return sha256_hex(_object(members))


def _relations(edges: Iterable[Edge]) -> Iterator[str]:
    tails: dict[Any, str] = {}
    for edge in edges:
        tail = tails.get(edge.field)
        if tail is None:
            named = {"field": edge.field.name, "displayName": edge.field.display_name}
            tail = tails[edge.field] = compact(named)[1:]
        yield f'{{"from":{edge.source.address},"to":{edge.target.address},{tail}'


def _canonical_relations(edges: Iterable[Edge]) -> Iterator[str]:
    heads: dict[Any, str] = {}
    for edge in edges:
        head = heads.get(edge.field)
        if head is None:
            named = {"field": edge.field.name, "displayName": edge.field.display_name}
            head = heads[edge.field] = canonical_json(named)[:-1]
        yield f'{head},"from":{edge.source.canonical_address},"to":{edge.target.canonical_address}}}'


def _list(items: Iterable[str]) -> str:
    return f"[{','.join(items)}]"


def _object(members: Iterable[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{compact(name)}:{text}" for name, text in members) + "}"
