"""`list_contexts` over 1,000 folders, and loading a bundle beside PyYAML and jsonschema alone.

python benches/side_by_side/contexts.py [--quick]
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml
from wire import ENV, OURS, QUICK, Bounds, Server, measured, took

FOLDERS = 100 if QUICK else 1_000
ENTITIES = 200 if QUICK else 2_000
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Feature",
    "type": "object",
    "required": ["id", "title"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Za-z]+-[0-9]+$"},
        "title": {"type": "string", "minLength": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "dependsOnIds": {"type": "array", "items": {"type": "string", "x-sdd-refTargets": ["Feature"]}},
    },
}
MANIFEST = """apiVersion: sdd.v1
kind: Bundle
metadata: {name: Bench, bundleType: bench}
spec:
  bundleTypeDefinition: schemas/bundle-type.json
"""


def contexts(folder: Path, bounds: Bounds) -> None:
    """A project in which every folder has a context; the first list of a server, and the next."""
    text = (
        '"""Handles the ledger of a window."""\n\n\ndef ledger(count: int) -> int:\n    return count\n'
        + "# x\n" * 900
    )
    for number in range(FOLDERS):
        place = folder / f"area{number % 30}" / f"part{number}"
        place.mkdir(parents=True)
        for name in ("a.py", "b.py", "c.py", "d.py", "e.py"):
            (place / name).write_text(text)
    made = [*OURS, "contexts", "refresh"]
    subprocess.run(made, cwd=folder, env=ENV, check=True, capture_output=True)
    server = Server(OURS, folder)
    server.result("output")  # the tools are loaded
    first = took(lambda: server.result("list_contexts"))
    again = took(lambda: server.result("list_contexts"))
    bounds.show(f"first list of {FOLDERS} folders", first / 1000, "s", most=1)
    bounds.show("the next list", again / 1000, "s")
    server.close()


def bundles(folder: Path, bounds: Bounds) -> None:
    """A bundle with five references for each entity: load and export beside the bare packages."""
    chance, home = random.Random(1), folder / "bundle" / "feature"
    (folder / "schemas").mkdir()
    home.mkdir(parents=True)
    (folder / "sdd-bundle.yaml").write_text(MANIFEST)
    kind = {
        "entityType": "Feature",
        "idField": "id",
        "schemaPath": "schemas/f.json",
        "directory": "bundle/feature",
    }
    (folder / "schemas" / "bundle-type.json").write_text(json.dumps({"entities": [kind], "relations": []}))
    (folder / "schemas" / "f.json").write_text(json.dumps(SCHEMA))
    for number in range(ENTITIES):
        others = ", ".join(f"Feature-{chance.randrange(ENTITIES)}" for _ in range(5))
        text = f"id: Feature-{number}\ntitle: The entity number {number}\ndependsOnIds: [{others}]\n"
        (home / f"Feature-{number}.yaml").write_text(text)
    check = jsonschema.Draft202012Validator(SCHEMA)

    def bare() -> None:
        for path in home.iterdir():
            assert not list(check.iter_errors(yaml.safe_load(path.read_bytes())))

    server = Server(OURS, folder)
    server.result("output")
    targets = [{"entityType": "Feature", "entityId": f"Feature-{number}"} for number in range(20)]
    ours = took(lambda: server.result("export_context", targets=targets, dependencyDepth=2))
    bounds.show(f"export from {ENTITIES} entities beside PyYAML + jsonschema", ours / took(bare), "times")
    server.close()


if __name__ == "__main__":
    sys.exit(measured(contexts, bundles))
