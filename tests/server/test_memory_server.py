"""Memory over stdio: recording and searching, sessions, servers side by side, kills."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient
from waiting import until

Spawn = Callable[..., StdioClient]
FAST = {"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_RATE_LIMITS": "off"}
STORE = Path(".agents/mcp/context_pack")


def started(spawn: Spawn, **env: str) -> StdioClient:
    client = spawn(env={**FAST, **env})
    client.initialize()
    return client


def plant(root: Path, count: int, lines: int = 3) -> None:
    for number in range(count):
        folder = root / f"part{number % 7}"
        folder.mkdir(exist_ok=True)
        body = "".join(f"    step_{line} = {number} * {line}\n" for line in range(lines))
        (folder / f"f{number}.py").write_text(f'def work_{number}():\n    """Does thing {number}."""\n{body}')


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


@pytest.mark.slow
@pytest.mark.clause("ME-22", "ME-24")
def test_indexing_that_is_killed_goes_on_where_it_stopped(spawn: Spawn, tmp_path: Path) -> None:
    plant(tmp_path, 250, lines=40)
    (tmp_path / "keep.md").write_text("# Notes\n")
    client = started(spawn)
    client.payload("context_record", {"type": "rule", "content": "Recorded while indexing"})

    def begun() -> Any:
        return client.payload("context_search", {"query": "work_77"}).get("indexing", {"done": 251})["done"]

    until(begun)
    client.process.send_signal(signal.SIGKILL)
    client.wait()
    again = started(spawn)
    before = again.payload("context_search", {"query": "work_77"}).get("indexing", {"done": 251})
    assert before["done"] > 0

    def complete() -> Any:
        found = again.payload("context_search", {"query": "work_249"})
        return None if "indexing" in found else found

    assert until(complete)["results"][0]["symbol"] == "work_249"
    kept = again.payload("context_search", {"query": "recorded while indexing", "type": "rule"})
    assert kept["totalFound"] == 1
