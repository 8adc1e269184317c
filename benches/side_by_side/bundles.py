"""What bundles cost, as ratios from one run: growth with size, the second export beside the first, floors.

python benches/side_by_side/bundles.py [--quick]

Bundles of 1 000 and 10 000 entities (200 and 2 000 with --quick) with five references each, written for the
run. Load and a depth-5 export of many targets; the same export again, unchanged and after one file changed;
beside a bare `os.scandir` + stat of the same files (what a second export must do at least) and beside reading
and parsing them with PyYAML's own loader and checking them with jsonschema (what the first must do).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from context_pack.bundles import tools  # noqa: E402
from context_pack.bundles.opening import BundleShelf  # noqa: E402
from context_pack.kernel.paths import PathPolicy  # noqa: E402
from context_pack.toolkit.call import QuietCall  # noqa: E402
from context_pack.toolkit.registry import Registry  # noqa: E402
from context_pack.toolkit.spec import Answer  # noqa: E402
from context_pack_adapters.stores.bundle_files import FileBundleStore  # noqa: E402
from context_pack_adapters.system import SystemClock  # noqa: E402

TYPES = ("Feature", "Requirement", "Component", "Decision", "Actor")
REFERENCES = 5
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["id", "title"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Za-z]+-[0-9]+$"},
        "title": {"type": "string", "minLength": 1},
        "status": {"enum": ["draft", "accepted"]},
        "priority": {"type": "integer", "minimum": 1},
        "description": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "dependsOnIds": {
            "type": "array",
            "title": "Depends on",
            "items": {"type": "string", "x-sdd-refTargets": list(TYPES)},
        },
    },
}


def entity(number: int, targets: list[str], title: str = "") -> str:
    """One entity's file."""
    lines = [
        f"id: {name(number)}",
        f"title: {title or f'The entity number {number} of the bundle'}",
        f"status: {'draft' if number % 3 else 'accepted'}",
        f"priority: {number % 5 + 1}",
        "description: >",
        "  A longer text that says what this is about",
        "  and goes on in a second line.",
        "tags: [alpha, beta, gamma]",
        "dependsOnIds:",
        *(f"  - {target}" for target in targets),
    ]
    return "\n".join(lines) + "\n"


def name(number: int) -> str:
    """The id of an entity."""
    return f"{TYPES[number % len(TYPES)]}-{number}"


def place(root: Path, number: int) -> Path:
    """The file of an entity."""
    return root / "bundle" / TYPES[number % len(TYPES)].lower() / f"{name(number)}.yaml"


def write_bundle(root: Path, count: int) -> None:
    """A bundle of that many entities."""
    draw = random.Random(count)
    schemas = root / "schemas"
    schemas.mkdir(parents=True)
    manifest = "apiVersion: sdd.v1\nkind: Bundle\nmetadata: {name: Bench, bundleType: bench}\n"
    manifest += "spec:\n  bundleTypeDefinition: schemas/bundle-type.json\n"
    (root / "sdd-bundle.yaml").write_text(manifest)
    entities = [
        {
            "entityType": kind,
            "idField": "id",
            "schemaPath": f"schemas/{kind}.json",
            "directory": f"bundle/{kind.lower()}",
        }
        for kind in TYPES
    ]
    (schemas / "bundle-type.json").write_text(json.dumps({"entities": entities, "relations": []}))
    for kind in TYPES:
        (schemas / f"{kind}.json").write_text(json.dumps({**SCHEMA, "title": kind}))
        (root / "bundle" / kind.lower()).mkdir(parents=True)
    for number in range(count):
        targets = [name(draw.randrange(count)) for _ in range(REFERENCES)]
        place(root, number).write_text(entity(number, targets))


class Subject:
    """The tools over one bundle, as a server holds them."""

    def __init__(self, root: Path, count: int) -> None:
        clock = SystemClock()
        made = tools.build(BundleShelf(FileBundleStore(root, PathPolicy())), clock)
        self._registry = Registry({tool.name: tool for tool in made}, list, {}, clock.monotonic)
        self._targets = [
            {"entityType": TYPES[n % len(TYPES)], "entityId": name(n)} for n in range(0, count, count // 20)
        ]

    def export(self) -> Answer:
        """A depth-5 export that reaches most of the bundle."""
        asked = {"targets": self._targets, "dependencyDepth": 5}
        answer = self._registry.call("export_context", asked, QuietCall())
        assert not answer.is_error, answer.text[:500]
        return answer

    def load(self) -> None:
        """One entity without dependencies: little besides the load."""
        asked = {"targets": self._targets[:1], "dependencyDepth": 0, "includeSchemas": False}
        assert not self._registry.call("export_context", asked, QuietCall()).is_error


def took(act: Callable[[], object]) -> float:
    """How long one action takes, in milliseconds."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def stat_walk(root: Path) -> None:
    """The least that a second export has to do: look at every file's state."""
    for folder, _, _ in os.walk(root):
        with os.scandir(folder) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)


def plain_load(root: Path) -> None:
    """The least that a first load has to do: parse and check every file with the packages as they are."""
    import jsonschema
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    check = jsonschema.Draft202012Validator(SCHEMA)
    for path in sorted((root / "bundle").rglob("*.yaml")):
        value = yaml.load(path.read_bytes(), Loader=loader)
        assert not list(check.iter_errors(value))


def shown(label: str, left: float, right: float, bound: str) -> None:
    """One line: two times and their ratio."""
    print(f"  {label:52}{left:10.1f} ms {right:10.1f} ms   ratio {left / right:7.2f}   ({bound})")


def measure(folder: Path, small: int, large: int, rounds: int) -> None:
    """Write, measure, print."""
    roots = {count: folder / str(count) for count in (small, large)}
    for count, root in roots.items():
        write_bundle(root, count)
    time.sleep(0.2)  # older than the timestamp grain, as files at rest are
    print(
        f"bundles of {small} and {large} entities, {REFERENCES} references each, medians of {rounds} rounds"
    )
    plain_load(roots[small])  # the packages are imported, the files are in the cache of the system
    loads: dict[int, list[float]] = {small: [], large: []}
    firsts: dict[int, list[float]] = {small: [], large: []}
    plains: list[float] = []
    for _ in range(rounds):
        for count in (small, large):
            loads[count].append(took(Subject(roots[count], count).load))
            firsts[count].append(took(Subject(roots[count], count).export))
        plains.append(took(lambda: plain_load(roots[large])))
    load, first = (
        {count: statistics.median(times) for count, times in kind.items()} for kind in (loads, firsts)
    )
    subject = Subject(roots[large], large)
    answer = subject.export()
    again = statistics.median(took(subject.export) for _ in range(5 * rounds))
    floor = statistics.median(took(lambda: stat_walk(roots[large])) for _ in range(5 * rounds))
    edited: list[float] = []
    for turn in range(rounds):
        place(roots[large], turn).write_text(entity(turn, [name(turn + 1)], f"Edited {turn}"))
        edited.append(took(subject.export))
    meta = (answer.structured or {})["meta"]
    reached = meta["targetCount"] + meta["dependencyCount"]
    size = len(answer.text) >> 10
    print(f"  the large export: {reached} entities, {meta['relationCount']} relations, {size} KiB")
    growth = large // small
    shown(f"load, {large} beside {small}", load[large], load[small], f"at most {growth * 1.2:.0f}")
    shown(
        f"load and export, {large} beside {small}", first[large], first[small], f"at most {growth * 1.2:.0f}"
    )
    shown("first export beside the second, nothing changed", first[large], again, "at least 10")
    shown("second export beside a bare stat of every file", again, floor, "floor")
    shown("export after one change beside the first", statistics.median(edited), first[large], "below 1")
    shown("load beside PyYAML + jsonschema alone", load[large], statistics.median(plains), "floor")


def main() -> None:
    """Measure in a folder of its own, on the disk that TMPDIR names."""
    quick = "--quick" in sys.argv
    folder = Path(tempfile.mkdtemp(prefix="bundles-"))
    try:
        measure(folder, 200 if quick else 1_000, 2_000 if quick else 10_000, 1 if quick else 3)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
