"""News of changed packs over a real connection: whoever changes them, whichever era listens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

from context_pack import Workspace, open_workspace

Spawn = Callable[..., StdioClient]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.fixture
def other(tmp_path: Path) -> Workspace:
    """Somebody else over the same packs: this test's own process."""
    return open_workspace(source_root=tmp_path)


def until(client: StdioClient, method: str) -> dict[str, Any]:
    """The next notification of that method."""
    while True:
        kept = next((one for one in client.notifications if one.get("method") == method), None)
        if kept is not None:
            client.notifications.remove(kept)
            return kept
        client.notifications.append(client.read())


@pytest.mark.clause("MCP-80", "MCP-84")
def test_a_subscriber_hears_of_what_another_process_changes(client: StdioClient, other: Workspace) -> None:
    pack = other.packs.create(ttl_minutes=5)
    uri = f"context://pack/{pack.id}"
    assert client.request("resources/subscribe", {"uri": uri})["result"] == {}
    other.packs.set_meta(pack, title="Changed elsewhere")
    assert until(client, "notifications/resources/updated")["params"] == {"uri": uri}


@pytest.mark.clause("MCP-80", "MCP-84")
def test_a_subscriber_hears_of_a_pack_that_its_own_server_changes(client: StdioClient) -> None:
    made = client.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]
    uri = f"context://pack/{made['id']}"
    client.request("resources/subscribe", {"uri": uri})
    change = {"action": "set_meta", "id": made["id"], "expected_revision": 1, "title": "Mine"}
    client.payload("input", change)
    assert until(client, "notifications/resources/updated")["params"] == {"uri": uri}


@pytest.mark.clause("MCP-81")
def test_a_legacy_client_hears_of_packs_that_its_own_calls_make_and_remove(client: StdioClient) -> None:
    made = client.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]
    until(client, "notifications/resources/list_changed")
    client.payload("input", {"action": "delete_pack", "id": made["id"], "expected_revision": 1})
    until(client, "notifications/resources/list_changed")


@pytest.mark.clause("MCP-81", "MCP-84")
def test_while_it_listens_a_client_hears_of_packs_that_come_and_go_elsewhere(
    client: StdioClient, other: Workspace
) -> None:
    client.request("resources/subscribe", {"uri": "context://pack/pk_aaaaaaaa"})
    pack = other.packs.create(ttl_minutes=5)
    until(client, "notifications/resources/list_changed")
    other.packs.delete(pack)
    until(client, "notifications/resources/list_changed")


@pytest.mark.clause("MCP-82", "MCP-84")
def test_a_modern_listener_hears_of_both_with_its_subscription_s_id(spawn: Spawn, other: Workspace) -> None:
    client = spawn("unframed")
    pack = other.packs.create(ttl_minutes=5)
    uri = f"context://pack/{pack.id}"
    wanted = {"resourcesListChanged": True, "resourceSubscriptions": [uri]}
    params = {"_meta": ENVELOPE, "notifications": wanted}
    client.send({"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": params})
    until(client, "notifications/subscriptions/acknowledged")
    other.packs.set_meta(pack, title="Changed elsewhere")
    updated = until(client, "notifications/resources/updated")["params"]
    assert (updated["uri"], updated["_meta"][SUBSCRIPTION]) == (uri, "news")
    other.packs.create(ttl_minutes=5)
    assert until(client, "notifications/resources/list_changed")["params"]["_meta"] == {SUBSCRIPTION: "news"}


@pytest.mark.clause("MCP-85")
def test_listening_again_and_again_leaves_nothing_open(spawn: Spawn, other: Workspace) -> None:
    client = spawn("unframed")
    client.initialize()
    client.request("resources/subscribe", {"uri": "context://pack/pk_aaaaaaaa"})
    client.request("resources/unsubscribe", {"uri": "context://pack/pk_aaaaaaaa"})
    folder = Path(f"/proc/{client.process.pid}/fd")
    if not folder.exists():
        pytest.skip("open files are counted in /proc")
    before = len(list(folder.iterdir()))
    for _ in range(20):
        client.request("resources/subscribe", {"uri": "context://pack/pk_aaaaaaaa"})
        client.request("resources/unsubscribe", {"uri": "context://pack/pk_aaaaaaaa"})
    assert len(list(folder.iterdir())) <= before
    other.packs.create(ttl_minutes=5)
    client.request("ping")
    assert client.end()[0] == 0
