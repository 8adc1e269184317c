"""Memory over stdio: recording and searching, sessions, servers side by side, kills."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
FAST = {"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_RATE_LIMITS": "off"}
STORE = Path(".agents/mcp/context_pack")


def started(spawn: Spawn, **env: str) -> StdioClient:
    client = spawn(env={**FAST, **env})
    client.initialize()
    return client


@pytest.mark.clause("ME-10", "ME-03")
def test_a_killed_server_leaves_its_session_and_every_answered_discovery(
    spawn: Spawn, tmp_path: Path
) -> None:
    first = started(spawn)
    ids = [
        first.payload("context_record", {"type": "issue", "content": f"Thing number {number} breaks"})["id"]
        for number in range(5)
    ]
    first.process.send_signal(signal.SIGKILL)
    first.wait()
    second = started(spawn)
    found = second.payload("context_search", {"query": "thing number breaks", "limit": 20})["results"]
    assert {each["id"] for each in found if each["source"] == "discovery"} == set(ids)
    told = second.payload("context_search", {"query": "session not ended context_record", "limit": 20})
    (session,) = [each for each in told["results"] if each["source"] == "session"]
    assert "not ended" in session["content"]
    assert "context_record" in session["content"]
    assert {each["session"] for each in found if each["source"] == "discovery"} == {session["session"]}


@pytest.mark.clause("ME-02")
def test_two_servers_that_record_the_same_make_one_discovery(spawn: Spawn, tmp_path: Path) -> None:
    one, two = started(spawn), started(spawn)
    for number in range(10):
        for client in (one, two):
            record = {"type": "rule", "content": f"Everybody knows rule {number}"}
            arguments = {"name": "context_record", "arguments": record}
            client.send({"jsonrpc": "2.0", "id": f"r{number}", "method": "tools/call", "params": arguments})
    merged = [
        json.loads(client.reply(f"r{number}")["result"]["content"][0]["text"])["merged"]
        for number in range(10)
        for client in (one, two)
    ]
    assert merged.count(False) == 10
    assert len(list((tmp_path / STORE / "memory" / "discoveries").glob("*.md"))) == 10
