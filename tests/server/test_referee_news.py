"""News of packs that another process changes, over the wire and in both eras.

The other process is the command line in the same folder. What must not come is proved by something that comes
after it: every change ends with one that is told, and the messages before it are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from stdio_client import Mode, StdioClient

Spawn = Callable[..., StdioClient]
META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


@pytest.fixture
def other(tmp_path: Path) -> CommandLine:
    """Another process in the same folder."""
    return CommandLine(tmp_path)


def made(other: CommandLine) -> str:
    """A pack that the other process has made."""
    pack: str = other.payload("action=create", "ttl_minutes=60")["id"]
    return pack


def own(client: StdioClient) -> str:
    """A pack that the server has made."""
    pack: str = client.payload("input", {"action": "create", "ttl_minutes": 60})["payload"]["id"]
    return pack


def retitled(other: CommandLine, pack: str, revision: int) -> None:
    """A change by the other process."""
    done = other.payload(
        "action=set_meta", f"id={pack}", f"expected_revision={revision}", f"title=T{revision}"
    )
    assert done["revision"] == revision + 1


def uri(pack: str) -> str:
    """The resource of a pack."""
    return f"context://pack/{pack}"


def until(client: StdioClient, method: str) -> list[Any]:
    """The messages up to and including the first of that method."""
    seen = [client.read()]
    while seen[-1].get("method") != method:
        seen.append(client.read())
    return seen


def updates(messages: list[Any]) -> set[str]:
    """Which resources were told to have changed."""
    return {each["params"]["uri"] for each in messages if each["method"] == UPDATED}


@pytest.mark.slow
@pytest.mark.clause("MCP-80", "MCP-86")
def test_a_legacy_subscriber_is_notified_of_another_process(client: StdioClient, other: CommandLine) -> None:
    pack, unwatched = own(client), own(client)
    assert client.request("resources/subscribe", {"uri": uri(pack)})["result"] == {}
    retitled(other, pack, 1)
    assert client.read() == {"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri(pack)}}
    retitled(other, unwatched, 1)
    new = made(other)
    news = until(client, LIST_CHANGED)
    assert updates(news) == set()  # nobody subscribed to the other one
    assert new in str(client.request("resources/list")["result"])
    assert client.request("resources/unsubscribe", {"uri": uri(pack)})["result"] == {}
    retitled(other, pack, 2)
    assert client.request("ping")["result"] == {}
    assert [each for each in client.notifications if each["method"] == UPDATED] == []


@pytest.mark.slow
@pytest.mark.clause("MCP-82", "MCP-86")
def test_a_listen_stream_is_notified_of_another_process(spawn: Spawn, mode: Mode, other: CommandLine) -> None:
    client = spawn(mode)
    pack = made(other)
    wanted = {"resourcesListChanged": True, "resourceSubscriptions": [uri(pack)]}
    params = {"_meta": ENVELOPE, "notifications": wanted}
    client.send({"jsonrpc": "2.0", "id": "ear", "method": "subscriptions/listen", "params": params})
    first = client.read()
    meta = {META + "subscriptionId": "ear"}
    assert first["method"] == ACKNOWLEDGED
    assert first["params"] == {"_meta": meta, "notifications": wanted}
    retitled(other, pack, 1)
    assert client.read()["params"] == {"_meta": meta, "uri": uri(pack)}
    done = other("call", "input", "action=delete_pack", f"id={pack}", "expected_revision=2")
    assert done.code == 0
    news = until(client, LIST_CHANGED)
    assert all(each["params"]["_meta"] == meta for each in news)
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "ear"}})
    made(other)
    assert client.request("tools/list", {"_meta": ENVELOPE})["result"]["resultType"] == "complete"
    assert client.notifications == []  # the stream has ended without a word


@pytest.mark.clause("MCP-80", "MCP-86")
def test_one_change_notifies_both_eras_on_one_connection(client: StdioClient, other: CommandLine) -> None:
    pack = own(client)
    client.request("resources/subscribe", {"uri": uri(pack)})
    params = {"_meta": ENVELOPE, "notifications": {"resourceSubscriptions": [uri(pack)]}}
    client.send({"jsonrpc": "2.0", "id": 99, "method": "subscriptions/listen", "params": params})
    until(client, ACKNOWLEDGED)
    retitled(other, pack, 1)
    news = [client.read(), client.read()]
    assert [each["method"] for each in news] == [UPDATED, UPDATED]
    assert [each["params"].get("_meta") for each in news] == [None, {META + "subscriptionId": 99}]


@pytest.mark.clause("MCP-80")
def test_the_servers_own_changes_are_notified_once(client: StdioClient) -> None:
    pack = own(client)
    client.request("resources/subscribe", {"uri": uri(pack)})
    client.notifications.clear()
    change = {"action": "set_meta", "id": pack, "expected_revision": 1, "title": "Own"}
    assert client.payload("input", change)["payload"]["revision"] == 2
    before = client.notifications + [client.read() for _ in range(not client.notifications)]
    assert before == [{"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri(pack)}}]
    assert client.request("ping")["result"] == {}
    assert len(client.notifications) <= 1


@pytest.mark.clause("MCP-82")
def test_a_listen_stream_ends_with_a_result_when_the_input_ends(client: StdioClient) -> None:
    params = {"_meta": ENVELOPE, "notifications": {"resourcesListChanged": True}}
    client.send({"jsonrpc": "2.0", "id": "ear", "method": "subscriptions/listen", "params": params})
    assert client.read()["method"] == ACKNOWLEDGED
    client.close_input()
    last = client.read()
    assert last["id"] == "ear"
    assert last["result"]["resultType"] == "complete"
    assert last["result"]["_meta"][META + "subscriptionId"] == "ear"
    assert client.wait() == 0


@pytest.mark.clause("MCP-80", "MCP-86")
def test_a_legacy_client_that_listed_is_notified_of_list_changes(
    client: StdioClient, other: CommandLine
) -> None:
    assert "result" in client.request("resources/list")
    new = made(other)
    until(client, LIST_CHANGED)
    assert new in str(client.request("resources/list")["result"])
