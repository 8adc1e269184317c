"""The real server under real traffic: what is served meanwhile, in which order, and what is withdrawn.

A pack's lock, held by the test, is what makes a mutation wait: nothing here depends on timing, because the
server says itself (by answering something else) that it has got so far.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from stdio_client import StdioClient

from context_pack import open_workspace

Spawn = Callable[..., StdioClient]
PACKS = Path(".agents/mcp/context_pack/packs")
FIXTURE = Path(__file__).with_name("fixture_server.py")


def call(request_id: object, arguments: dict[str, Any], tool: str = "input") -> dict[str, Any]:
    """A tools/call request."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def ping(request_id: object) -> dict[str, Any]:
    """A ping request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": "ping"}


@pytest.mark.clause("MCP-28")
def test_others_are_served_while_a_mutation_waits_for_a_lock(client: StdioClient, tmp_path: Path) -> None:
    pack = client.payload("input", {"action": "create", "ttl_minutes": 60})["payload"]["id"]
    change = {"action": "set_meta", "id": pack, "expected_revision": 1, "title": "Late"}
    with FileLock(tmp_path / PACKS / f"{pack}.lock", timeout=5):  # as another process would hold it
        client.send(call("waits", change))
        for number in range(3):
            client.send(ping(f"ping {number}"))
            assert client.reply(f"ping {number}")["result"] == {}
        assert client.request("tools/list")["result"]["tools"]
        assert pack in client.call("output")["content"][0]["text"]
        assert client.request("resources/read", {"uri": f"context://pack/{pack}"})["result"]["contents"]
        assert not [message for message in client.notifications if "id" in message]
    assert client.reply("waits")["result"]["structuredContent"]["payload"]["revision"] == 2


@pytest.mark.clause("TR-50")
def test_output_of_a_dependency_never_reaches_the_protocol_stream(spawn: Spawn) -> None:
    """Python, the descriptor, the first stdout and a child write; a read of stdin gets nothing."""
    client = spawn(command=[sys.executable, str(FIXTURE)])
    client.initialize()
    for number in range(3):
        client.send(call(number, {}, "test_babble"))
        reply = client.read()
        assert reply["id"] == number
        assert reply["result"]["content"][0]["text"] == "stdin: b''"
    client.close_input()
    with pytest.raises(EOFError, match="left over b''"):
        client.read()
    assert client.wait() == 0
    said = client.stderr.read().decode()
    for stray in ("stray print\n", "stray write", "first stdout", '"id":"stray"', "stray child"):
        assert said.count(stray) >= 3, stray


@pytest.mark.clause("TR-42", "MCP-31")
def test_work_that_does_not_end_is_cancelled_by_a_stop_signal(spawn: Spawn) -> None:
    client = spawn(command=[sys.executable, str(FIXTURE)])
    client.initialize()
    client.send(call("toil", {}, "test_toil"))
    client.send(ping("before"))
    assert client.read()["id"] == "before"
    client.process.send_signal(signal.SIGTERM)
    assert client.wait() == 0
    with pytest.raises(EOFError, match="left over b''"):
        client.read()


@pytest.mark.clause("MCP-80")
def test_a_subscriber_is_notified_of_another_processs_change(client: StdioClient, tmp_path: Path) -> None:
    other = open_workspace(tmp_path)
    pack = other.packs.create(ttl_minutes=5)
    uri = f"context://pack/{pack.id}"
    assert client.request("resources/subscribe", {"uri": uri})["result"] == {}
    other.packs.set_meta(pack, title="Changed elsewhere")
    while (news := client.read())["method"] != "notifications/resources/updated":
        continue
    assert news["params"] == {"uri": uri}
