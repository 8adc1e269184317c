"""From files to a bundle: read what is there, say what is wrong, and reuse what has not changed.

A file gives the very same document again while it has not changed: where every document is that of last time,
the last bundle is the answer; else only entities of changed files are checked anew, unless a schema changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import field, frozen

from context_pack.bundles.domain.manifest import (
    MANIFEST,
    BundleManifest,
    BundleType,
    path_inside,
    read_bundle_type,
    read_manifest,
)
from context_pack.bundles.domain.model import (
    Bundle,
    BundleSpot,
    Diagnostic,
    DiagnosticSubject,
    Edge,
    Entity,
    EntityKind,
    Unloadable,
)
from context_pack.bundles.domain.modified import last_modified
from context_pack.bundles.domain.references import References
from context_pack.bundles.domain.schemas import SchemaChecker, Schemas, file_of, refs_in
from context_pack.bundles.ports import BundleFiles, Document, Flaw, is_same
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath

PULSE = 64
"""Files between two reports of progress."""

Found = Document | Flaw
Pulse = Callable[[int], None]


@frozen(eq=False)
class BundleHead:
    """The manifest and the bundle type, without which a bundle does not load."""

    sources: tuple[Found, ...]
    diagnostics: tuple[Diagnostic, ...]
    manifest: BundleManifest | None = None
    layout: BundleType | None = None

    @property
    def loads(self) -> bool:
        """Whether both were read, so that the bundle can be loaded."""
        return self.layout is not None


@frozen(eq=False)
class CheckedFile:
    """One file of entities: what it holds, or what is wrong with it."""

    source: Found
    entity: Entity | None
    problems: tuple[Diagnostic, ...]


@frozen(eq=False)
class EntityReader:
    """Makes entities of the files of one type."""

    kind: EntityKind
    references: References
    checker: SchemaChecker | None = None
    schema: Document | None = None

    def read(self, found: Found) -> CheckedFile:
        """The entity in a file, or what is wrong with the file."""
        kind = self.kind
        if isinstance(found, Flaw):
            return CheckedFile(found, None, (as_diagnostic(found, entity_type=kind.name),))
        key = found.value.get(kind.id_field) if isinstance(found.value, Mapping) else None
        if not isinstance(key, str) or not key.strip():
            is_mapping = isinstance(found.value, Mapping)
            words = (
                f"$.{kind.id_field} must be the id, a text" if is_mapping else "$ must be a mapping of fields"
            )
            return CheckedFile(found, None, (Diagnostic("error", words, found.path, kind.name),))
        problems = [] if self.checker is None else self.checker.problems(found.value)
        modified = last_modified(found.value.get("lastModifiedDate"), found.modified_ns)
        told = (
            Diagnostic("error", words, found.path, kind.name, key, DiagnosticSubject.SCHEMA)
            for words in problems
        )
        references = self.references.of(found.value)
        return CheckedFile(
            found, Entity(kind.name, key, found.value, found.path, modified, references), tuple(told)
        )


@frozen(eq=False)
class Loaded:
    """A bundle with everything it was made of; `heads` are the files besides the entities'."""

    bundle: Bundle | Unloadable
    heads: tuple[Found, ...] = ()
    readers: tuple[EntityReader, ...] = ()
    head_diagnostics: tuple[Diagnostic, ...] = ()
    files: Mapping[tuple[str, str], CheckedFile] = field(factory=dict)


def load(
    files: BundleFiles,
    before: Loaded | None,
    name: str,
    pulse: Pulse,
    check: Callable[[], None] = lambda: None,
) -> Loaded:
    """The bundle in these files; `before` is what they made last time, `name` is for a bundle without one.

    `pulse` hears how many files were looked at, `check` is asked while one takes long; both may raise.
    """
    head = read_head(files, name)
    if head.manifest is None or head.layout is None:
        return Loaded(Unloadable(head.diagnostics))
    by_type, schemas = read_schemas(files, head.layout)
    heads = (*head.sources, *by_type.values(), *schemas.values())
    if before is not None and len(before.heads) == len(heads) and all(map(is_same, before.heads, heads)):
        readers, troubles, known = before.readers, before.head_diagnostics, before.files
    else:
        readers, flaws = _readers(head.layout, by_type, schemas, check)
        before, troubles, known = None, (*head.diagnostics, *flaws), {}
    checked: dict[tuple[str, str], CheckedFile] = {}
    for reader in readers:
        for found in _files_of(files, reader.kind):
            if len(checked) % PULSE == 0:
                pulse(len(checked))
            key = (reader.kind.name, found.path)
            same = key in known and is_same(known[key].source, found)
            checked[key] = known[key] if same else reader.read(found)
    if before is not None and list(checked.values()) == list(known.values()):
        return before
    return Loaded(linked(head.manifest.name, readers, checked, troubles), heads, readers, troubles, checked)


def read_head(files: BundleFiles, name: str) -> BundleHead:
    """The manifest and the bundle type, as far as they can be read."""
    first = files.document(RelativePath(MANIFEST))
    if isinstance(first, Flaw):
        return BundleHead((first,), (as_diagnostic(first),))
    manifest, troubles = read_manifest(first.value, name)
    if manifest is None:
        return BundleHead((first,), tuple(troubles))
    second = document_at(files, manifest.type_path, BundleSpot(MANIFEST, "$.spec.bundleTypeDefinition"))
    if isinstance(second, Flaw):
        return BundleHead((first, second), (*troubles, as_diagnostic(second)), manifest)
    layout, more = read_bundle_type(second.value, second.path, manifest)
    return BundleHead((first, second), (*troubles, *more), manifest, layout)


def read_schemas(files: BundleFiles, layout: BundleType) -> tuple[dict[str, Found], dict[str, Found]]:
    """The schema file of each type that names one, and every file of the bundle that these refer to."""
    kinds = [kind for kind in layout.kinds if kind.schema_path is not None]
    by_type = {kind.name: document_at(files, str(kind.schema_path), kind.schema_spot) for kind in kinds}
    found = {one.path: one for one in by_type.values() if isinstance(one, Document)}
    waiting = list(found.values())
    others: dict[str, Found] = {**found}
    while waiting:
        document = waiting.pop(0)
        for ref in refs_in(document.value):
            try:
                path = file_of(ref, document.path)
            except (Failure, ValueError):
                continue  # it leaves the bundle, and leads nowhere
            if path is not None and path.value not in others:
                one = others[path.value] = files.document(path)
                waiting += [one] if isinstance(one, Document) else []
    return by_type, others


def _readers(
    layout: BundleType, by_type: Mapping[str, Found], found: Mapping[str, Found], check: Callable[[], None]
) -> tuple[tuple[EntityReader, ...], list[Diagnostic]]:
    """A reader for every type, and what is wrong with the schemas."""
    schemas = Schemas({path: one.value for path, one in found.items() if isinstance(one, Document)}, check)
    named = [one for one in by_type.values() if isinstance(one, Flaw)]
    # A reference may be found by another way than the file it seems to name; if not, that is told.
    others = [one for one in found.values() if isinstance(one, Flaw) and not one.absent]
    told = [as_diagnostic(flaw) for flaw in dict.fromkeys([*named, *others])]
    told += [_schema_flaw(path, words) for path, flaws in schemas.flaws.items() for words in flaws]
    readers = []
    for kind in layout.kinds:
        relations = [relation for relation in layout.relations if relation.from_entity == kind.name]
        own = by_type.get(kind.name)
        if isinstance(own, Document) and isinstance(own.value, Mapping):
            checker, resolver = schemas.checker(own.path), schemas.resolver(own.path)
            readers.append(
                EntityReader(kind, References(relations, own.value, resolver, checker), checker, own)
            )
        else:
            readers.append(EntityReader(kind, References(relations)))
    return tuple(readers), told


def _files_of(files: BundleFiles, kind: EntityKind) -> Iterator[Found]:
    """The files of one type."""
    try:
        place = path_inside(kind.directory)
    except Failure as failure:
        file, spot = kind.directory_spot
        yield Flaw(file, f"{spot} is no path inside the bundle: {failure.message}")
        return
    found = files.folder(place)
    if isinstance(found, Flaw):
        yield found
        return
    yield from (one for one in found if one.path != MANIFEST)


def document_at(files: BundleFiles, path: str, spot: BundleSpot) -> Found:
    """The file at a path that another file names; a path that leaves the bundle is that file's flaw."""
    try:
        inside = path_inside(path)
    except Failure as failure:
        return Flaw(spot.file, f"{spot.place} is no path inside the bundle: {failure.message}")
    if inside is None:
        return Flaw(spot.file, f"{spot.place} is the path of a folder")
    return files.document(inside)


def linked(
    name: str,
    readers: tuple[EntityReader, ...],
    checked: Mapping[tuple[str, str], CheckedFile],
    troubles: tuple[Diagnostic, ...],
) -> Bundle:
    """The bundle of these files: every id once, and every reference an edge or broken."""
    entities: dict[str, Entity] = {}
    diagnostics = list(troubles)
    for one in checked.values():
        diagnostics.extend(one.problems)
        if one.entity is not None and entities.setdefault(one.entity.id, one.entity) is not one.entity:
            diagnostics.append(_duplicate(entities[one.entity.id], one.entity))
    for reader in readers:
        if reader.checker is not None and reader.schema is not None:
            flaws = reader.checker.flaws
            diagnostics += [_schema_flaw(reader.schema.path, words, reader.kind.name) for words in flaws]
    edges: dict[str, tuple[Edge, ...]] = {}
    broken: dict[str, tuple[Diagnostic, ...]] = {}
    for entity in entities.values():
        good = [(one.field, entities[one.target]) for one in entity.references if one.target in entities]
        edges[entity.id] = tuple(Edge(entity, to, by) for by, to in good)
        lost = [one for one in entity.references if one.target not in entities]
        if lost:
            broken[entity.id] = tuple(_broken(entity, one.field.name, one.target) for one in lost)
    return Bundle(
        name=name,
        kinds={reader.kind.name: reader.kind for reader in readers},
        schemas={reader.kind.name: reader.schema.value for reader in readers if reader.schema is not None},
        entities=entities,
        edges=edges,
        broken=broken,
        diagnostics=tuple(diagnostics),
    )


def as_diagnostic(flaw: Flaw, **about: Any) -> Diagnostic:
    """A flaw as a diagnostic."""
    return Diagnostic(flaw.severity, flaw.reason, flaw.path, **about)


def _schema_flaw(path: str, words: str, entity_type: str | None = None) -> Diagnostic:
    return Diagnostic("error", f"schema: {words}", path, entity_type, sort=DiagnosticSubject.SCHEMA)


def _duplicate(first: Entity, second: Entity) -> Diagnostic:
    words = f"the id '{second.id}' is already that of the {first.type} in {first.file}; this file is left out"
    return Diagnostic("error", words, second.file, second.type, second.id, DiagnosticSubject.DUPLICATE)


def _broken(entity: Entity, name: str, target: str) -> Diagnostic:
    words = f"broken reference: {name} names '{target}', which no entity of the bundle has as its id"
    return Diagnostic("error", words, entity.file, entity.type, entity.id, DiagnosticSubject.REFERENCE)
