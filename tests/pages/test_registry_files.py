"""`server.json` and the `.mcpb` manifest say what is true, by the rules of their published schemas.

`python -m pytest tests/pages --regenerate` writes the tools of the manifest anew.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from inmemory.ports import memory_ports

from context_pack import __version__
from context_pack.app import build
from context_pack_adapters.about import INDEX_NAME, NAME, REPOSITORY, SOURCE
from context_pack_adapters.settings import VARIABLES

PLATFORMS = {"darwin", "linux", "win32"}
EXTRA = re.compile(r"((?:pip|pipx|tool) install\s)'(\.|[\w-]+)\[(\w+)\]'")
"""How a page or a message has an extra of ours installed."""
NAMED = re.compile(
    r"(?:(?:pip3?|pipx|tool) install|pipx run|uvx)(?: -\S+)* '?context[-_]pack\b(?!(?:\[\w+\])? @)"
)
"""An installation of our name from an index."""


def read(checkout: Path, name: str) -> dict[str, Any]:
    """One of the two files."""
    found: dict[str, Any] = json.loads((checkout / "docs/registry" / name).read_text("utf-8"))
    return found


@pytest.fixture
def project(checkout: Path) -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    found: dict[str, Any] = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    return found


@pytest.mark.clause("PG-13")
def test_the_mcp_registry_file_names_the_package_and_its_variables(
    checkout: Path, project: dict[str, Any], regenerate: bool
) -> None:
    server = read(checkout, "server.json")
    if regenerate:
        server["packages"][0]["identifier"] = project["name"]
        text = json.dumps(server, ensure_ascii=False, indent=2)
        (checkout / "docs/registry/server.json").write_text(f"{text}\n", "utf-8")
    assert {"name", "description", "version", "packages"} <= set(server)
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["description"]) <= 100
    assert server["version"] == __version__
    assert server["repository"]["url"].startswith(REPOSITORY)
    (package,) = server["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", project["name"])
    assert package["runtimeHint"] == "uvx"
    assert f"<!-- mcp-name: {server['name']} -->" in (checkout / "README.md").read_text("utf-8")
    assert (package["version"], package["transport"]) == (__version__, {"type": "stdio"})
    assert {each["name"] for each in package["environmentVariables"]} <= variables()


@pytest.mark.clause("PG-13")
def test_the_desktop_bundle_manifest_names_our_tools_and_command(
    checkout: Path, project: dict[str, Any], regenerate: bool
) -> None:
    registry = build(memory_ports({}, None, None, ()))
    tools = [{"name": tool.name, "description": tool.title} for tool in registry.tools.values()]
    manifest = read(checkout, "manifest.json")
    if regenerate:
        manifest["tools"] = tools
        text = json.dumps(manifest, ensure_ascii=False, indent=2)
        (checkout / "docs/registry/manifest.json").write_text(f"{text}\n", "utf-8")
    assert {"manifest_version", "name", "version", "description", "author", "server"} <= set(manifest)
    assert (manifest["name"], manifest["version"]) == (NAME, __version__)
    assert manifest["author"]["name"]
    server = manifest["server"]
    assert (manifest["manifest_version"], server["type"]) == ("0.4", "uv")  # uv brings the dependencies
    assert (checkout / server["entry_point"]).is_file()
    config = server["mcp_config"]
    assert isinstance(config["command"], str)
    assert all(isinstance(each, str) for each in (*config["args"], *config["env"].values()))
    asked = set(re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(config)))
    assert asked == set(manifest["user_config"])
    assert set(config["env"]) <= variables()
    extras = [after for word, after in pairwise(config["args"]) if word == "--extra"]
    assert set(extras) <= set(project["optional-dependencies"])
    assert manifest["tools"] == tools
    assert set(manifest["compatibility"]["platforms"]) <= PLATFORMS
    assert manifest["compatibility"]["runtimes"]["python"] == project["requires-python"]


@pytest.mark.clause("PG-13")
def test_nothing_sends_people_to_a_name_on_an_index_that_we_do_not_hold(
    checkout: Path, project: dict[str, Any], regenerate: bool
) -> None:
    assert project["name"] == (INDEX_NAME or NAME)
    tracked = subprocess.run(["git", "ls-files"], cwd=checkout, capture_output=True, text=True, check=True)
    names = [name for name in tracked.stdout.splitlines() if not name.startswith(("tests/", "benches/"))]
    for path in (checkout / name for name in names if name.endswith((".md", ".py", ".yml", ".json", "file"))):
        text = path.read_text("utf-8") if path.is_file() else ""
        if regenerate and path.suffix == ".md":
            text = EXTRA.sub(rf"\1'{SOURCE}[\3]'", text)
            path.write_text(text, "utf-8")
        assert {found[2] for found in EXTRA.finditer(text)} <= {SOURCE}, path
        assert INDEX_NAME or not NAMED.search(text), path


@pytest.mark.clause("PG-14")
def test_the_workflows_pin_what_they_run_and_publish_without_a_token(checkout: Path) -> None:
    test, release = (
        yaml.safe_load((checkout / f".github/workflows/{name}.yml").read_text("utf-8"))
        for name in ("test", "release")
    )
    jobs = {**test["jobs"], **release["jobs"]}
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert all(set(step) & {"uses", "run"} for step in steps)
    assert {job["runs-on"] for job in jobs.values()} >= {"ubuntu-latest", "windows-latest"}
    matrix = jobs["tests"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert "lowest-direct" in str(jobs["lowest"]["steps"])
    assert test["permissions"] == release["permissions"] == {"contents": "read"}
    publish = jobs["publish"]
    assert (publish["needs"], publish["permissions"]) == ("build", {"id-token": "write"})
    assert "secrets." not in str(jobs)


def variables() -> set[str]:
    """The variables that the server reads."""
    return set(VARIABLES)
