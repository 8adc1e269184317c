"""News of changed packs over a real connection: whoever changes them, whichever era listens."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

from context_pack import Pack, Workspace, open_workspace

UPDATED = "notifications/resources/updated"
LIST_CHANGED = "notifications/resources/list_changed"
Spawn = Callable[..., StdioClient]
FileOf = Callable[[Pack], Path]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.fixture
def other(tmp_path: Path) -> Workspace:
    """Somebody else over the same packs: this test's own process."""
    return open_workspace(tmp_path)


@pytest.fixture
def file_of(tmp_path: Path) -> FileOf:
    """Where a pack is kept."""
    return lambda pack: tmp_path / ".agents/mcp/context_pack/packs" / f"{pack.id}.md"


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


@pytest.mark.clause("MCP-80")
def test_a_subscriber_is_notified_of_its_own_servers_change(client: StdioClient) -> None:
    made = client.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]
    uri = f"context://pack/{made['id']}"
    client.request("resources/subscribe", {"uri": uri})
    change = {"action": "set_meta", "id": made["id"], "expected_revision": 1, "title": "Mine"}
    client.payload("input", change)
    assert until(client, "notifications/resources/updated")["params"] == {"uri": uri}


@pytest.mark.clause("MCP-80")
def test_a_legacy_client_is_notified_when_its_calls_change_the_list(client: StdioClient) -> None:
    made = client.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]
    until(client, "notifications/resources/list_changed")
    client.payload("input", {"action": "delete_pack", "id": made["id"], "expected_revision": 1})
    until(client, "notifications/resources/list_changed")


@pytest.mark.clause("MCP-80")
def test_a_listening_client_is_notified_of_packs_made_elsewhere(
    client: StdioClient, other: Workspace
) -> None:
    client.request("resources/subscribe", {"uri": "context://pack/pk_aaaaaaaa"})
    pack = other.packs.create(ttl_minutes=5)
    until(client, "notifications/resources/list_changed")
    other.packs.delete(pack)
    until(client, "notifications/resources/list_changed")


@pytest.mark.slow
@pytest.mark.clause("MCP-80")
def test_removing_the_folder_notifies_about_a_pack_made_while_listening(
    client: StdioClient, other: Workspace, file_of: FileOf
) -> None:
    first = other.packs.create(ttl_minutes=5)
    client.request("resources/subscribe", {"uri": f"context://pack/{first.id}"})
    second = other.packs.create(ttl_minutes=5)
    until(client, LIST_CHANGED)
    client.request("resources/subscribe", {"uri": f"context://pack/{second.id}"})
    shutil.rmtree(file_of(second).parent)
    told = {until(client, UPDATED)["params"]["uri"] for _ in range(2)}
    assert told == {f"context://pack/{pack.id}" for pack in (first, second)}


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


@pytest.mark.clause("MCP-86")
def test_repeated_subscriptions_leak_no_descriptor(spawn: Spawn, other: Workspace) -> None:
    client = spawn("unframed")
    client.initialize()
    for _ in range(2):  # the thread for lone calls and its descriptor come once the tools are loaded
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


NAME = "Login & co/2 — é"
SPELLINGS = [
    "context://pack/Login%20%26%20co%2F2%20%E2%80%94%20%C3%A9",
    "context://pack/Login & co/2 — é",
    "context://pack/%4cogin%20&%20co/2%20—%20%c3%a9",
]


@pytest.mark.slow
@pytest.mark.clause("MCP-80", "MCP-87")
@pytest.mark.parametrize("uri", SPELLINGS)
def test_a_subscriber_by_name_is_notified_under_that_uri(spawn: Spawn, other: Workspace, uri: str) -> None:
    client = spawn("unframed")
    client.initialize()
    pack = other.packs.create(ttl_minutes=5, name=NAME)
    assert "contents" in client.request("resources/read", {"uri": uri})["result"]
    client.request("resources/subscribe", {"uri": uri})
    pack = other.packs.set_meta(pack, title="Changed elsewhere")
    assert until(client, UPDATED)["params"] == {"uri": uri}
    other.packs.delete(pack)
    assert until(client, UPDATED)["params"] == {"uri": uri}
    until(client, LIST_CHANGED)


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


@pytest.mark.clause("MCP-82", "MCP-87")
def test_a_modern_listener_by_id_and_name_is_notified_of_both(spawn: Spawn, other: Workspace) -> None:
    client = spawn("unframed")
    pack = other.packs.create(ttl_minutes=5, name="auth")
    uris = {f"context://pack/{pack.id}", "context://pack/auth"}
    params = {"_meta": ENVELOPE, "notifications": {"resourceSubscriptions": sorted(uris)}}
    client.send({"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": params})
    until(client, "notifications/subscriptions/acknowledged")
    other.packs.delete(pack)
    told = [until(client, UPDATED)["params"] for _ in uris]
    assert {one["uri"] for one in told} == uris
    assert all(one["_meta"] == {SUBSCRIPTION: "news"} for one in told)


def expiring(file: Path, seconds: float) -> datetime:
    """Let the pack of a file expire sooner than can be asked for."""
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    text = file.read_text("utf-8")
    short = re.sub("(?m)^expires_at: .*", f"expires_at: '{end:%Y-%m-%dT%H:%M:%S.%fZ}'", text)
    assert short != text
    file.write_text(short, "utf-8")
    return end


@pytest.mark.slow
@pytest.mark.clause("MCP-87")
def test_a_subscriber_is_notified_of_an_expiry(
    client: StdioClient, other: Workspace, file_of: FileOf
) -> None:
    pack, gone = other.packs.create(ttl_minutes=5, name="auth"), other.packs.create(ttl_minutes=5)
    expiring(file_of(gone), -1)
    uris = {"context://pack/auth", f"context://pack/{pack.id}"}
    for uri in uris:
        client.request("resources/subscribe", {"uri": uri})
    end = expiring(file_of(pack), 0.5)
    until(client, LIST_CHANGED)
    assert datetime.now(UTC) >= end
    for uri in uris:
        assert "error" in client.request("resources/read", {"uri": uri})  # which removes the file
    other.packs.create(ttl_minutes=5)
    until(client, LIST_CHANGED)
    # Neither what had expired before, nor the same expiry again: once for the file, once for its end.
    told = [one["params"]["uri"] for one in client.notifications if one["method"] == UPDATED]
    assert len(told) == len(client.notifications)
    assert set(told) == uris
    assert all(told.count(uri) <= 2 for uri in uris)


@pytest.mark.slow
@pytest.mark.clause("MCP-87")
def test_a_postponed_expiry_is_not_notified(spawn: Spawn, other: Workspace, file_of: FileOf) -> None:
    client = spawn("unframed")
    client.initialize()
    pack, sooner = other.packs.create(ttl_minutes=1), other.packs.create(ttl_minutes=5)
    uri = f"context://pack/{pack.id}"
    client.request("resources/subscribe", {"uri": uri})
    other.packs.touch_ttl(pack, ttl_minutes=5)
    assert until(client, UPDATED)["params"] == {"uri": uri}
    expiring(file_of(sooner), 0.5)
    until(client, LIST_CHANGED)
    assert client.notifications == []


@pytest.mark.slow
@pytest.mark.clause("MCP-87")
def test_a_subscriber_is_notified_of_edits_to_the_code_of_its_pack(
    client: StdioClient, other: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "src/deep").mkdir(parents=True)
    for name in ("app.py", "deep/tool.py", "other.py"):
        (tmp_path / "src" / name).write_text("def one():\n    return 1\n")
    pack = other.packs.create(ttl_minutes=5, name="with-code")
    pack = other.packs.upsert_section(pack, section_key="code", section_title="Code")
    lines: Any = {"section_key": "code", "line_start": 1, "line_end": 2}
    pack = other.packs.upsert_ref(pack, ref_key="one", path="src/app.py", **lines)
    uris = [f"context://pack/{pack.id}", "context://pack/with-code"]
    for uri in uris:
        assert client.request("resources/subscribe", {"uri": uri})["result"] == {}

    def told() -> set[str]:
        """What is told until both are: a file that is seen while it is written is told twice."""
        seen: set[str] = set()
        while seen != set(uris):
            seen.add(until(client, UPDATED)["params"]["uri"])
        return seen

    (tmp_path / "src/app.py").write_text("def one():\n    return 2\n")
    assert told() == set(uris)
    (tmp_path / "src/app.py").unlink()
    assert told() == set(uris)
    other.packs.upsert_ref(pack, ref_key="two", path="src/deep/tool.py", **lines)
    assert told() == set(uris)
    (tmp_path / "src/other.py").write_text("nobody points here\n")
    shutil.rmtree(tmp_path / "src/deep")
    assert told() == set(uris)


@pytest.mark.clause("MCP-80")
@pytest.mark.parametrize("uri", ["context://document/docs/a.md", "context://scope/src", "context://stats"])
def test_subscriptions_to_unwatched_resources_are_refused(client: StdioClient, uri: str) -> None:
    assert client.request("resources/subscribe", {"uri": uri})["error"]["code"] == -32602
