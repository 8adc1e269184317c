"""Is a bundle sound, and is an earlier export still true? For people and for CI jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from attrs import frozen

from context_pack.bundles.domain.model import Bundle, Diagnostic, DiagnosticSubject, Unloadable
from context_pack.bundles.usecases.export import select
from context_pack.bundles.usecases.shelf import EntityAddress, OpenedBundle
from context_pack.kernel.errors import invalid

DEFAULT_DEPTH = 3


def findings(bundle: Bundle | Unloadable) -> Iterator[Diagnostic]:
    """Everything wrong with a bundle: its files, its schemas, its ids, its references, and its orphans."""
    yield from bundle.diagnostics
    if isinstance(bundle, Unloadable):
        return
    for diagnostics in bundle.broken.values():
        yield from diagnostics
    for entity in bundle.orphans():
        words = "orphan: it refers to nothing, and nothing refers to it"
        yield Diagnostic("warning", words, entity.file, entity.type, entity.id, DiagnosticSubject.ORPHAN)


class ExportedEntity(NamedTuple):
    """An entity as an earlier export has it."""

    modified: str
    data: Any


@frozen
class EarlierExport:
    """What an earlier export says: its bundle, its depth, its targets, and each entity."""

    bundle_id: str | None
    depth: int
    targets: tuple[EntityAddress, ...]
    entities: Mapping[EntityAddress, ExportedEntity]


class Staleness(NamedTuple):
    """How a bundle differs from a snapshot of it, in the order of the snapshot, then of the bundle.

    `newer` were modified since; `changed` say something else without being newer; `gone` are in the bundle no
    more, or the targets no longer lead to them; `new` are what the targets lead to now.
    """

    newer: tuple[EntityAddress, ...]
    changed: tuple[EntityAddress, ...]
    gone: tuple[EntityAddress, ...]
    new: tuple[EntityAddress, ...]


def read_snapshot(value: Any) -> EarlierExport:
    """The snapshot in an export: the whole answer, or its `data` alone.

    Raises:
        Failure: `invalid_data`: it is no export.
    """
    answer = value if isinstance(value, Mapping) else {}
    data = answer.get("data") if "exportMeta" not in answer else answer
    about = data.get("exportMeta") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(about, Mapping):
        raise invalid("this is no export of export_context: it has no exportMeta", "file")
    meta = answer.get("meta")
    depth = meta.get("dependencyDepth") if isinstance(meta, Mapping) else None
    bundle_id = about.get("bundleId")
    targets = dict(_entities(data.get("targets")))
    if not targets:
        raise invalid("this is no export of export_context: it has no targets", "file")
    return EarlierExport(
        bundle_id if isinstance(bundle_id, str) else None,
        depth if isinstance(depth, int) and depth >= 0 else DEFAULT_DEPTH,
        tuple(targets),
        {**targets, **dict(_entities(data.get("dependencies")))},
    )


def _entities(value: Any) -> Iterator[tuple[EntityAddress, ExportedEntity]]:
    for entity in value if isinstance(value, list) else ():
        if not isinstance(entity, Mapping):
            raise invalid("this is no export of export_context: an entity is no object", "file")
        type_, key, modified = entity.get("entityType"), entity.get("id"), entity.get("lastModified")
        if not (isinstance(type_, str) and isinstance(key, str) and isinstance(modified, str)):
            raise invalid("this is no export of export_context: an entity lacks its type, id or time", "file")
        yield EntityAddress(type_, key), ExportedEntity(modified, entity.get("data"))


def compare(opened: OpenedBundle, snapshot: EarlierExport) -> Staleness:
    """How the bundle differs from the snapshot now."""
    bundle = opened.bundle
    targets = [bundle.find(address.type, address.id) for address in snapshot.targets]
    present = [entity for entity in targets if entity is not None]
    now = {
        EntityAddress(entity.type, entity.id): entity
        for entity in select(bundle, present, snapshot.depth).entities
    }
    both = [(address, known, now[address]) for address, known in snapshot.entities.items() if address in now]
    # One spelling for all instants, so that they compare as texts.
    newer = [address for address, known, entity in both if entity.modified > known.modified]
    differing = [address for address, known, entity in both if entity.data != known.data]
    return Staleness(
        newer=tuple(newer),
        changed=tuple(address for address in differing if address not in newer),
        gone=tuple(address for address in snapshot.entities if address not in now),
        new=tuple(address for address in now if address not in snapshot.entities),
    )
