"""What a manifest and a bundle type say: which types there are, where their files are, how they relate.

Both are files of people and of other tools, so they are read leniently: what is wrong is a diagnostic that
names the file and the place in it (`$.entities[2].entityType`), and the rest counts. Only a manifest without
a bundle type, or a bundle type without a list of entities, makes a bundle that does not load.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from context_pack.bundles.model import Diagnostic, EntityKind, Relation
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import RelativePath

MANIFEST = "sdd-bundle.yaml"
DEFAULT_ID_FIELD = "id"


@frozen
class BundleManifest:
    """What `sdd-bundle.yaml` says; a folder that is None is the bundle itself."""

    name: str
    type_path: RelativePath
    schema_paths: Mapping[str, RelativePath]
    directories: Mapping[str, RelativePath | None]


@frozen
class BundleType:
    """The types of a bundle in their order, and its declared relations in theirs."""

    kinds: tuple[EntityKind, ...]
    relations: tuple[Relation, ...]


@define
class Complaints:
    """Reads values of one file, and collects what is wrong with them, by place."""

    file: str
    diagnostics: list[Diagnostic] = field(factory=list)

    def add(self, place: str, words: str, severity: str = "error") -> None:
        """Add one problem."""
        self.diagnostics.append(Diagnostic(severity, f"{place} {words}", self.file))

    def mapping(self, value: Mapping[str, Any], key: str, place: str) -> Mapping[str, Any]:
        """The mapping at a key; an empty one if there is none."""
        inner = value.get(key)
        if inner is not None and not isinstance(inner, Mapping):
            self.add(f"{place}.{key}", "must be a mapping")
        return inner if isinstance(inner, Mapping) else {}

    def text(self, value: Mapping[str, Any], key: str, place: str, what: str, needed: bool = False) -> str:
        """The text at a key, empty if there is none; something else there is complained about."""
        inner = value.get(key)
        if isinstance(inner, str) and inner.strip():
            return inner
        if needed or inner is not None:
            self.add(f"{place}.{key}", f"must be {what}")
        return ""

    def folder(self, text: str, place: str) -> tuple[RelativePath | None] | None:
        """The folder that a text names, alone in a tuple; None, and a complaint, if it names none."""
        try:
            return (path_inside(text),)
        except Failure as failure:
            self.add(place, f"is no path inside the bundle: {failure.message}")
            return None

    def file_path(self, text: str, place: str) -> RelativePath | None:
        """The file that a text names; None, and a complaint, if it names none."""
        path = self.folder(text, place)
        if path == (None,):
            self.add(place, "is the path of a folder")
        return path[0] if path else None


def read_manifest(value: Any, name: str) -> tuple[BundleManifest | None, list[Diagnostic]]:
    """The manifest that a file's value is, or None; `name` is for a bundle that has none of its own."""
    faults = Complaints(MANIFEST)
    if not isinstance(value, Mapping):
        faults.add("$", "must be a mapping")
        return None, faults.diagnostics
    if value.get("kind") != "Bundle":
        faults.add("$.kind", "should be Bundle", "warning")
    spec = faults.mapping(value, "spec", "$")
    type_text = faults.text(
        spec, "bundleTypeDefinition", "$.spec", "the path of the bundle type", needed=True
    )
    type_path = faults.file_path(type_text, "$.spec.bundleTypeDefinition") if type_text else None
    if type_path is None:
        return None, faults.diagnostics
    own = faults.mapping(value, "metadata", "$").get("name")
    schema_texts = faults.mapping(faults.mapping(spec, "schemas", "$.spec"), "documents", "$.spec.schemas")
    layout = faults.mapping(faults.mapping(spec, "layout", "$.spec"), "documents", "$.spec.layout")
    place = "$.spec.schemas.documents"
    texts = {type_: faults.text(schema_texts, type_, place, "a path", needed=True) for type_ in schema_texts}
    schemas = {type_: faults.file_path(text, f"{place}.{type_}") for type_, text in texts.items() if text}
    written = {type_: entry.get("dir") for type_, entry in layout.items() if isinstance(entry, Mapping)}
    folders = {
        type_: faults.folder(text, f"$.spec.layout.documents.{type_}.dir")
        for type_, text in written.items()
        if isinstance(text, str)
    }
    return (
        BundleManifest(
            name=own if isinstance(own, str) and own.strip() else name,
            type_path=type_path,
            schema_paths={type_: path for type_, path in schemas.items() if path is not None},
            directories={type_: path[0] for type_, path in folders.items() if path is not None},
        ),
        faults.diagnostics,
    )


def read_bundle_type(
    value: Any, file: str, manifest: BundleManifest
) -> tuple[BundleType | None, list[Diagnostic]]:
    """The bundle type that a file's value is, or None."""
    faults = Complaints(file)
    entries = value.get("entities") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        faults.add("$.entities", "must be a list of entity types")
        return None, faults.diagnostics
    kinds: dict[str, EntityKind] = {}
    for number, entry in enumerate(entries):
        kind = _kind(entry, f"$.entities[{number}]", manifest, faults)
        if kind is not None and kinds.setdefault(kind.name, kind) is not kind:
            faults.add(f"$.entities[{number}].entityType", "names a type a second time; the first one counts")
    relations = value.get("relations")
    if relations is not None and not isinstance(relations, list):
        faults.add("$.relations", "must be a list")
        relations = None
    declared = [
        _relation(entry, f"$.relations[{number}]", kinds, faults)
        for number, entry in enumerate(relations or ())
    ]
    return BundleType(tuple(kinds.values()), tuple(filter(None, declared))), faults.diagnostics


def _kind(entry: Any, place: str, manifest: BundleManifest, faults: Complaints) -> EntityKind | None:
    """One type of entity; the manifest's schema path wins, its directory only fills a gap."""
    if not isinstance(entry, Mapping):
        faults.add(place, "must be an object")
        return None
    name = faults.text(entry, "entityType", place, "the name of a type", needed=True)
    if not name:
        return None
    own = faults.text(entry, "directory", place, "a text")
    directory = faults.folder(own, f"{place}.directory") if own else None
    if not own and name in manifest.directories:
        directory = (manifest.directories[name],)
    elif not own:
        faults.add(f"{place}.directory", "must be the folder of the type's files")
    id_field = faults.text(entry, "idField", place, "a text") or DEFAULT_ID_FIELD
    schema_path = manifest.schema_paths.get(name)
    if schema_path is None and (text := faults.text(entry, "schemaPath", place, "a text")):
        schema_path = faults.file_path(text, f"{place}.schemaPath")
    return None if directory is None else EntityKind(name, id_field, directory[0], schema_path)


def _relation(entry: Any, place: str, kinds: Mapping[str, EntityKind], faults: Complaints) -> Relation | None:
    """One declared relation; its target's type is the owner of the id, so only its source matters."""
    if not isinstance(entry, Mapping):
        faults.add(place, "must be an object")
        return None
    name = faults.text(entry, "fromField", place, "the name of a field", needed=True)
    source = entry.get("fromEntity")
    if name and (not isinstance(source, str) or source not in kinds):
        faults.add(f"{place}.fromEntity", "must be the name of a type of this bundle")
    return Relation(source, name) if name and isinstance(source, str) and source in kinds else None


def path_inside(text: str) -> RelativePath | None:
    """A path of a manifest, with `..` followed as long as it stays inside; None is the bundle itself.

    Raises:
        Failure: the path is absolute, or leaves the bundle.
    """
    path = text.strip().replace("\\", "/")
    if ".." in path.split("/") and not path.startswith("/"):
        path = posixpath.normpath(path)
    parts = path.split("/")
    if parts[0] == "." and all(part in ("", ".") for part in parts):
        return None
    return RelativePath.lenient(path)
