"""From files to a bundle: read what is there, say what is wrong, and reuse what has not changed.

A file gives the very same document again while it has not changed: where every document is that of last time,
the last bundle is the answer; else only entities of changed files are checked anew, unless a schema changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from context_pack.bundles.manifest import (
    MANIFEST,
    BundleManifest,
    BundleType,
    read_bundle_type,
    read_manifest,
)
from context_pack.bundles.model import (
    Bundle,
    Diagnostic,
    DiagnosticSubject,
    Edge,
    Entity,
    EntityKind,
    Unloadable,
)
from context_pack.bundles.ports import BundleFiles, Document, Flaw
from context_pack.bundles.references import References
from context_pack.bundles.schemas import SchemaChecker, Schemas, file_of, refs_in
from context_pack.bundles.spelling import last_modified
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath

PULSE = 64
"""Files between two reports of progress."""


@frozen(eq=False)
class BundleHead:
    """The manifest and the bundle type; without both a bundle does not load."""

    sources: tuple[Document | Flaw, ...]
    diagnostics: tuple[Diagnostic, ...]
    manifest: BundleManifest | None = None
    layout: BundleType | None = None


@frozen(eq=False)
class CheckedFile:
    """One file of entities: what it holds, or what is wrong with it."""

    source: Document | Flaw
    entity: Entity | None
    problems: tuple[Diagnostic, ...]


@frozen(eq=False)
class EntityReader:
    """Makes entities of the files of one type."""

    kind: EntityKind
    references: References
    checker: SchemaChecker
    schema: Document | None

    def read(self, file: Document | Flaw) -> CheckedFile:
        """The entity in a file, or what is wrong with the file."""
        kind = self.kind
        if isinstance(file, Flaw):
            return CheckedFile(file, None, (as_diagnostic(file, kind.name),))
        data = file.value
        if not isinstance(data, Mapping):
            words = "$ must be a mapping of fields"
        elif not isinstance(key := data.get(kind.id_field), str) or not key.strip():
            words = f"$.{kind.id_field} must be the id, a text"
        else:
            problems = self.checker.problems(data)
            modified = last_modified(data.get("lastModifiedDate"), file.modified_ns)
            entity = Entity(kind.name, key, data, file.path, modified, self.references.of(data))
            told = (_about(entity, words, DiagnosticSubject.SCHEMA) for words in problems)
            return CheckedFile(file, entity, tuple(told))
        return CheckedFile(file, None, (Diagnostic("error", words, file.path, kind.name),))


@frozen(eq=False)
class Loaded:
    """A bundle with everything it was made of; `heads` are the files besides the entities'."""

    bundle: Bundle | Unloadable
    heads: tuple[Document | Flaw, ...] = ()
    readers: tuple[EntityReader, ...] = ()
    head_diagnostics: tuple[Diagnostic, ...] = ()
    files: Mapping[tuple[str, str], CheckedFile] = field(factory=dict)


def load(
    files: BundleFiles,
    before: Loaded | None,
    name: str,
    pulse: Callable[[int], None],
    check: Callable[[], None] = lambda: None,
) -> Loaded:
    """The bundle in these files; `before` is what they made last time, `name` is for a bundle without one.

    `pulse` hears how many files were looked at, `check` is asked while one takes long; both may raise.
    """
    head = read_head(files, name)
    if head.manifest is None or head.layout is None:
        return Loaded(Unloadable(head.diagnostics))
    by_type, schemas = _read_schemas(files, head.layout)
    heads = (*head.sources, *by_type.values(), *schemas.values())
    if before is not None and before.heads == heads:
        readers, diagnostics, known = before.readers, before.head_diagnostics, before.files
    else:
        readers, flaws = _readers(head.layout, by_type, schemas, check)
        before, diagnostics, known = None, (*head.diagnostics, *flaws), {}
    checked: dict[tuple[str, str], CheckedFile] = {}
    for reader in readers:
        listed = files.folder(reader.kind.directory)
        for file in (listed,) if isinstance(listed, Flaw) else listed:
            if file.path == MANIFEST:
                continue
            if len(checked) % PULSE == 0:
                pulse(len(checked))
            key = (reader.kind.name, file.path)
            same = key in known and known[key].source == file
            checked[key] = known[key] if same else reader.read(file)
    if before is not None and list(checked.values()) == list(known.values()):
        return before
    bundle = _linked(head.manifest.name, readers, checked, diagnostics)
    return Loaded(bundle, heads, readers, diagnostics, checked)


def read_head(files: BundleFiles, name: str) -> BundleHead:
    """The manifest and the bundle type, as far as they can be read."""
    first = files.document(RelativePath(MANIFEST))
    if isinstance(first, Flaw):
        return BundleHead((first,), (as_diagnostic(first),))
    manifest, diagnostics = read_manifest(first.value, name)
    if manifest is None:
        return BundleHead((first,), tuple(diagnostics))
    second = files.document(manifest.type_path)
    if isinstance(second, Flaw):
        return BundleHead((first, second), (*diagnostics, as_diagnostic(second)), manifest)
    layout, more = read_bundle_type(second.value, second.path, manifest)
    return BundleHead((first, second), (*diagnostics, *more), manifest, layout)


def _read_schemas(
    files: BundleFiles, layout: BundleType
) -> tuple[dict[str, Document | Flaw], dict[str, Document | Flaw]]:
    """The schema file of each type that names one, and every file of the bundle that these refer to."""
    by_type = {
        kind.name: files.document(kind.schema_path) for kind in layout.kinds if kind.schema_path is not None
    }
    read: dict[str, Document | Flaw] = {each.path: each for each in by_type.values()}
    waiting = [each for each in read.values() if isinstance(each, Document)]
    while waiting:
        document = waiting.pop(0)
        for ref in refs_in(document.value):
            try:
                path = file_of(ref, document.path)
            except (Failure, ValueError):
                continue  # it leaves the bundle, and leads nowhere
            if path is not None and path.value not in read:
                file = read[path.value] = files.document(path)
                waiting += [file] if isinstance(file, Document) else []
    return by_type, read


def _readers(
    layout: BundleType,
    by_type: Mapping[str, Document | Flaw],
    files: Mapping[str, Document | Flaw],
    check: Callable[[], None],
) -> tuple[tuple[EntityReader, ...], list[Diagnostic]]:
    """A reader for every type, and what is wrong with the schemas."""
    schemas = Schemas({path: each.value for path, each in files.items() if isinstance(each, Document)}, check)
    # A reference may be found by another way than the file it seems to name; if not, that is told.
    flaws = [each for each in by_type.values() if isinstance(each, Flaw)]
    flaws += [each for each in files.values() if isinstance(each, Flaw) and not each.absent]
    diagnostics = [as_diagnostic(flaw) for flaw in dict.fromkeys(flaws)]
    diagnostics += [_schema_flaw(path, words) for path, told in schemas.flaws.items() for words in told]
    readers = []
    for kind in layout.kinds:
        relations = [relation for relation in layout.relations if relation.from_entity == kind.name]
        own = by_type.get(kind.name)
        schema = own if isinstance(own, Document) and isinstance(own.value, Mapping) else None
        path = "" if schema is None else schema.path
        checker = schemas.checker(path)
        value = None if schema is None else schema.value
        references = References(relations, checker, value, schemas.resolver(path))
        readers.append(EntityReader(kind, references, checker, schema))
    return tuple(readers), diagnostics


def _linked(
    name: str,
    readers: tuple[EntityReader, ...],
    checked: Mapping[tuple[str, str], CheckedFile],
    head_diagnostics: tuple[Diagnostic, ...],
) -> Bundle:
    """The bundle of these files: every id once, and every reference an edge or broken."""
    entities: dict[str, Entity] = {}
    diagnostics = list(head_diagnostics)
    for file in checked.values():
        diagnostics.extend(file.problems)
        if file.entity is None:
            continue
        first = entities.setdefault(file.entity.id, file.entity)
        if first is not file.entity:
            owner = f"the id '{first.id}' is already that of the {first.type} in {first.file}"
            words = f"{owner}; this file is left out"
            diagnostics.append(_about(file.entity, words, DiagnosticSubject.DUPLICATE))
    for reader in readers:
        if reader.schema is not None:
            path, name_of_type = reader.schema.path, reader.kind.name
            diagnostics += [_schema_flaw(path, words, name_of_type) for words in reader.checker.flaws]
    edges: dict[str, tuple[Edge, ...]] = {}
    broken: dict[str, tuple[Diagnostic, ...]] = {}
    for entity in entities.values():
        good = [each for each in entity.references if each.target in entities]
        edges[entity.id] = tuple(Edge(entity, entities[each.target], each.field) for each in good)
        lost = [each for each in entity.references if each.target not in entities]
        if lost:
            ends = "which no entity of the bundle has as its id"
            sentences = [
                f"broken reference: {each.field.name} names '{each.target}', {ends}" for each in lost
            ]
            broken[entity.id] = tuple(
                _about(entity, words, DiagnosticSubject.REFERENCE) for words in sentences
            )
    return Bundle(
        name=name,
        kinds={reader.kind.name: reader.kind for reader in readers},
        schemas={reader.kind.name: reader.schema.value for reader in readers if reader.schema is not None},
        entities=entities,
        edges=edges,
        broken=broken,
        diagnostics=tuple(diagnostics),
    )


def as_diagnostic(flaw: Flaw, entity_type: str | None = None) -> Diagnostic:
    """A flaw as a diagnostic."""
    return Diagnostic(flaw.severity, flaw.reason, flaw.path, entity_type)


def _about(entity: Entity, words: str, subject: DiagnosticSubject) -> Diagnostic:
    return Diagnostic("error", words, entity.file, entity.type, entity.id, subject)


def _schema_flaw(path: str, words: str, entity_type: str | None = None) -> Diagnostic:
    return Diagnostic("error", f"schema: {words}", path, entity_type, sort=DiagnosticSubject.SCHEMA)
