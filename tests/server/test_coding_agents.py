"""The real coding agents from npm call the real server, led by a scripted model: what reaches the model?

An agent is looked for in the folder that CONTEXT_PACK_TEST_AGENTS names (`node_modules/.bin`), then on PATH.
Each has a home of its own and may reach nothing but the model on 127.0.0.1: that is its proxy, too, and
refuses. Every agent plays the same script in one run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from scripted_model import SERVER, Script, ScriptedModel, serving
from stdio_client import PRIVATE, ROOT, environment

FUNCTIONS = 3_400
"""In the long file: 200 KB."""
REFS = 30
RUN_SECONDS = 300
START = "import runpy, sys; sys.path[:0] = {path}; runpy.run_module('context_pack', run_name='__main__')"
"""Agents do not pass on every variable, PYTHONPATH is one of those."""

Json = dict[str, Any]


def source() -> str:
    """A file of 200 KB."""
    return "".join(
        f"def function_{number}(value):  # grep me\n    return value * {number}\n"
        for number in range(FUNCTIONS)
    )


@frozen
class Setup:
    """How an agent is started: its words, its variables and its files below a home of its own."""

    words: Sequence[str]
    variables: dict[str, str]
    files: dict[str, str]


def started() -> Json:
    """How every agent starts our server."""
    path = [str(ROOT), str(ROOT / "adapters")]
    variables = {PRIVATE: environment()[PRIVATE], "CONTEXT_PACK_EMBEDDER": "fast"}
    return {"command": sys.executable, "args": ["-c", START.format(path=path)], "env": variables}


def claude(url: str) -> Setup:
    """Claude Code; without the last variable it asks its model before it knows our tools."""
    words = ["-p", "go", "--mcp-config", "mcp.json", "--strict-mcp-config", "--model", "claude-sonnet-4-5"]
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
    variables = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(quiet, "1")}
    servers = {"mcpServers": {SERVER: started()}}
    return Setup(
        [*words, "--allowedTools", f"mcp__{SERVER}"],
        {**variables, "MCP_CONNECTION_NONBLOCKING": "0"},
        {"project/mcp.json": json.dumps(servers)},
    )


def codex(url: str) -> Setup:
    """Codex."""
    server = started()
    provider = f'name = "scripted"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
    config = (
        'model = "scripted"\nmodel_provider = "scripted"\napproval_policy = "never"\n'
        "check_for_update_on_startup = false\n[analytics]\nenabled = false\n"
        f"[model_providers.scripted]\n{provider}"
        f'[mcp_servers.{SERVER}]\ndefault_tools_approval_mode = "approve"\n'
        f"command = {json.dumps(server['command'])}\nargs = {json.dumps(server['args'])}\n"
        f"[mcp_servers.{SERVER}.env]\n"
    ) + "".join(f"{name} = {json.dumps(value)}\n" for name, value in server["env"].items())
    return Setup(["exec", "--skip-git-repo-check", "go"], {}, {".codex/config.toml": config})


def gemini(url: str) -> Setup:
    """Gemini CLI."""
    settings = {
        "mcpServers": {SERVER: {**started(), "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    }
    variables = {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    words = ["-p", "go", "--yolo", "--model", "gemini-2.5-pro"]
    return Setup(words, variables, {".gemini/settings.json": json.dumps(settings)})


def opencode(url: str) -> Setup:
    """opencode."""
    server = started()
    command = [server["command"], *server["args"]]
    model = {"name": "scripted", "limit": {"context": 1_000_000, "output": 10_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted",
        "provider": {"scripted": provider},
        "mcp": {SERVER: {"type": "local", "command": command, "environment": server["env"]}},
    }
    quiet = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    variables = {f"OPENCODE_DISABLE_{name}": "1" for name in quiet}
    return Setup(["run", "go"], variables, {".config/opencode/opencode.json": json.dumps(config)})


AGENTS: dict[str, Callable[[str], Setup]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}


def command_of(agent: str) -> str:
    """Where an agent is; whoever has none skips."""
    folder = os.environ.get("CONTEXT_PACK_TEST_AGENTS")
    found = shutil.which(agent, path=os.pathsep.join(filter(None, (folder, os.environ.get("PATH")))))
    if found is None:
        pytest.skip(f"{agent} is neither on PATH nor in the folder that CONTEXT_PACK_TEST_AGENTS names")
    return found


def play(agent: str, home: Path, script: Script) -> ScriptedModel:
    """Let an agent make the calls of a script; it must come to its end."""
    command = command_of(agent)
    project = home / "project"
    project.mkdir()
    (project / "long.py").write_text(source(), "utf-8")
    with serving(script) as model:
        setup = AGENTS[agent](model.url)
        for name, text in setup.files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, "utf-8")
        proxies = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), model.url)
        direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        done = subprocess.run(
            [command, *setup.words],
            cwd=project,
            env={"PATH": os.environ["PATH"], "HOME": str(home), **setup.variables, **proxies, **direct},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=RUN_SECONDS,
            check=False,
        )
    if model.failure is not None:
        raise model.failure
    assert model.finished, (done.returncode, model.shown[-1:], done.stdout[-2000:], done.stderr[-2000:])
    return model


def thirty_refs() -> list[Json]:
    """Operations that make a section with thirty refs of forty lines each."""
    operations: list[Json] = [{"action": "upsert_section", "section_key": "all", "section_title": "All"}]
    for number in range(REFS):
        place = {"path": "long.py", "line_start": 1 + number * 80, "line_end": 40 + number * 80}
        operations.append({"action": "upsert_ref", "section_key": "all", "ref_key": f"ref-{number}", **place})
    return operations


ENTITY = {"entityType": "service", "entityId": "nowhere"}
REFUSED: list[tuple[str, Json, str]] = [
    (
        "input",
        {"action": "set_meta", "name": "thirty", "expected_revision": 7, "title": "No"},
        "revision_conflict",
    ),
    ("read_file", {"path": "nowhere.py"}, "nowhere.py"),
    ("grep_codebase", {"pattern": "("}, "Invalid regex pattern"),
    ("export_context", {"targets": [ENTITY]}, "NOT_FOUND"),
    ("get_context", {"entityType": "service", "id": "nowhere"}, "NOT_FOUND"),
    ("export_entity_markdown", ENTITY, "NOT_FOUND"),
    ("context_search", {"query": "   "}, "at least 3 characters"),
    ("context_record", {"type": "decision", "content": "Look there", "path": "nowhere.py"}, "nowhere.py"),
]
"""Calls that every agent lets through and the server refuses, with a word of the refusal."""


def errors(seen: list[str]) -> Script:
    """Calls that must be refused."""
    yield "input", {"action": "create", "name": "thirty", "ttl_minutes": 60}
    for tool, arguments, _ in REFUSED:
        seen.append((yield tool, arguments))


def pages_of_the_pack(seen: list[str]) -> Script:
    """The pack with thirty refs, by what each page says of the next one."""
    yield "input", {
        "action": "batch", "name": "thirty", "expected_revision": 1, "operations": thirty_refs()
    }  # fmt: skip
    arguments: Json = {"name": "thirty"}
    while arguments:
        seen.append((yield "output", arguments))
        ended = re.search(r'> truncated: [^\n]*"cursor": "([^"]+)"', seen[-1])
        arguments = {} if ended is None else {"cursor": ended[1]}


def pages_of_the_file(seen: list[str]) -> Script:
    """The long file, by what each page says of the next one."""
    arguments: Json = {"path": "long.py"}
    while arguments:
        seen.append((yield "read_file", arguments))
        more = re.search(r"continue with startLine (\d+)", seen[-1])
        arguments = {} if more is None else {"path": "long.py", "startLine": int(more[1])}


def numbers(texts: Sequence[str]) -> set[int]:
    """Which functions of the long file have their body in these texts."""
    return {int(number) for text in texts for number in re.findall(r"return value \* (\d+)", text)}


@pytest.mark.clause("MCP-22", "MCP-93", "PK-54", "CD-29")
@pytest.mark.parametrize("agent", AGENTS)
def test_errors_a_long_pack_and_a_long_file_reach_the_model_whole(agent: str, tmp_path: Path) -> None:
    refused: list[str] = []
    pages: list[str] = []
    read: list[str] = []

    def script() -> Script:
        yield from errors(refused)
        yield from pages_of_the_pack(pages)
        yield from pages_of_the_file(read)

    play(agent, tmp_path, script())
    for (_, _, word), text in zip(REFUSED, refused, strict=True):
        assert word in text
    refs = {int(number) for page in pages for number in re.findall(r"#### ref-(\d+) ", page)}
    assert refs == set(range(REFS))
    assert numbers(pages) == {40 * ref + line for ref in range(REFS) for line in range(20)}
    assert numbers(read) == set(range(FUNCTIONS))
