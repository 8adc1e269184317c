"""Log messages: only for those who asked, and only from the level they asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from context_pack_adapters.server.protocol_versions import LEVEL_KEY, LEVELS

if TYPE_CHECKING:
    from tests.protocol.conftest import Peer

Modern = Callable[..., dict[str, Any]]


def said(peer: Peer, params: dict[str, Any]) -> list[Any]:
    """The log messages sent during a tool call."""
    *messages, reply = peer.run({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert reply["id"] == 1
    assert {message["method"] for message in messages} <= {"notifications/message"}
    return [message["params"] for message in messages]


@pytest.mark.clause("MCP-70")
@pytest.mark.parametrize("level", LEVELS)
def test_a_legacy_client_sets_the_level_for_what_follows(peer: Peer, level: str) -> None:
    assert said(peer, {"name": "chatty"}) == []
    assert peer.result("logging/setLevel", {"level": level}) == {}
    heard = said(peer, {"name": "chatty"})
    assert [message["level"] for message in heard] == list(LEVELS[LEVELS.index(level) :])
    assert heard[-1] == {"level": "emergency", "logger": "chatty", "data": "at emergency"}


@pytest.mark.clause("MCP-70")
@pytest.mark.parametrize(
    "params", [None, {}, {"level": "loud"}, {"level": 3}, {"level": None}, {"level": ["info"]}]
)
def test_an_unknown_level_is_invalid_and_changes_nothing(peer: Peer, params: Any) -> None:
    peer.result("logging/setLevel", {"level": "emergency"})
    assert peer.error("logging/setLevel", params)["code"] == -32602
    assert len(said(peer, {"name": "chatty"})) == 1


@pytest.mark.clause("MCP-70")
def test_a_modern_request_asks_for_its_own_messages(peer: Peer, modern: Modern) -> None:
    peer.result("logging/setLevel", {"level": "debug"})
    assert said(peer, modern({"name": "chatty"})) == []
    heard = said(peer, modern({"name": "chatty"}, **{LEVEL_KEY: "alert"}))
    assert [message["level"] for message in heard] == ["alert", "emergency"]


@pytest.mark.clause("MCP-70")
def test_a_failed_call_is_a_warning(peer: Peer) -> None:
    peer.result("logging/setLevel", {"level": "warning"})
    (message,) = said(peer, {"name": "miss"})
    assert (message["level"], message["logger"], message["data"]["tool"]) == ("warning", "tools", "miss")
    peer.result("logging/setLevel", {"level": "error"})
    assert said(peer, {"name": "miss"}) == []


@pytest.mark.clause("MCP-70")
def test_an_exception_is_logged_as_an_error_without_its_text(peer: Peer) -> None:
    peer.result("logging/setLevel", {"level": "error"})
    (message,) = said(peer, {"name": "leave"})
    assert message["level"] == "error"
    assert "SystemExit" not in str(message)
