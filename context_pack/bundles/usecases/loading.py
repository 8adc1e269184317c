"""From files to a bundle: read what is there, say what is wrong, and reuse whatever has not changed.

A file is judged once: its entity, its references and what its schema finds wrong are kept with the document
they were made of. When no document is another one than last time, the last bundle itself is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

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
from context_pack.bundles.domain.steps import Steps
from context_pack.bundles.ports import BundleFiles, Flaw, is_same
from context_pack.bundles.usecases.file_checks import (
    CheckedFile,
    FileChecker,
    Found,
    as_diagnostic,
    document_at,
    read_schemas,
)
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath

PULSE = 64
"""Files between two checks for cancellation of a load."""

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
class Loaded:
    """A bundle with everything it was made of; `heads` are the files besides the entities'."""

    bundle: Bundle | Unloadable
    heads: tuple[Found, ...] = ()
    checkers: Mapping[str, FileChecker] = field(factory=dict)
    head_diagnostics: tuple[Diagnostic, ...] = ()
    files: Mapping[tuple[str, str], CheckedFile] = field(factory=dict)
    steps: Steps = field(factory=Steps)


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
    schemas = read_schemas(files, head.layout)
    heads = (*head.sources, *schemas.all)
    if before is None or not _same(before.heads, heads):
        checkers, flaws, steps = schemas.checkers(head.layout, check)
        before = None
    else:
        checkers, flaws, steps = dict(before.checkers), [], before.steps
    troubles = (*head.diagnostics, *flaws) if before is None else before.head_diagnostics
    known: Mapping[tuple[str, str], CheckedFile] = {} if before is None else before.files
    checked: dict[tuple[str, str], CheckedFile] = {}
    steps.begin(check)
    for checker in checkers.values():
        for found in _files_of(files, checker.kind):
            if len(checked) % PULSE == 0:
                pulse(len(checked))
            key = (checker.kind.name, found.path)
            same = key in known and is_same(known[key].source, found)
            checked[key] = known[key] if same else checker.check(found)
    if (
        before is not None
        and len(checked) == len(known)
        and all(checked[key] is known.get(key) for key in checked)
    ):
        return before
    bundle = linked(head.manifest.name, checkers, checked, troubles)
    return Loaded(bundle, heads, checkers, troubles, checked, steps)


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


def linked(
    name: str,
    checkers: Mapping[str, FileChecker],
    checked: Mapping[tuple[str, str], CheckedFile],
    troubles: Iterable[Diagnostic],
) -> Bundle:
    """The bundle of these files: every id once, and every reference an edge or broken."""
    entities: dict[str, Entity] = {}
    diagnostics = list(troubles)
    for one in checked.values():
        diagnostics.extend(one.problems)
        if one.entity is not None:
            first = entities.setdefault(one.entity.id, one.entity)
            if first is not one.entity:
                diagnostics.append(_duplicate(first, one.entity))
    for checker in checkers.values():
        diagnostics.extend(checker.flaws())
    edges: dict[str, tuple[Edge, ...]] = {}
    broken: dict[str, tuple[Diagnostic, ...]] = {}
    for entity in entities.values():
        good = [(reference, entities.get(reference.target)) for reference in entity.references]
        edges[entity.id] = tuple(
            Edge(entity, to, reference.field) for reference, to in good if to is not None
        )
        lost = [
            _broken(entity, reference.field.name, reference.target) for reference, to in good if to is None
        ]
        if lost:
            broken[entity.id] = tuple(lost)
    return Bundle(
        name=name,
        kinds={checker.kind.name: checker.kind for checker in checkers.values()},
        schemas={type_: checker.schema for type_, checker in checkers.items() if checker.schema is not None},
        entities=entities,
        edges=edges,
        broken=broken,
        diagnostics=tuple(diagnostics),
    )


def _duplicate(first: Entity, second: Entity) -> Diagnostic:
    words = f"the id '{second.id}' is already that of the {first.type} in {first.file}; this file is left out"
    return Diagnostic("error", words, second.file, second.type, second.id, DiagnosticSubject.DUPLICATE)


def _broken(entity: Entity, name: str, target: str) -> Diagnostic:
    words = f"broken reference: {name} names '{target}', which no entity of the bundle has as its id"
    return Diagnostic("error", words, entity.file, entity.type, entity.id, DiagnosticSubject.REFERENCE)


def _same(ones: tuple[Found, ...], others: tuple[Found, ...]) -> bool:
    """Whether nothing has changed between two readings."""
    return len(ones) == len(others) and all(map(is_same, ones, others))
