"""What a manifest and a bundle type say: which types there are, where their files are, how they relate.

Both are files of people and of other tools, so they are read leniently: what is wrong is a diagnostic that
names the file and the place in it (`$.entities[2].entityType`), and the rest counts. Only a manifest without
a bundle type, or a bundle type without a list of entities, makes a bundle that does not load.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from context_pack.bundles.domain.model import BundleSpot, Diagnostic, EntityKind, Relation
from context_pack.kernel.paths import RelativePath

MANIFEST = "sdd-bundle.yaml"
DEFAULT_ID_FIELD = "id"
SCHEMA_PATHS = "$.spec.schemas.documents"


@frozen
class BundleManifest:
    """What `sdd-bundle.yaml` says; paths are as written."""

    name: str
    type_path: str
    schema_paths: Mapping[str, str]
    directories: Mapping[str, str]


@frozen
class BundleType:
    """The types of a bundle in their order, and its declared relations in theirs."""

    kinds: tuple[EntityKind, ...]
    relations: tuple[Relation, ...]


@define
class Complaints:
    """Collects the problems of one file, by place."""

    file: str
    found: list[Diagnostic] = field(factory=list)

    def add(self, place: str, words: str, severity: str = "error") -> None:
        """Add one problem."""
        self.found.append(Diagnostic(severity, f"{place} {words}", self.file))


def read_manifest(value: Any, name: str) -> tuple[BundleManifest | None, list[Diagnostic]]:
    """The manifest that a file's value is, or None; `name` is for a bundle that has none of its own."""
    faults = Complaints(MANIFEST)
    if not isinstance(value, Mapping):
        faults.add("$", "must be a mapping")
        return None, faults.found
    if value.get("kind") != "Bundle":
        faults.add("$.kind", "should be Bundle", "warning")
    spec = _mapping(value, "spec", "$", faults)
    type_path = spec.get("bundleTypeDefinition")
    if not isinstance(type_path, str) or not type_path.strip():
        faults.add("$.spec.bundleTypeDefinition", "must be the path of the bundle type")
        return None, faults.found
    own = _mapping(value, "metadata", "$", faults).get("name")
    schemas = _mapping(_mapping(spec, "schemas", "$.spec", faults), "documents", "$.spec.schemas", faults)
    layout = _mapping(_mapping(spec, "layout", "$.spec", faults), "documents", "$.spec.layout", faults)
    directories = {type_: entry.get("dir") for type_, entry in layout.items() if isinstance(entry, Mapping)}
    return (
        BundleManifest(
            name=own if isinstance(own, str) and own.strip() else name,
            type_path=type_path,
            schema_paths=dict(_texts(schemas, SCHEMA_PATHS, faults)),
            directories={type_: dir_ for type_, dir_ in directories.items() if isinstance(dir_, str)},
        ),
        faults.found,
    )


def read_bundle_type(
    value: Any, file: str, manifest: BundleManifest
) -> tuple[BundleType | None, list[Diagnostic]]:
    """The bundle type that a file's value is, or None."""
    faults = Complaints(file)
    entries = value.get("entities") if isinstance(value, Mapping) else None
    if not isinstance(entries, list):
        faults.add("$.entities", "must be a list of entity types")
        return None, faults.found
    kinds: dict[str, EntityKind] = {}
    for number, entry in enumerate(entries):
        kind = _kind(entry, f"$.entities[{number}]", manifest, faults)
        if kind is not None and kinds.setdefault(kind.name, kind) is not kind:
            faults.add(f"$.entities[{number}].entityType", "names a type a second time; the first one counts")
    relations = value.get("relations")
    if relations is not None and not isinstance(relations, list):
        faults.add("$.relations", "must be a list")
        relations = None
    found = (
        _relation(entry, f"$.relations[{number}]", kinds, faults)
        for number, entry in enumerate(relations or ())
    )
    return BundleType(tuple(kinds.values()), tuple(filter(None, found))), faults.found


def _kind(entry: Any, place: str, manifest: BundleManifest, faults: Complaints) -> EntityKind | None:
    """One type of entity; the manifest's schema path wins, its directory only fills a gap."""
    if not isinstance(entry, Mapping):
        faults.add(place, "must be an object")
        return None
    name = entry.get("entityType")
    if not isinstance(name, str) or not name.strip():
        faults.add(f"{place}.entityType", "must be the name of a type")
        return None
    directory = _text(entry, "directory", place, faults)
    directory_spot = BundleSpot(faults.file, f"{place}.directory")
    if directory is None and name in manifest.directories:
        directory = manifest.directories[name]
        directory_spot = BundleSpot(MANIFEST, f"$.spec.layout.documents.{name}.dir")
    if directory is None:
        faults.add(f"{place}.directory", "must be the folder of the type's files")
        return None
    id_field = _text(entry, "idField", place, faults) or DEFAULT_ID_FIELD
    schema_path, schema_spot = manifest.schema_paths.get(name), BundleSpot(MANIFEST, f"{SCHEMA_PATHS}.{name}")
    if schema_path is None:
        schema_path = _text(entry, "schemaPath", place, faults)
        schema_spot = BundleSpot(faults.file, f"{place}.schemaPath")
    return EntityKind(
        name=name,
        id_field=id_field,
        directory=directory,
        schema_path=schema_path,
        directory_spot=directory_spot,
        schema_spot=schema_spot,
    )


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


def _relation(entry: Any, place: str, kinds: Mapping[str, EntityKind], faults: Complaints) -> Relation | None:
    """One declared relation; its target's type is the owner of the id, so only its source matters."""
    if not isinstance(entry, Mapping):
        faults.add(place, "must be an object")
        return None
    source, field_ = entry.get("fromEntity"), entry.get("fromField")
    if not isinstance(field_, str) or not field_:
        faults.add(f"{place}.fromField", "must be the name of a field")
        return None
    if not isinstance(source, str) or source not in kinds:
        faults.add(f"{place}.fromEntity", "must be the name of a type of this bundle")
        return None
    return Relation(source, field_)


def _mapping(value: Mapping[str, Any], key: str, place: str, faults: Complaints) -> Mapping[str, Any]:
    """The mapping at a key; an empty one if there is none."""
    found = value.get(key)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        faults.add(f"{place}.{key}", "must be a mapping")
        return {}
    return found


def _texts(found: Mapping[str, Any], place: str, faults: Complaints) -> Iterator[tuple[str, str]]:
    for key, value in found.items():
        if isinstance(value, str) and value.strip():
            yield key, value
        else:
            faults.add(f"{place}.{key}", "must be a path")


def _text(entry: Mapping[str, Any], key: str, place: str, faults: Complaints) -> str | None:
    """The text at a key, or None; something else there is complained about."""
    value = entry.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        faults.add(f"{place}.{key}", "must be a text")
        return None
    return value
