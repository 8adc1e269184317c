"""The house's sentences about rooms, as failing tests where import-linter cannot say them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE_ROOTS = ("context_pack", "adapters/context_pack_adapters")
MOST_LINES = 450
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}


def modules(root: Path, under: str) -> Iterator[Path]:
    """Every source module of a folder."""
    return iter(sorted((root / under).rglob("*.py")))


def imported(path: Path) -> set[str]:
    """The full names a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def test_every_import_contract_holds(checkout: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout), str(checkout / "adapters")])}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as run; run()",
            "--no-cache",
        ],
        cwd=checkout,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


def test_the_transport_contract_names_every_feature(checkout: Path) -> None:
    rooms = {path.name.removesuffix(".py") for path in (checkout / "context_pack").iterdir()}
    features = {room for room in rooms if (checkout / "context_pack" / room / "tools.py").exists()}
    config = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = [c for c in config["contracts"] if c["name"].startswith("The transport knows")]
    inside = {name for c in config["contracts"] if c["type"] == "layers" for name in c["containers"]}
    assert features
    assert {f"context_pack.{name}" for name in features | {"app"}} <= set(contract["forbidden_modules"])
    assert {f"context_pack.{name}" for name in features} <= inside


def test_a_kernel_module_has_importers_in_two_rooms(checkout: Path) -> None:
    rooms: dict[str, set[str]] = {}
    kernel = [path for path in modules(checkout, "context_pack/kernel") if path.stem != "__init__"]
    for under in SOURCE_ROOTS:
        for path in modules(checkout, under):
            parts = path.relative_to(checkout / under).with_suffix("").parts
            room = parts[0] if under == "context_pack" else f"adapters.{parts[0]}"
            names = imported(path)
            for module in kernel:
                if module != path and f"context_pack.kernel.{module.stem}" in names:
                    rooms.setdefault(module.stem, set()).add(
                        f"kernel.{path.stem}" if room == "kernel" else room
                    )
    alone = {module.stem for module in kernel if len(rooms.get(module.stem, ())) < 2}
    alone -= {"secret_names"}  # the table of `paths`, apart because people look for it
    assert not alone, {name: sorted(rooms.get(name, ())) for name in alone}


@pytest.mark.parametrize("under", SOURCE_ROOTS)
def test_modules_are_short_well_named_and_say_what_they_are(checkout: Path, under: str) -> None:
    complaints: list[str] = []
    for path in modules(checkout, under):
        source = path.read_text("utf-8")
        shown = path.relative_to(checkout).as_posix()
        if source.count("\n") > MOST_LINES:
            complaints.append(f"{shown}: over {MOST_LINES} lines")
        if path.stem in VAGUE_NAMES:
            complaints.append(f"{shown}: a name that says nothing")
        if source.strip() and not ast.get_docstring(ast.parse(source)):
            complaints.append(f"{shown}: no module docstring")
    assert complaints == []


def test_test_files_are_named_by_their_level_and_are_no_packages(checkout: Path) -> None:
    for path in (checkout / "tests/features").glob("*/test_*.py"):
        assert path.stem.startswith(("test_tools", "test_rules", "test_files")), path
    files = [path for path in modules(checkout, "tests") if "features" not in path.parts]
    names = [path.name for path in files if path.stem != "conftest" and path.parent.name != "inmemory"]
    assert sorted(names) == sorted(set(names))
    for folder in ("adapters", "benches", "tests"):
        assert not (checkout / folder / "__init__.py").exists()
