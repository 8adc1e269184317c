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
from waiting import PATIENCE

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


def exchange(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], lines: str, replies: int
) -> list[Any]:
    """Send `lines` to a server, wait for that many replies, end its input; every message it sent.

    The input stays open until the replies are there: after its end the server grants only a moment.
    """
    with subprocess.Popen(
        command, cwd=cwd, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(lines.encode("utf-8"))
        process.stdin.flush()
        messages: list[Any] = []
        while replies > 0:
            line = process.stdout.readline()
            assert line, process.stderr.read().decode("utf-8", "replace")
            messages.append(json.loads(line))
            replies -= "method" not in messages[-1]
        process.stdin.close()
        messages += [json.loads(line) for line in process.stdout]
        errors = process.stderr.read().decode("utf-8", "replace")
        assert process.wait(PATIENCE) == 0, errors
    return messages


def ask(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], *more: Mapping[str, Any]
) -> dict[int, dict[str, Any]]:
    """Start `command`, initialize, list the tools, send `more`; every reply by its id."""
    messages = [INITIALIZE, LIST_TOOLS, *more]
    text = "".join(json.dumps(message) + "\n" for message in messages)
    return {reply["id"]: reply for reply in exchange(command, cwd, env, text, len(messages)) if "id" in reply}


@pytest.fixture(scope="session")
def exchange_with_server() -> Callable[..., list[Any]]:
    """`exchange`, for tests that choose every line themselves."""
    return exchange


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
