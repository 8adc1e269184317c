"""The real server under real traffic: what is served meanwhile, in which order, and what is withdrawn.

A pack's lock, held by the test, is what makes a mutation wait: nothing here depends on timing, because the
server says itself (by answering something else) that it has got so far.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from stdio_client import Mode, StdioClient

Spawn = Callable[..., StdioClient]
PACKS = Path(".agents/mcp/context_pack/packs")
FIXTURE = Path(__file__).with_name("conformance_server.py")
MEBIBYTE = 1024 * 1024


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


@pytest.mark.clause("MCP-26", "MCP-30")
def test_a_mutation_cancelled_in_the_queue_is_neither_applied_nor_answered(
    client: StdioClient, tmp_path: Path
) -> None:
    pack = new_pack(client)
    with locked(tmp_path, pack):
        client.send(call("first", section(pack, 1, "first")))
        client.send(call("second", section(pack, 2, "second")))
        client.send(call("third", section(pack, 2, "third")))
        client.send(cancel("second"))
        client.send(ping("heard"))
        client.reply("heard")
    assert client.reply("first")["result"]["structuredContent"]["payload"]["revision"] == 2
    assert client.reply("third")["result"]["structuredContent"]["payload"]["revision"] == 3
    assert state(client, pack) == (3, ["first", "third"])
    assert stray(client) == []  # whatever had come for the second would be here


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


@pytest.mark.clause("MCP-26")
def test_a_hundred_mutations_in_one_write_are_applied_in_order(client: StdioClient) -> None:
    pack = new_pack(client)
    many = range(1, 101)
    client.raw(b"".join(client.encode(call(n, section(pack, n, f"s-{n:03}"))) for n in many))
    replies = [client.read() for _ in many]
    assert [reply["id"] for reply in replies] == list(many)
    assert [
        json.loads(reply["result"]["content"][0]["text"])["payload"]["revision"] for reply in replies
    ] == [n + 1 for n in many]
    assert state(client, pack) == (101, [f"s-{n:03}" for n in many])


@pytest.mark.clause("MCP-26")
def test_a_read_sees_the_write_that_was_sent_before_it(client: StdioClient) -> None:
    pack = new_pack(client)
    for revision in range(1, 11):
        write = client.encode(call(f"w{revision}", section(pack, revision, f"s-{revision}")))
        look = client.encode(call(f"r{revision}", {"action": "get", "id": pack}))
        client.raw(write + look)
        found = client.reply(f"r{revision}")["result"]["structuredContent"]["payload"]
        assert found["revision"] == revision + 1


@pytest.mark.clause("MCP-05", "MCP-06")
def test_a_batch_of_both_eras_is_one_array_in_order(client: StdioClient) -> None:
    pack = new_pack(client)
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    modern = {"jsonrpc": "2.0", "id": "m", "method": "tools/list", "params": {"_meta": meta}}
    quiet = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    unknown = {"jsonrpc": "2.0", "id": 9, "method": "nope"}
    client.send([call(1, section(pack, 1, "one")), quiet, ping("p"), modern, unknown, call(2, {}, "output")])
    replies = client.read()
    assert [reply["id"] for reply in replies] == [1, "p", "m", 9, 2]
    assert replies[0]["result"]["structuredContent"]["payload"]["revision"] == 2
    assert replies[1]["result"] == {}
    assert replies[2]["result"]["resultType"] == "complete"
    assert replies[3]["error"]["code"] == -32601
    assert pack in replies[4]["result"]["content"][0]["text"]


@pytest.mark.clause("MCP-60")
@pytest.mark.slow
def test_calls_waiting_for_a_lock_send_progress_on_their_token(client: StdioClient, tmp_path: Path) -> None:
    """Both the one that waits for the lock and the one behind it, also on the token 0."""
    pack = new_pack(client)
    with locked(tmp_path, pack):
        client.send(call("first", section(pack, 1, "one"), progressToken=0))
        client.send(call("second", section(pack, 2, "two"), progressToken="two"))
        news = [client.read(), client.read()]
    assert [each["method"] for each in news] == ["notifications/progress"] * 2
    assert sorted([each["params"]["progressToken"] for each in news], key=str) == [0, "two"]
    assert all(each["params"]["progress"] > 0 for each in news)
    assert client.reply("second")["result"]["structuredContent"]["payload"]["revision"] == 3


@pytest.mark.clause("TR-10")
def test_arguments_of_a_megabyte_are_served(client: StdioClient) -> None:
    pack = new_pack(client)
    words = "é" * 10_000
    operations = [
        {
            "action": "upsert_section",
            "section_key": f"s-{n}",
            "section_title": "S",
            "section_description": words,
        }
        for n in range(60)
    ]
    given = {"action": "batch", "id": pack, "expected_revision": 1, "operations": operations}
    assert len(json.dumps(given, ensure_ascii=False).encode()) > MEBIBYTE
    assert client.payload("input", given)["payload"]["revision"] == 2
    payload = client.payload("input", {"action": "get", "id": pack})["payload"]
    assert "missing" in payload["more"]
    first = payload["sections"][0]["description"]
    assert first.endswith("…")
    assert set(first[:-1]) == {"é"}


@pytest.mark.clause("TR-10")
def test_a_message_at_the_limit_is_served_and_one_byte_more_is_refused(client: StdioClient) -> None:
    for extra in (0, 1):
        head, tail = b'{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":"', b'"}}'
        filled = head + b"x" * (10 * MEBIBYTE + extra - len(head) - len(tail)) + tail
        framed = b"Content-Length: %d\r\n\r\n%s" % (len(filled), filled)
        client.raw(framed if client.mode == "framed" else filled + b"\n")
        client.send(ping("next"))
        reply = client.read()
        if extra:
            assert (reply["id"], reply["error"]["code"]) == (None, -32700)
        else:
            assert reply == {"jsonrpc": "2.0", "id": "big", "result": {}}
        assert client.read() == {"jsonrpc": "2.0", "id": "next", "result": {}}


@pytest.mark.clause("TR-15")
def test_messages_of_the_other_transport_are_read_and_answered_in_the_first(client: StdioClient) -> None:
    plain = json.dumps(ping("plain")).encode()
    client.raw(plain + b"\n" + b"Content-Length: %d\r\n\r\n%s" % (len(plain), plain) + plain)
    client.send(ping("own"))
    assert [client.read()["id"] for _ in range(4)] == ["plain", "plain", "plain", "own"]


@pytest.mark.clause("TR-50")
def test_output_of_a_dependency_never_reaches_the_protocol_stream(spawn: Spawn, mode: Mode) -> None:
    """Python, the descriptor, the first stdout and a child write; a read of stdin gets nothing."""
    client = spawn(mode, command=[sys.executable, str(FIXTURE)])
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


@pytest.mark.clause("MCP-31")
def test_a_cancelled_running_call_stops_and_sends_no_reply(spawn: Spawn, mode: Mode) -> None:
    client = spawn(mode, command=[sys.executable, str(FIXTURE)])
    client.initialize()
    client.send(call("toil", {}, "test_toil", progressToken="t"))
    assert client.stderr.readline() == b"fixture: toiling\n"
    client.send(cancel("toil"))
    assert client.stderr.readline() == b"fixture: stopped\n"
    client.send(ping("next"))
    assert client.read()["id"] == "next"
    client.close_input()
    with pytest.raises(EOFError, match="left over b''"):
        client.read()


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


@pytest.mark.clause("TR-06", "TR-18")
def test_a_request_may_come_byte_by_byte(client: StdioClient) -> None:
    for byte in client.encode(ping("slow")):
        client.raw(bytes([byte]))
    assert client.read() == {"jsonrpc": "2.0", "id": "slow", "result": {}}


@pytest.mark.clause("MCP-01")
@pytest.mark.parametrize("request_id", ["", "0", 0, -1, 2**70, "snow ☃ \U0001f600", "\u2028", "a" * 5000])
def test_the_id_comes_back_as_it_was(client: StdioClient, request_id: object) -> None:
    client.send(ping(request_id))
    reply = client.read()
    assert reply["id"] == request_id
    assert type(reply["id"]) is type(request_id)
