"""The project works however it is had (wheel, sdist, bare checkout), and always as one tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

from context_pack import __version__


def run(
    command: list[str], cwd: Path, env: Mapping[str, str], **options: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env=dict(env), capture_output=True, text=True, timeout=300, check=False, **options
    )


@pytest.fixture(scope="session")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory, clean_env: dict[str, str]) -> Path:
    """A folder with the wheel and the sdist of this tree."""
    out = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        str(out),
        ".",
    ]
    done = run(command, checkout, clean_env)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.mark.clause("PG-06")
def test_the_wheel_holds_the_two_packages_and_nothing_else(wheel: Path, checkout: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    info = f"context_pack-{__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"context_pack", "context_pack_adapters", info}
    shipped = {name for name in names if not name.startswith(info)}
    sources = {
        path.relative_to(checkout / root).as_posix()
        for root, package in ((".", "context_pack"), ("adapters", "context_pack_adapters"))
        for path in (checkout / root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == sources
    assert {"context_pack/py.typed", "context_pack_adapters/py.typed"} <= shipped


def name_of(requirement: str) -> str:
    """The package that a requirement names."""
    return re.split(r"[<>=!~ ;]", requirement)[0].lower()


@pytest.mark.clause("PG-06")
def test_the_wheel_says_what_it_needs_and_carries_its_license(wheel: Path, checkout: Path) -> None:
    info = f"context_pack-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode("utf-8"))
        scripts = archive.read(f"{info}/entry_points.txt").decode("utf-8")
        license_text = archive.read(f"{info}/licenses/LICENSE").decode("utf-8")
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    dependencies = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert {name_of(line) for line in needed} == {name_of(line) for line in dependencies}
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert "context-pack = context_pack.__main__:main" in scripts
    assert license_text.startswith("MIT License")


@pytest.mark.clause("PG-06")
def test_the_sdist_holds_what_a_packager_needs(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    pages = ("README.md", "CONTRACT.md", "docs/security.md", "docs/contract/packs.md")
    for wanted in (*pages, "pyproject.toml", "LICENSE", ".ci/run"):
        assert wanted in names
    for folder in ("context_pack/", "adapters/context_pack_adapters/", "tests/pages/", "benches/"):
        assert any(name.startswith(folder) for name in names), folder
    left_out = re.compile(r"__pycache__|^\.(venv|agents|git/|mypy_cache|ruff_cache)|^dist/")
    assert [name for name in names if left_out.search(name)] == []


@pytest.mark.clause("PG-06")
def test_a_bare_checkout_runs_where_it_stands(checkout: Path, clean_env: dict[str, str]) -> None:
    done = run([sys.executable, "-m", "context_pack", "--version"], checkout, clean_env)
    assert done.returncode == 0, done.stderr
    assert __version__ in done.stdout


def decoy_adapters(folder: Path) -> Path:
    """Adapters of another tree, which say so when they are used."""
    package = folder / "context_pack_adapters"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def open_workspace(*a, **k): raise SystemExit('decoy')\n", "utf-8")
    (package / "cli.py").write_text("def main(argv): raise SystemExit('decoy')\n", "utf-8")
    return folder


@pytest.mark.clause("PG-06")
@pytest.mark.parametrize("order", ["decoy first", "decoy before our own adapters"])
def test_core_and_adapters_come_from_one_tree_whatever_else_is_installed(
    checkout: Path, tmp_path: Path, clean_env: dict[str, str], order: str
) -> None:
    decoy = decoy_adapters(tmp_path / "elsewhere")
    roots = [str(decoy), str(checkout)] + ([str(checkout / "adapters")] if "before" in order else [])
    env = {**clean_env, "PYTHONPATH": os.pathsep.join(roots)}
    done = run([sys.executable, "-m", "context_pack", "--version"], tmp_path, env)
    assert (done.returncode, __version__ in done.stdout) == (0, True), done.stderr
    door = "from context_pack import open_workspace; import context_pack_adapters as a; print(a.__file__)"
    done = run([sys.executable, "-c", door], tmp_path, env)
    assert done.stdout.startswith(str(checkout / "adapters")), done.stdout + done.stderr


@pytest.mark.clause("PG-05")
def test_importing_the_library_touches_nothing(
    tmp_path: Path, checkout: Path, clean_env: dict[str, str]
) -> None:
    probe = (
        "import sys, threading, typing, __future__; before = set(sys.modules); import context_pack;"
        "print(*sorted(set(sys.modules) - before), threading.active_count())"
    )
    done = run([sys.executable, "-c", probe], tmp_path, {**clean_env, "PYTHONPATH": str(checkout)})
    assert done.stdout.strip() == "context_pack 1", done.stderr
    assert list(tmp_path.iterdir()) == []
