"""A server process to ask a few questions of, started in any of the ways it can be installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

Ask = Callable[..., dict[int, dict[str, Any]]]

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "architecture-tests", "version": "1"},
    },
}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def ask(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], *more: Mapping[str, Any]
) -> dict[int, dict[str, Any]]:
    """Start `command`, initialize, list the tools, send `more`; every reply by its id."""
    messages = [INITIALIZE, LIST_TOOLS, *more]
    text = "".join(json.dumps(message) + "\n" for message in messages)
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=cwd, env=dict(env), timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    return {reply["id"]: reply for reply in replies if "id" in reply}


@pytest.fixture(scope="session")
def clean_env() -> dict[str, str]:
    """The environment without anything that decides where Python finds the project."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH")
    return {name: value for name, value in os.environ.items() if name not in dropped}


@pytest.fixture(scope="session")
def ask_server() -> Ask:
    """`ask`, for tests that start the server themselves."""
    return ask


@pytest.fixture(scope="session")
def listed_tools(
    checkout: Path, clean_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """Every tool as the real server lists it."""
    here = tmp_path_factory.mktemp("listed")
    env = {**clean_env, "PYTHONPATH": str(checkout)}
    replies = ask([sys.executable, "-m", "context_pack"], here, env)
    result = replies[2]["result"]
    assert "nextCursor" not in result
    tools: list[dict[str, Any]] = result["tools"]
    return tools
