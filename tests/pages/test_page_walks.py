"""Walks through each page as a reader would: its blocks in order, in one folder, with what they print.

Commands run in this process wherever they need no shell, so that a page costs seconds. In what a page shows,
`…` stands for any text, and a line that is nothing else for any lines.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import standing_in
from pages import GUIDES, ROOT, Block, blocks, name_of
from postgres_server import Server
from stdio_client import StdioClient

from context_pack_adapters.cli import main

ANY = "…"
NEEDS_A_SHELL = re.compile(r"[|<>&;`]|\$\(")
COMMENT = re.compile(r"\s+# [^'\"]*$")
EXIT_CODE = "; echo $?"
HERE_DOCUMENT = "<< END"
CHANGING = (
    (re.compile(r"pk_[a-z2-7]{8}"), "pk_xxxxxxxx"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "0000-00-00T00:00:00Z"),
    (re.compile(r"ttl_remaining: \d+[mhd]"), "ttl_remaining: some"),
)
PARSERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}
NOT_RUN = ("pip install", "createdb")
SAMPLE = "tests/fixtures/bundles/sample"
NEEDS_POSTGRES = "docs/team.md"
SERVER_TABLES = {"mcpServers", "servers", "context_servers", "mcp_servers", "mcp"}


class Walk:
    """One reader with one page, in one folder."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.folder, self.environ = folder, environ
        self.ran = 0

    def through(self, page: str) -> None:
        """Do what every block says; raises AssertionError where the page is wrong."""
        shown = [*blocks(page), Block("", "", "", "")]
        for block, after in pairwise(shown):
            if block.mark:
                continue
            if block.info == "bash":
                for line in block.text.splitlines():
                    self.succeed(line)
            elif block.info == "console":
                self.converse(block.text)
            elif block.info == "python":
                out = self.python(block.text)
                assert after.info == "text", block.text
                assert_shown(after.text, out, block.text)
            elif block.info in PARSERS:
                assert PARSERS[block.info](block.text)
            else:
                assert block.info == "text", block.info

    def converse(self, text: str) -> None:
        """Commands after `$ `, each with what it prints."""
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            if line.endswith(HERE_DOCUMENT):  # what follows is the file
                text, _, shown = shown.partition("END\n")
                line = f"{line}\n{text}END\n"
            if line.endswith(EXIT_CODE):
                code, out = self.run(line.removesuffix(EXIT_CODE))
                out += f"{code}\n"
            else:
                out = self.succeed(line)
            assert_shown(shown, out, line)

    def succeed(self, line: str) -> str:
        """Run a line that must end with 0; what it printed."""
        code, out = self.run(line)
        assert code == 0, f"{line}: {code}\n{out}"
        return out

    def run(self, line: str) -> tuple[int, str]:
        """Run one line as a shell would; its exit code and what it printed."""
        if line.startswith(NOT_RUN):
            return 0, ""
        self.ran += 1
        line = COMMENT.sub("", line)
        words = shlex.split(line)
        if words[0] in {"export", "unset"}:
            name, _, value = words[1].partition("=")
            if words[0] == "unset":
                del self.environ[name]
            else:
                self.environ.setdefault(name, value)
            return 0, ""
        if words[0] == "context-pack" and not NEEDS_A_SHELL.search(line):
            return self.command(words[1:])
        done = subprocess.run(
            line,
            shell=True,
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def command(self, words: list[str]) -> tuple[int, str]:
        """A command of ours, in this process."""
        with self.place() as out:
            return main(words), out.getvalue()

    def python(self, code: str) -> str:
        """A program, in this process; what it printed."""
        self.ran += 1
        with self.place() as out:
            exec(compile(code, "a page", "exec"), {"__name__": "page"})
            return out.getvalue()

    @contextlib.contextmanager
    def place(self) -> Iterator[io.StringIO]:
        """Be in the reader's folder and environment, with what is printed."""
        out = io.StringIO()
        printed = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
        with standing_in(self.folder, self.environ), printed[0], printed[1]:
            yield out


def settled(text: str) -> str:
    """A text with what changes from run to run made equal."""
    for pattern, instead in CHANGING:
        text = pattern.sub(instead, text)
    return text.strip()


def assert_shown(shown: str, seen: str, about: str) -> None:
    """Raises AssertionError unless the output is as shown."""
    lines = [
        r"(?s:.*?)" if line == ANY else re.escape(line).replace(ANY, ".*")
        for line in settled(shown).splitlines()
    ]
    wanted = "\n".join(lines).replace("(?s:.*?)\n", "(?s:.*?)").replace("\n(?s:.*?)", "(?s:.*)")
    assert re.fullmatch(wanted, settled(seen)), f"{about}\nshown:\n{shown}\nseen:\n{seen}"


@pytest.fixture
def reader_env(checkout: Path, clean_env: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The environment of a reader: an empty home, and a `context-pack` that is this checkout."""
    for folder in ("bin", "home"):
        (tmp_path / folder).mkdir()
    command = tmp_path / "bin/context-pack"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m context_pack "$@"\n', "utf-8")
    command.chmod(0o755)
    return {
        **clean_env,
        "PATH": os.pathsep.join([str(command.parent), clean_env.get("PATH", "")]),
        "PYTHONPATH": str(checkout),
        "HOME": str(tmp_path / "home"),
        "CONTEXT_PACK_CACHE": str(tmp_path / "cache"),
        "CONTEXT_PACK_EMBEDDER": "fast",
    }


@pytest.fixture
def project(tmp_path: Path, checkout: Path) -> Path:
    """A small project to follow a page in."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    for module, name in (("paths.py", "paths.py"), ("times.py", "ttl.py")):
        shutil.copy(checkout / "context_pack/kernel" / module, folder / "src" / name)
    (folder / "README.md").write_text("# A project\n\nIt has a readme.\n", "utf-8")
    return folder


def runnable(text: str) -> Iterator[Block]:
    return (block for block in blocks(text) if not block.mark)


@pytest.mark.parametrize("page", [each for each in GUIDES if name_of(each) != NEEDS_POSTGRES], ids=name_of)
def test_every_example_of_the_page_runs(page: Path, project: Path, reader_env: dict[str, str]) -> None:
    text = page.read_text("utf-8")
    if SAMPLE in text:
        shutil.copytree(ROOT / SAMPLE, project / SAMPLE)
    walk = Walk(project, reader_env)
    walk.through(text)
    assert walk.ran or not any(block.info in {"bash", "console", "python"} for block in runnable(text))


def test_every_example_of_the_team_page_runs(postgres: Server, own_database: str, tmp_path: Path) -> None:
    given = {
        "CONTEXT_PACK_PROJECT": "example.org/shop",
        "CONTEXT_PACK_EMBEDDER": "fast",
        "HOME": str(tmp_path),
    }
    walk = Walk(tmp_path, {**os.environ, **given})
    (tmp_path / "hello.py").write_text("def hello():\n    return 1\n", "utf-8")
    for words in ("create greeting", "add greeting hello.py:1-2"):
        walk.succeed(f"context-pack packs {words}")
    address = postgres.address("postgres", own_database)
    walk.through((ROOT / "docs/team.md").read_text("utf-8").replace("postgresql:///team", address))
    assert walk.ran > 5
    assert "greeting" in walk.succeed("context-pack packs list")


def test_the_demo_shows_what_the_readme_shows(project: Path, reader_env: dict[str, str]) -> None:
    readme = list(blocks((ROOT / "README.md").read_text("utf-8")))
    place = next(place for place, block in enumerate(readme) if block.mark == "ci: demo")
    assert shlex.split(readme[place].text)[-2:] == [".venv/bin/context-pack", "demo"]
    code, out = Walk(project, reader_env).command(["demo"])
    assert code == 0, out
    shown = readme[place + 1]
    assert shown.info == "text"
    structure = re.compile(r"^(\[[A-Z]+\]|#+ [A-Z][a-z]+|- [a-z_]+:)", re.MULTILINE)
    expected = set(structure.findall(shown.text))
    assert {"[LEGEND]", "[CONTENT]"} <= expected
    assert expected <= set(structure.findall(out)), out


def servers(block: Block) -> Iterator[dict[str, Any]]:
    """The server entries of a client configuration; none if it is something else."""
    value = tomllib.loads(block.text) if block.info == "toml" else json.loads(block.text)
    for table in set(value) & SERVER_TABLES:
        yield from value[table].values()


def test_every_client_configuration_starts_the_server(project: Path, reader_env: dict[str, str]) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []
    for page in ("README.md", "docs/clients.md"):
        for block in blocks((ROOT / page).read_text("utf-8")):
            for entry in servers(block) if block.info in {"json", "toml"} else ():
                given = {
                    name: value.replace("${workspaceFolder}", str(project))
                    for name, value in (entry.get("env") or entry["environment"]).items()
                }
                assert given["CONTEXT_PACK_TOOLS"] == "auto"  # as `setup` writes
                command = entry["command"] if isinstance(entry["command"], list) else [entry["command"]]
                started.append(([*command, *entry.get("args", [])], given))
    assert len(started) >= 8
    for number, (command, given) in enumerate(started):
        if (command, given) not in started[:number]:
            with StdioClient(project, command=command, env={**reader_env, **given}) as client:
                client.initialize()
                assert client.request("tools/list")["result"]["tools"]
                assert client.end()[0] == 0
