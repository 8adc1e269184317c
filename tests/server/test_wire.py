"""The real server under real traffic: what is served meanwhile, in which order, and what is withdrawn.

A pack's lock, held by the test, is what makes a mutation wait: nothing here depends on timing, because the
server says itself (by answering something else) that it has got so far.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
PACKS = Path(".agents/mcp/context_pack/packs")
FIXTURE = Path(__file__).with_name("fixture_server.py")


def new_pack(client: StdioClient) -> str:
    """The id of a fresh pack."""
    made: str = client.payload("input", {"action": "create", "ttl_minutes": 60})["payload"]["id"]
    return made


def section(pack: str, revision: int, key: str) -> dict[str, Any]:
    """The arguments of a change that must find the pack at this revision."""
    given = {"action": "upsert_section", "id": pack, "expected_revision": revision}
    return {**given, "section_key": key, "section_title": key.title()}


def call(request_id: object, arguments: dict[str, Any], tool: str = "input", **meta: Any) -> dict[str, Any]:
    """A tools/call request; `meta` is its progress token and the like."""
    params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def ping(request_id: object) -> dict[str, Any]:
    """A ping request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": "ping"}


def cancel(request_id: object) -> dict[str, Any]:
    """The withdrawal of a request."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


@contextmanager
def locked(folder: Path, pack: str) -> Iterator[None]:
    """Hold a pack's lock as another process would."""
    with FileLock(folder / PACKS / f"{pack}.lock", timeout=5):
        yield


def state(client: StdioClient, pack: str) -> tuple[int, list[str]]:
    """The revision and the section keys of a pack."""
    payload = client.payload("input", {"action": "get", "id": pack})["payload"]
    return payload["revision"], [section["key"] for section in payload["sections"]]


def stray(client: StdioClient) -> list[Any]:
    """Replies that came while another was waited for; news of changed lists are none."""
    return [message for message in client.notifications if "id" in message]


@pytest.mark.clause("MCP-28")
def test_others_are_served_while_a_mutation_waits_for_a_lock(client: StdioClient, tmp_path: Path) -> None:
    pack = new_pack(client)
    with locked(tmp_path, pack):
        client.send(call("waits", section(pack, 1, "late")))
        for number in range(3):
            client.send(ping(f"ping {number}"))
            assert client.reply(f"ping {number}")["result"] == {}
        assert client.request("tools/list")["result"]["tools"]
        assert pack in client.call("output")["content"][0]["text"]
        assert client.request("resources/read", {"uri": f"context://pack/{pack}"})["result"]["contents"]
        assert stray(client) == []
    assert client.reply("waits")["result"]["structuredContent"]["payload"]["revision"] == 2


@pytest.mark.clause("MCP-31")
def test_a_mutation_cancelled_while_waiting_for_a_lock_is_not_applied(
    client: StdioClient, tmp_path: Path
) -> None:
    pack = new_pack(client)
    with locked(tmp_path, pack):
        client.send(call("waits", section(pack, 1, "late")))
        assert pack in client.call("output")["content"][0]["text"]  # by then the other has begun
        client.send(cancel("waits"))
        client.send(ping("heard"))
        client.reply("heard")
    written = client.payload("input", section(pack, 1, "next"))["payload"]
    assert written["revision"] == 2
    assert state(client, pack) == (2, ["next"])
    assert stray(client) == []


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
