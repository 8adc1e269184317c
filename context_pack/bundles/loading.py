"""From files to a bundle: read what is there, say what is wrong; and which bundle a call means.

Bundles are looked for by every call, and what their files say is never older than the call. While a file has
not changed it gives the very same document: where all are those of last time, so is the bundle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from attrs import frozen

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
    Reference,
    Unloadable,
    last_modified,
)
from context_pack.bundles.ports import BundleFiles, BundlePlace, BundleStore, Document, Flaw, FoundBundles
from context_pack.bundles.references import References
from context_pack.bundles.schemas import SchemaChecker, Schemas, file_of, refs_in
from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.toolkit.call import check_call


@frozen(eq=False)
class BundleHead:
    """The manifest and the bundle type; without both a bundle does not load."""

    sources: tuple[Document | Flaw, ...]
    diagnostics: tuple[Diagnostic, ...]
    manifest: BundleManifest | None = None
    layout: BundleType | None = None


@frozen(eq=False)
class EntityReader:
    """Makes entities of the files of one type; a problem of a file goes to `diagnostics`."""

    kind: EntityKind
    references: References
    checker: SchemaChecker
    schema: Document | None

    def read(self, file: Document | Flaw, diagnostics: list[Diagnostic]) -> Entity | None:
        """The entity in a file, if it holds one."""
        kind = self.kind
        if isinstance(file, Flaw):
            diagnostics.append(as_diagnostic(file, kind.name))
            return None
        data = file.value
        if not isinstance(data, Mapping):
            words = "$ must be a mapping of fields"
        elif not isinstance(key := data.get(kind.id_field), str) or not key.strip():
            words = f"$.{kind.id_field} must be the id, a text"
        else:
            modified = last_modified(data.get("lastModifiedDate"), file.modified_ns)
            entity = Entity(kind.name, key, data, file.path, modified, self.references.of(data))
            diagnostics += [
                _about(entity, words, DiagnosticSubject.SCHEMA) for words in self.checker.problems(data)
            ]
            return entity
        diagnostics.append(Diagnostic("error", words, file.path, kind.name))
        return None


@frozen(eq=False)
class Loaded:
    """A bundle with the files that it was made of."""

    bundle: Bundle | Unloadable
    sources: tuple[Document | Flaw, ...] = ()


def load(files: BundleFiles, before: Loaded | None, bundle_id: str) -> Loaded:
    """The bundle of that id in these files; `before` is what they made last time.

    What a call raises that is no longer wanted passes through: files and keywords of schemas ask for it.
    """
    head = read_head(files, bundle_id)
    if head.manifest is None or head.layout is None:
        return Loaded(Unloadable(head.diagnostics))
    by_type, schemas = _read_schemas(files, head.layout)
    by_kind = {kind.name: list(_entity_files(files, kind)) for kind in head.layout.kinds}
    sources = (*head.sources, *by_type.values(), *schemas.values(), *chain.from_iterable(by_kind.values()))
    if before is not None and before.sources == sources:
        return before
    readers, flaws = _readers(head.layout, by_type, schemas)
    diagnostics, entities = [*head.diagnostics, *flaws], list[Entity]()
    for reader in readers:
        read = (reader.read(file, diagnostics) for file in by_kind[reader.kind.name])
        entities += [entity for entity in read if entity is not None]
    return Loaded(_linked(bundle_id, head.manifest.name, readers, entities, diagnostics), sources)


def _entity_files(files: BundleFiles, kind: EntityKind) -> Iterator[Document | Flaw]:
    """The files of a type's folder, or why it has none."""
    listed = files.folder(kind.directory)
    for file in (listed,) if isinstance(listed, Flaw) else listed:
        check_call()
        if file.path != MANIFEST:
            yield file


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
) -> tuple[tuple[EntityReader, ...], list[Diagnostic]]:
    """A reader for every type, and what is wrong with the schemas."""
    schemas = Schemas({path: each.value for path, each in files.items() if isinstance(each, Document)})
    # A reference may be found by another way than the file it seems to name; if not, that is told.
    flaws = [each for each in by_type.values() if isinstance(each, Flaw)]
    flaws += [each for each in files.values() if isinstance(each, Flaw) and not each.absent]
    diagnostics = [as_diagnostic(flaw) for flaw in dict.fromkeys(flaws)]
    for path, words in schemas.flaws.items():
        diagnostics += [_schema_flaw(path, each) for each in words]
    readers = []
    for kind in layout.kinds:
        relations = [relation for relation in layout.relations if relation.from_entity == kind.name]
        own = by_type.get(kind.name)
        schema = own if isinstance(own, Document) and isinstance(own.value, Mapping) else None
        path = "" if schema is None else schema.path
        checker = schemas.checker(path)
        value = None if schema is None else schema.value
        references = References(relations, value, schemas.resolver(path))
        readers.append(EntityReader(kind, references, checker, schema))
    return tuple(readers), diagnostics


def _linked(
    bundle_id: str,
    name: str,
    readers: Sequence[EntityReader],
    read: Sequence[Entity],
    diagnostics: list[Diagnostic],
) -> Bundle:
    """The bundle of these entities: every id once, and every reference an edge or broken."""
    entities: dict[str, Entity] = {}
    for entity in read:
        first = entities.setdefault(entity.id, entity)
        if first is not entity:
            owner = f"the id '{first.id}' is already that of the {first.type} in {first.file}"
            words = f"{owner}; this file is left out"
            diagnostics.append(_about(entity, words, DiagnosticSubject.DUPLICATE))
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
            broken[entity.id] = tuple(_broken(entity, each) for each in lost)
    return Bundle(
        id=bundle_id,
        name=name,
        kinds={reader.kind.name: reader.kind for reader in readers},
        schemas={reader.kind.name: reader.schema.value for reader in readers if reader.schema is not None},
        entities=entities,
        edges=edges,
        broken=broken,
        diagnostics=tuple(diagnostics),
    )


def _broken(entity: Entity, lost: Reference) -> Diagnostic:
    ends = "which no entity of the bundle has as its id"
    words = f"broken reference: {lost.field.name} names '{lost.target}', {ends}"
    return _about(entity, words, DiagnosticSubject.REFERENCE)


def as_diagnostic(flaw: Flaw, entity_type: str | None = None) -> Diagnostic:
    """A flaw as a diagnostic."""
    return Diagnostic(flaw.severity, flaw.reason, flaw.path, entity_type)


def _about(entity: Entity, words: str, subject: DiagnosticSubject) -> Diagnostic:
    return Diagnostic("error", words, entity.file, entity.type, entity.id, subject)


def _schema_flaw(path: str, words: str, entity_type: str | None = None) -> Diagnostic:
    return Diagnostic("error", f"schema: {words}", path, entity_type, sort=DiagnosticSubject.SCHEMA)


# -- which bundle a call means: the named one, or the only one that loads


@frozen(eq=False)
class BundleShelf:
    """The bundles that calls can open."""

    store: BundleStore

    def open(self, bundle_id: str | None) -> Bundle:
        """The named bundle, or the only one.

        Raises:
            Failure: `not_found`, or `invalid_data` where there are several.
        """
        search = self.store.discover()
        place = self._named(search, bundle_id) if bundle_id else self._only(search)
        bundle = self._loaded(place)
        if isinstance(bundle, Unloadable):
            raise _does_not_load(place, bundle.diagnostics)
        return bundle

    def bundles(self) -> list[tuple[BundlePlace, Bundle | Unloadable]]:
        """Every bundle, loaded or not."""
        return [(place, self._loaded(place)) for place in self.store.discover().places]

    def _loading(self, search: FoundBundles) -> list[BundlePlace]:
        return [place for place in search.places if read_head(self.store.files(place), place.id).layout]

    def _named(self, search: FoundBundles, bundle_id: str) -> BundlePlace:
        for place in search.places:
            if place.id == bundle_id:
                return place
        message = "there is no bundle of that id; availableBundles are those that load"
        details = {"bundleId": bundle_id, "availableBundles": [place.id for place in self._loading(search)]}
        raise Failure(Code.NOT_FOUND, message, details | _of_search(search))

    def _only(self, search: FoundBundles) -> BundlePlace:
        """The only bundle that loads."""
        loading = self._loading(search)
        if len(loading) == 1:
            return loading[0]
        if loading:
            names = [place.id for place in loading]
            raise invalid(
                "there are several bundles; say which by bundleId", "bundleId", availableBundles=names
            )
        if search.places:
            place = search.places[0]
            raise _does_not_load(place, read_head(self.store.files(place), place.id).diagnostics)
        words = "there is no bundle: no sdd-bundle.yaml in the source root or one folder down"
        if search.diagnostics:  # then it was not looked for there
            words = "there is no bundle where bundles should be; see the diagnostics"
        raise Failure(Code.NOT_FOUND, words, {"availableBundles": [], **_of_search(search)})

    def _loaded(self, place: BundlePlace) -> Bundle | Unloadable:
        def make(files: BundleFiles, before: Loaded | None) -> Loaded:
            return load(files, before, place.id)

        return self.store.load(place, make).bundle


def _does_not_load(place: BundlePlace, diagnostics: Sequence[Diagnostic]) -> Failure:
    details = {"bundleId": place.id, "diagnostics": [each.record() for each in diagnostics]}
    return Failure(Code.NOT_FOUND, f"the bundle {place.id} does not load; see the diagnostics", details)


def _of_search(search: FoundBundles) -> dict[str, object]:
    diagnostics = [diagnostic.record() for diagnostic in search.diagnostics]
    return {"diagnostics": diagnostics} if diagnostics else {}
