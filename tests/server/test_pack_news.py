"""News of changed packs over a real connection: whoever changes them, whichever era listens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

from context_pack import Workspace, open_workspace

UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
Spawn = Callable[..., StdioClient]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.fixture
def other(tmp_path: Path) -> Workspace:
    """Somebody else over the same packs: this test's own process."""
    return open_workspace(tmp_path)


def until(client: StdioClient, method: str) -> dict[str, Any]:
    """The next notification of that method."""
    while True:
        kept = next((one for one in client.notifications if one.get("method") == method), None)
        if kept is not None:
            client.notifications.remove(kept)
            return kept
        client.notifications.append(client.read())


@pytest.mark.clause("MCP-80")
def test_a_subscriber_is_notified_of_another_processs_change(client: StdioClient, other: Workspace) -> None:
    pack = other.packs.create(ttl_minutes=5)
    uri = f"context://pack/{pack.id}"
    assert client.request("resources/subscribe", {"uri": uri})["result"] == {}
    other.packs.set_meta(pack, title="Changed elsewhere")
    assert until(client, "notifications/resources/updated")["params"] == {"uri": uri}


@pytest.mark.slow
@pytest.mark.clause("MCP-82", "MCP-80")
def test_a_modern_listener_gets_updates_and_lists_with_its_id(spawn: Spawn, other: Workspace) -> None:
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


@pytest.mark.clause("MCP-86", "MCP-87")
def test_a_subscriber_by_name_is_notified_of_a_pack_taking_the_name(
    client: StdioClient, other: Workspace
) -> None:
    client.request("resources/subscribe", {"uri": "context://pack/auth"})
    other.packs.create(ttl_minutes=5, name="billing")
    until(client, LIST_CHANGED)
    client.payload("input", {"action": "create", "ttl_minutes": 5, "name": "auth"})
    assert until(client, UPDATED)["params"] == {"uri": "context://pack/auth"}
    assert not [one for one in client.notifications if one["method"] == UPDATED]
