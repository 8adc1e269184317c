"""Memory over stdio: recording and searching, sessions, servers side by side, kills."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
FAST = {"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_RATE_LIMITS": "off"}


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
