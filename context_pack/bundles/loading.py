"""From files to a bundle: read what is there, say what is wrong; and which bundle a call means.

Bundles are looked for by every call, and what their files say is never older than the call. While a file has
not changed it gives the very same document: where all are those of last time, so is the bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

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
from context_pack.kernel.errors import Code, Failure, clip, invalid
from context_pack.kernel.paths import RelativePath
from context_pack.kernel.text import close
from context_pack.toolkit.call import Call

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
    found = {kind.name: list(_entity_files(files, kind, pulse)) for kind in head.layout.kinds}
    sources = (*head.sources, *by_type.values(), *schemas.values(), *chain.from_iterable(found.values()))
    if before is not None and before.sources == sources:
        return before
    readers, flaws = _readers(head.layout, by_type, schemas, check)
    diagnostics, entities = [*head.diagnostics, *flaws], list[Entity]()
    for reader in readers:
        check()
        read = (reader.read(file, diagnostics) for file in found[reader.kind.name])
        entities += [entity for entity in read if entity is not None]
    return Loaded(_linked(head.manifest.name, readers, entities, diagnostics), sources)


def _entity_files(
    files: BundleFiles, kind: EntityKind, pulse: Callable[[int], None]
) -> Iterator[Document | Flaw]:
    """The files of a type's folder, or why it has none."""
    listed = files.folder(kind.directory)
    for number, file in enumerate((listed,) if isinstance(listed, Flaw) else listed):
        if number % PULSE == 0:
            pulse(number)
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
        references = References(relations, value, schemas.resolver(path), check)
        readers.append(EntityReader(kind, references, checker, schema))
    return tuple(readers), diagnostics


def _linked(
    name: str,
    readers: Sequence[EntityReader],
    found: Sequence[Entity],
    diagnostics: list[Diagnostic],
) -> Bundle:
    """The bundle of these entities: every id once, and every reference an edge or broken."""
    entities: dict[str, Entity] = {}
    for entity in found:
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

MOST_SHOWN = 5
MOST_TYPES = 30
MOST_TOLD = 20
"""The most diagnostics that are added to a not-found error."""


@frozen(eq=False)
class OpenedBundle:
    """A bundle that was asked for, and its id."""

    id: str
    bundle: Bundle


class EntityAddress(NamedTuple):
    """An entity as callers name it."""

    type: str
    id: str


@frozen(eq=False)
class BundleShelf:
    """The bundles that calls can open."""

    store: BundleStore

    def open(self, bundle_id: str | None, call: Call) -> OpenedBundle:
        """The named bundle, or the only one.

        Raises:
            Failure: `not_found`, or `invalid_data` where there are several.
        """
        known = self.store.discover()
        place = self._named(known, bundle_id) if bundle_id else self._only(known)
        bundle = self._loaded(place, call)
        if isinstance(bundle, Unloadable):
            raise _does_not_load(place, bundle.diagnostics)
        return OpenedBundle(place.id, bundle)

    def bundles(self, call: Call) -> list[tuple[BundlePlace, Bundle | Unloadable]]:
        """Every bundle, loaded or not."""
        return [(place, self._loaded(place, call)) for place in self.store.discover().places]

    def _loading(self, known: FoundBundles) -> list[BundlePlace]:
        return [place for place in known.places if read_head(self.store.files(place), place.id).layout]

    def _named(self, known: FoundBundles, bundle_id: str) -> BundlePlace:
        for place in known.places:
            if place.id == bundle_id:
                return place
        message = "there is no bundle of that id; availableBundles are those that load"
        details = {"bundleId": bundle_id, "availableBundles": [place.id for place in self._loading(known)]}
        raise Failure(Code.NOT_FOUND, message, details | _of_search(known))

    def _only(self, known: FoundBundles) -> BundlePlace:
        """The only bundle that loads."""
        loading = self._loading(known)
        if len(loading) == 1:
            return loading[0]
        if loading:
            names = [place.id for place in loading]
            raise invalid(
                "there are several bundles; say which by bundleId", "bundleId", availableBundles=names
            )
        if known.places:
            place = known.places[0]
            raise _does_not_load(place, read_head(self.store.files(place), place.id).diagnostics)
        words = "there is no bundle: no sdd-bundle.yaml in the source root or one folder down"
        if known.diagnostics:  # then it was not looked for there
            words = "there is no bundle where bundles should be; see the diagnostics"
        raise Failure(Code.NOT_FOUND, words, {"availableBundles": [], **_of_search(known)})

    def _loaded(self, place: BundlePlace, call: Call) -> Bundle | Unloadable:
        def pulse(count: int) -> None:
            call.check()
            call.progress(count, None, f"loading {place.id}")

        def make(files: BundleFiles, before: Loaded | None) -> Loaded:
            return load(files, before, place.id, pulse, call.check)

        return self.store.load(place, make, call.check).bundle


def require(bundle: Bundle, bundle_id: str, wanted: Sequence[EntityAddress]) -> list[Entity]:
    """The entities of these addresses, each once.

    Raises:
        Failure: `not_found`, with every missing one in `details.notFound`, and in `details.diagnostics` what
            was wrong with files that may hold them.
    """
    found = {address: bundle.find(address.type, address.id) for address in wanted}
    missing = [address for address, entity in found.items() if entity is None]
    if missing:
        shown = ", ".join(f"{clip(address.type)} {clip(address.id)}" for address in missing[:MOST_SHOWN])
        more = f" and {len(missing) - MOST_SHOWN} more" if len(missing) > MOST_SHOWN else ""
        words = f"not in the bundle: {shown}{more}{_hint(bundle, missing[0])}"
        names = [{"entityType": address.type, "entityId": address.id} for address in missing]
        types = {address.type for address in missing}
        near = [told.record() for told in bundle.diagnostics if told.entity_type in (None, *types)]
        told = {"diagnostics": near[:MOST_TOLD]} if near else {}
        raise Failure(Code.NOT_FOUND, words, {"notFound": names, "bundleId": bundle_id, **told})
    return [entity for entity in found.values() if entity is not None]


def _hint(bundle: Bundle, wanted: EntityAddress) -> str:
    """A suggestion for an unknown entity address."""
    owner = bundle.entities.get(wanted.id)
    if owner is not None:
        return f"; {clip(wanted.id)} is of the type {clip(owner.type)}"
    typed = wanted.type in bundle.kinds
    ids = (one.id for one in bundle.entities.values() if not typed or one.type == wanted.type)
    by_folded = {key.casefold(): key for key in ids}
    near = [clip(by_folded[key]) for key in close(wanted.id.strip().casefold(), by_folded)]
    if near:
        return f"; did you mean {', '.join(near)}?"
    types = list(bundle.kinds)
    more = ", …" if len(types) > MOST_TYPES else ""
    return f"; the types are {', '.join(map(clip, types[:MOST_TYPES]))}{more}" if types and not typed else ""


def _does_not_load(place: BundlePlace, diagnostics: Sequence[Diagnostic]) -> Failure:
    details = {"bundleId": place.id, "diagnostics": [told.record() for told in diagnostics]}
    return Failure(Code.NOT_FOUND, f"the bundle {place.id} does not load; see the diagnostics", details)


def _of_search(known: FoundBundles) -> dict[str, object]:
    told = [diagnostic.record() for diagnostic in known.diagnostics]
    return {"diagnostics": told} if told else {}
