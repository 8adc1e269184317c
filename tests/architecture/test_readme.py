"""The README's blocks run: commands, library use with its output, and every client configuration."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from markdown_it import MarkdownIt

Ask = Callable[..., dict[int, dict[str, Any]]]

ORDER = (
    "what",
    "install",
    "first result",
    "connect",
    "library",
    "command line",
    "environment",
    "where",
    "test",
)
NOT_RUN_HERE = ("pip install", "claude mcp add", "codex mcp add")
SERVER_TABLES = {"mcpServers", "servers", "context_servers", "mcp_servers", "mcp"}
CHANGING = (
    (re.compile(r"pk_[a-z2-7]{8}"), "pk_xxxxxxxx"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "0000-00-00T00:00:00Z"),
)


class Block(NamedTuple):
    """A fence: what it is, what it holds, the section it stands in, and a `<!-- ci: … -->` mark before it."""

    info: str
    text: str
    section: str
    mark: str


def blocks(readme: str) -> Iterator[Block]:
    """Every fence of the README in order."""
    section, mark = "", ""
    tokens = MarkdownIt("commonmark").parse(readme)
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            section = tokens[index + 1].content
        elif token.type == "html_block":
            found = re.search(r"<!-- ci: (\w+) -->", token.content)
            mark = found[1] if found else ""
        elif token.type == "fence":
            yield Block(token.info.strip(), token.content, section, mark)
            mark = ""


@pytest.fixture(scope="module")
def readme(checkout: Path) -> list[Block]:
    return list(blocks((checkout / "README.md").read_text("utf-8")))


@pytest.fixture
def shell_env(checkout: Path, clean_env: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """An environment whose `context-pack` is this checkout."""
    shims = tmp_path / "bin"
    shims.mkdir()
    command = shims / "context-pack"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m context_pack "$@"\n', "utf-8")
    command.chmod(0o755)
    path = os.pathsep.join([str(shims), clean_env.get("PATH", "")])
    return {**clean_env, "PATH": path, "PYTHONPATH": str(checkout)}


@pytest.fixture
def project(tmp_path: Path, checkout: Path) -> Path:
    """A small project to run the README's commands in."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    for name in ("paths.py", "ttl.py"):
        (folder / "src" / name).write_text(
            (checkout / "context_pack/kernel" / name).read_text("utf-8"), "utf-8"
        )
    (folder / "README.md").write_text("# A project\n\nIt has a readme.\n", "utf-8")
    return folder


def settled(text: str) -> str:
    """A text with what changes from run to run made equal."""
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return text.strip()


def test_the_sections_stand_in_the_house_order(checkout: Path) -> None:
    headings = re.findall(r"^## (.+)$", (checkout / "README.md").read_text("utf-8"), re.MULTILINE)
    places = [
        next((place for place, heading in enumerate(headings) if word in heading.lower()), None)
        for word in ORDER
    ]
    assert None not in places, dict(zip(ORDER, places, strict=True))
    assert places == sorted(place for place in places if place is not None)


def test_every_block_is_of_a_kind_that_is_checked(readme: list[Block]) -> None:
    assert {block.info for block in readme} <= {"bash", "python", "text", "json", "toml"}


@pytest.mark.parametrize("mark", ["demo", "test"])
def test_the_two_setup_commands_are_one_line_each_and_ci_runs_them(
    readme: list[Block], checkout: Path, mark: str
) -> None:
    (block,) = [block for block in readme if block.mark == mark]
    assert block.text.count("\n") == 1
    assert block.text.startswith("python3 -m venv .venv && ")
    assert f"as_readme_says {mark}" in (checkout / ".ci/run").read_text("utf-8")


def test_the_demo_shows_what_the_readme_shows(
    readme: list[Block], project: Path, shell_env: dict[str, str]
) -> None:
    place = next(place for place, block in enumerate(readme) if block.mark == "demo")
    assert shlex.split(readme[place].text)[-2:] == [".venv/bin/context-pack", "demo"]
    done = subprocess.run(
        ["context-pack", "demo"], cwd=project, env=shell_env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = readme[place + 1]
    assert shown.info == "text"
    structure = re.compile(r"^(\[[A-Z]+\]|#+ [A-Z][a-z]+|- [a-z_]+:)", re.MULTILINE)
    expected = set(structure.findall(shown.text))
    assert {"[LEGEND]", "[CONTENT]"} <= expected
    assert expected <= set(structure.findall(done.stdout)), done.stdout


def test_the_library_lines_print_what_the_readme_says(
    readme: list[Block], project: Path, shell_env: dict[str, str]
) -> None:
    places = [place for place, block in enumerate(readme) if block.info == "python"]
    assert places
    for place in places:
        code = readme[place].text
        assert len([line for line in code.splitlines() if line.strip()]) <= 8
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=project,
            env=shell_env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert readme[place + 1].info == "text"
        assert settled(done.stdout) == settled(readme[place + 1].text)


def test_the_commands_of_the_readme_work(
    readme: list[Block], project: Path, shell_env: dict[str, str]
) -> None:
    ran = 0
    for block in readme:
        if block.info != "bash" or block.mark:
            continue
        for line in block.text.splitlines():
            command = line.partition(" # ")[0].strip()
            if command.startswith(NOT_RUN_HERE):
                continue
            assert command.startswith("context-pack"), command
            done = subprocess.run(
                command,
                shell=True,
                cwd=project,
                env=shell_env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
            ran += 1
    assert ran


def test_the_walk_through_a_bundle_prints_what_the_readme_says(
    readme: list[Block], checkout: Path, shell_env: dict[str, str], tmp_path: Path
) -> None:
    (place,) = [place for place, block in enumerate(readme) if block.mark == "bundles"]
    script = readme[place].text.replace("/tmp/", f"{tmp_path}/")
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=checkout,
        env=shell_env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert readme[place + 1].info == "text"
    assert done.stdout.replace(f"{tmp_path}/", "/tmp/") == readme[place + 1].text


def servers(block: Block) -> Iterator[dict[str, Any]]:
    """The server entries of a client configuration."""
    value = tomllib.loads(block.text) if block.info == "toml" else json.loads(block.text)
    (table,) = set(value) & SERVER_TABLES
    yield from value[table].values()


def test_every_client_configuration_starts_the_server(
    readme: list[Block], project: Path, shell_env: dict[str, str], ask_server: Ask
) -> None:
    configured = [
        block for block in readme if "connect" in block.section.lower() and block.info in {"json", "toml"}
    ]
    assert len(configured) >= 4
    for block in configured:
        for entry in servers(block):
            given = {
                name: value.replace("${workspaceFolder}", str(project))
                for name, value in entry.get("env", {}).items()
            }
            command = entry["command"] if isinstance(entry["command"], list) else [entry["command"]]
            replies = ask_server([*command, *entry.get("args", [])], project, {**shell_env, **given})
            assert replies[2]["result"]["tools"], block.text


def test_every_run_time_package_is_named_with_a_reason(checkout: Path) -> None:
    text = (checkout / "README.md").read_text("utf-8")
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
    packages = list(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        packages += extra
    names = {re.split(r"[<>=\[ ]", package)[0] for package in packages}
    unexplained = {
        name for name in names if not re.search(rf"^\| .*`{re.escape(name)}`.* \| \S", text, re.MULTILINE)
    }
    assert sorted(unexplained) == []


def test_every_variable_that_is_read_is_in_the_environment_table(checkout: Path) -> None:
    text = (checkout / "README.md").read_text("utf-8")
    shown = set(re.findall(r"^\| `(CONTEXT_PACK_[A-Z_]+)` \|", text, re.MULTILINE))
    read: set[str] = set()
    for path in (checkout / "adapters").rglob("*.py"):
        read |= set(re.findall(r"[\"'](CONTEXT_PACK_[A-Z_]+)[\"']", path.read_text("utf-8")))
    assert shown == read
