"""Checks the files of one entity type: by its schema, its references and its id field.

The schema files of a bundle, with those they refer to, are one closed world; it is made anew when any of them
has changed, and everything is judged again by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from context_pack.bundles.domain.manifest import BundleType, path_inside
from context_pack.bundles.domain.model import BundleSpot, Diagnostic, DiagnosticSubject, Entity, EntityKind
from context_pack.bundles.domain.modified import last_modified
from context_pack.bundles.domain.references import References
from context_pack.bundles.domain.schema_files import SchemaWorld, file_of, refs_in
from context_pack.bundles.domain.steps import Steps
from context_pack.bundles.domain.validation import Validation
from context_pack.bundles.ports import BundleFiles, Document, Flaw
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath

Found = Document | Flaw


@frozen(eq=False)
class CheckedFile:
    """The result for one file: an entity, or what is wrong with the file."""

    source: Found
    entity: Entity | None
    problems: tuple[Diagnostic, ...]


@frozen(eq=False)
class FileChecker:
    """Checks the files of one type."""

    kind: EntityKind
    references: References
    validation: Validation | None = None
    schema: Mapping[str, Any] | None = None
    schema_file: str = ""

    def check(self, found: Found) -> CheckedFile:
        """Check one file: its entity, or what is wrong with it."""
        name = self.kind.name
        if isinstance(found, Flaw):
            return CheckedFile(found, None, (as_diagnostic(found, entity_type=name),))
        if not isinstance(found.value, Mapping):
            return CheckedFile(found, None, (_wrong(found, name, "$ must be a mapping of fields"),))
        key = found.value.get(self.kind.id_field)
        if not isinstance(key, str) or not key.strip():
            words = f"$.{self.kind.id_field} must be the id, a text"
            return CheckedFile(found, None, (_wrong(found, name, words),))
        problems = () if self.validation is None else self.validation.problems(found.value)
        return CheckedFile(
            found,
            Entity(
                type=name,
                id=key,
                data=found.value,
                file=found.path,
                modified=last_modified(found.value.get("lastModifiedDate"), found.modified_ns),
                references=self.references.of(found.value),
            ),
            tuple(
                Diagnostic("error", words, found.path, name, key, DiagnosticSubject.SCHEMA)
                for words in problems
            ),
        )

    def flaws(self) -> list[Diagnostic]:
        """Problems of the schema that showed while entities were checked by it."""
        flaws = [*([] if self.validation is None else self.validation.flaws), *self.references.flaws]
        return [_schema_flaw(self.schema_file, words, self.kind.name) for words in flaws]


def as_diagnostic(flaw: Flaw, **about: Any) -> Diagnostic:
    """A flaw as a diagnostic."""
    return Diagnostic(flaw.severity, flaw.reason, flaw.path, **about)


def document_at(files: BundleFiles, path: str, spot: BundleSpot) -> Found:
    """The file at a path that another file names; a path that leaves the bundle is that file's flaw."""
    try:
        inside = path_inside(path)
    except Failure as failure:
        return Flaw(spot.file, f"{spot.place} is no path inside the bundle: {failure.message}")
    if inside is None:
        return Flaw(spot.file, f"{spot.place} is the path of a folder")
    return files.document(inside)


@frozen(eq=False)
class SchemaSources:
    """The schema files of a bundle: those of its types, and those that these refer to."""

    found: Mapping[str, Found]
    by_type: Mapping[str, Found]

    @property
    def all(self) -> tuple[Found, ...]:
        """Every file, in the order in which they were met."""
        return (*self.by_type.values(), *self.found.values())

    def checkers(
        self, layout: BundleType, check: Callable[[], None]
    ) -> tuple[dict[str, FileChecker], list[Diagnostic], Steps]:
        """A checker for every type, what is wrong with the schemas, and what counts the steps of them all."""
        documents = {path: found.value for path, found in self.found.items() if isinstance(found, Document)}
        world = SchemaWorld(documents, check)
        flawed = dict.fromkeys(found for found in self.all if isinstance(found, Flaw))
        named = set(self.by_type.values())
        # A reference may be found by another way than the file it seems to name; if not, that is told.
        diagnostics = [as_diagnostic(flaw) for flaw in flawed if flaw in named or not flaw.absent]
        diagnostics += [_schema_flaw(path, words) for path, flaws in world.flaws.items() for words in flaws]
        checkers = {kind.name: self._checker(kind, layout, world) for kind in layout.kinds}
        return checkers, diagnostics, world.steps

    def _checker(self, kind: EntityKind, layout: BundleType, world: SchemaWorld) -> FileChecker:
        relations = [relation for relation in layout.relations if relation.from_entity == kind.name]
        found = self.by_type.get(kind.name)
        if not isinstance(found, Document) or not isinstance(found.value, Mapping):
            return FileChecker(kind, References(relations, None, None, world.steps))
        resolver = world.resolver(found.path) if found.path in world.documents else None
        return FileChecker(
            kind,
            References(relations, found.value, resolver, world.steps),
            Validation(found.path, world),
            found.value,
            found.path,
        )


def read_schemas(files: BundleFiles, layout: BundleType) -> SchemaSources:
    """The schema files of every type, and every file of the bundle that they refer to."""
    by_type: dict[str, Found] = {}
    found: dict[str, Found] = {}
    waiting: list[Document] = []
    for kind in layout.kinds:
        if kind.schema_path is None:
            continue
        one = document_at(files, kind.schema_path, kind.schema_spot)
        by_type[kind.name] = one
        if isinstance(one, Document) and one.path not in found:
            found[one.path] = one
            waiting.append(one)
    while waiting:
        document = waiting.pop(0)
        for ref in refs_in(document.value):
            path = _path_of(ref, document.path)
            if path is None or path.value in found:
                continue
            one = found[path.value] = files.document(path)
            if isinstance(one, Document):
                waiting.append(one)
    return SchemaSources(found, by_type)


def _path_of(ref: str, path: str) -> RelativePath | None:
    """The file that a `$ref` means; one that leaves the bundle means none, and leads nowhere."""
    try:
        return file_of(ref, path)
    except Failure:
        return None


def _wrong(found: Document, entity_type: str, words: str) -> Diagnostic:
    return Diagnostic("error", words, found.path, entity_type)


def _schema_flaw(path: str, words: str, entity_type: str | None = None) -> Diagnostic:
    return Diagnostic("error", f"schema: {words}", path, entity_type, sort=DiagnosticSubject.SCHEMA)
