"""Bundles for tests: as values, as files, and a desk for the tools over both."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from file_trees import lay
from inmemory import FixedClock, MemoryPackStore, MemorySourceTree, SeededIds
from inmemory.folders import Mirror

from context_pack.app import build
from context_pack.bundles.loading import load
from context_pack.bundles.model import Bundle, Unloadable
from context_pack.bundles.ports import BundleStore
from context_pack.kernel.paths import PathPolicy
from context_pack.ports import Ports
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack.toolkit.spec import Answer
from context_pack_adapters.bundles.reading import DiskBundleFiles
from context_pack_adapters.bundles.store import FileBundleStore

Files = dict[str, Any]
MANIFEST, TYPE_FILE = "sdd-bundle.yaml", "schemas/bundle-type.json"
SAMPLE = Path(__file__).resolve().parents[1] / "fixtures" / "bundles" / "sample"
UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What YAML takes as an escape only."""
LONG_AGO = 1_700_000_000
"""When the files of a test were last modified, unless it says otherwise: long enough ago to be believed."""


def refs(*targets: str, title: str | None = None) -> dict[str, Any]:
    """The schema of a list of references."""
    schema: dict[str, Any] = {"type": "array", "items": {"type": "string", "x-sdd-refTargets": list(targets)}}
    return schema if title is None else {**schema, "title": title}


def schema(**properties: Any) -> dict[str, Any]:
    """A schema with these properties."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
    }


NODE = schema(id={"type": "string"}, title={"type": "string"}, refs=refs("Node"))


def bundle_files(
    entities: Mapping[str, Sequence[Mapping[str, Any]]],
    schemas: Mapping[str, Any] | None = None,
    relations: Sequence[Mapping[str, Any]] = (),
    id_fields: Mapping[str, str] | None = None,
) -> Files:
    """The files of a bundle: entities by type; types without a schema of their own have `NODE`."""
    ids = id_fields or {}
    known = dict.fromkeys(entities, NODE) | dict(schemas or {})
    files: Files = {
        MANIFEST: {
            "apiVersion": "sdd.v1",
            "kind": "Bundle",
            "metadata": {"name": "Test bundle", "bundleType": "test"},
            "spec": {
                "bundleTypeDefinition": TYPE_FILE,
                "schemas": {"documents": {name: f"schemas/{name}.json" for name in known}},
            },
        },
        TYPE_FILE: {
            "entities": [
                {
                    "entityType": name,
                    "idField": ids.get(name, "id"),
                    "schemaPath": f"schemas/{name}.json",
                    "directory": f"bundle/{name.lower()}",
                    "filePattern": "{id}.yaml",
                }
                for name in entities
            ],
            "relations": [
                {"name": "r", "toEntity": "Node", "multiplicity": "many", **relation}
                for relation in relations
            ],
        },
    }
    files |= {f"schemas/{name}.json": value for name, value in known.items()}
    for name, group in entities.items():
        for number, entity in enumerate(group):
            files[f"bundle/{name.lower()}/{number:04}.yaml"] = dict(entity)
    return files


def nodes(edges: Mapping[str, Iterable[str]]) -> Files:
    """A bundle of one type whose entities refer to each other."""
    return bundle_files(
        {"Node": [{"id": key, "title": key.upper(), "refs": list(to)} for key, to in edges.items()]}
    )


def write_files(folder: Path, files: Mapping[str, Any], modified: float = LONG_AGO) -> Path:
    """Write a bundle; values as JSON, which is YAML too; texts and bytes as they are."""
    lay(folder, {name: _encoded(value) for name, value in files.items()})
    for name in files:
        os.utime(folder / name, (modified, modified))
    return folder


def _encoded(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    text = json.dumps(value, ensure_ascii=False)
    return UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def target(entity_id: str, entity_type: str = "Node") -> dict[str, str]:
    """One entity to export."""
    return {"entityType": entity_type, "entityId": entity_id}


@define
class BundleDesk:
    """The bundle tools over bundles by their ids, or over a store that is given."""

    files: dict[str, Files] = field(factory=dict)
    store: BundleStore | None = None
    clock: FixedClock = field(factory=FixedClock)
    alarms: list[BaseException] = field(factory=list)
    registry: Registry = field(init=False)
    _texts: dict[str, str | bytes] = field(init=False, factory=dict)
    _mirror: Mirror = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._mirror = Mirror(self._texts, LONG_AGO)
        self._write()
        store = FileBundleStore(self._mirror.folder, PathPolicy()) if self.store is None else self.store
        packs = MemoryPackStore(self.clock, SeededIds())
        ports = Ports(self.clock, MemorySourceTree({}), packs, bundles=lambda: store)
        self.registry = build(ports, alarm=lambda _, error: self.alarms.append(error))

    def call(self, tool: str, **arguments: Any) -> Answer:
        """The raw answer; an unforeseen exception fails the test."""
        self._write()
        answer = self.registry.call(tool, arguments, QuietCall(7))
        if self.alarms:
            raise self.alarms[0]
        return answer

    def _write(self) -> None:
        self._texts.clear()
        self._texts.update(
            (f"{bundle}/{name}", _encoded(value))
            for bundle, files in self.files.items()
            for name, value in files.items()
        )
        self._mirror.write()

    def answer(self, tool: str, **arguments: Any) -> Any:
        """The envelope of a successful call, which text and structure agree about."""
        found = self.call(tool, **arguments)
        assert not found.is_error, found.text
        body = json.loads(found.text)
        assert found.structured == body
        assert list(body) == ["ok", "tool", "data", "bundleId", "meta", "diagnostics"]
        assert (body["ok"], body["tool"], body["meta"]["bundleId"]) == (True, tool, body["bundleId"])
        return body

    def export(self, *ids: str, **more: Any) -> Any:
        """The envelope of an export of nodes."""
        return self.answer("export_context", targets=[target(key) for key in ids], **more)

    def refused(self, tool: str, **arguments: Any) -> Any:
        """The error of a refused call: its code, message and details."""
        found = self.call(tool, **arguments)
        assert found.is_error, found.text
        assert found.structured is None
        body = json.loads(found.text)
        assert (list(body), body["ok"], body["tool"]) == (["ok", "tool", "error"], False, tool)
        assert list(body["error"]) == ["code", "message", "details"]
        assert isinstance(body["error"]["details"], dict)
        return body["error"]


def load_files(files: Files) -> Bundle | Unloadable:
    """What the files of a bundle called `one` make."""
    mirror = Mirror({name: _encoded(value) for name, value in files.items()}, LONG_AGO)
    mirror.write()
    return load(DiskBundleFiles(mirror.folder, PathPolicy()), None, "one").bundle


def desk_of(files: Files, **more: Files) -> BundleDesk:
    """A desk over one bundle called `one`, and perhaps others."""
    return BundleDesk({"one": files, **more})


def ids_of(entities: Iterable[Mapping[str, Any]]) -> list[str]:
    """The ids of exported entities."""
    return [entity["id"] for entity in entities]
