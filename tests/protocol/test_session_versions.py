"""Both eras on one connection: the handshake, discovery, the envelope, and which method lives where."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from mcp_types.methods import validate_server_result

from context_pack_adapters.server.protocol_versions import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    LEVEL_KEY,
    SERVER_KEY,
    VERSION_KEY,
    ServerFacts,
)

if TYPE_CHECKING:
    from tests.protocol.conftest import Peer

Modern = Callable[..., dict[str, Any]]

INFO = {
    "name": "demo",
    "title": "Demo server",
    "version": "1.2.3",
    "description": "A server for tests.",
}
HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


@pytest.mark.clause("MCP-10")
@pytest.mark.parametrize("version", HANDSHAKES)
def test_initialize_grants_every_supported_version(peer: Peer, version: str) -> None:
    result = peer.result("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == INFO
    assert result["instructions"] == "Call echo first."
    assert "resultType" not in result
    validate_server_result("initialize", version, result)


@pytest.mark.clause("MCP-10")
@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        [],
        {"protocolVersion": "2026-07-28"},
        {"protocolVersion": "1999-01-01"},
        {"protocolVersion": 7},
        {"protocolVersion": None},
        {"protocolVersion": ["2025-06-18"]},
        {"protocolVersion": "2024-11-05 "},
        {"protocolVersion": "x", "capabilities": 5, "clientInfo": "me", "_meta": 9},
    ],
)
def test_any_other_initialize_gets_the_newest_handshake_and_never_an_error(peer: Peer, params: Any) -> None:
    assert peer.result("initialize", params)["protocolVersion"] == "2025-11-25"


@pytest.mark.clause("MCP-04")
@pytest.mark.parametrize(
    "method", ["tasks/list", "tasks/get", "roots/list", "sampling/createMessage", "elicitation/create"]
)
def test_what_is_not_declared_has_no_methods(peer: Peer, modern: Modern, method: str) -> None:
    declared = peer.result("server/discover", modern())["capabilities"]
    assert declared == peer.result("initialize", {})["capabilities"]
    assert method.partition("/")[0] not in declared
    assert peer.error(method, {})["code"] == -32601
    assert peer.error(method, modern())["code"] == -32601


@pytest.mark.clause("MCP-96")
def test_instructions_are_bounded() -> None:
    from context_pack_adapters.server.session import ProtocolSession

    def session(instructions: str) -> ProtocolSession:
        return ProtocolSession(ServerFacts("n", "t", "v", "d", instructions), lambda: None, lambda _: None)  # type: ignore[arg-type, return-value]

    session("é" * 1024)
    with pytest.raises(ValueError):
        session("é" * 1024 + "x")


@pytest.mark.clause("MCP-14")
def test_discover_says_everything_a_stateless_client_needs(peer: Peer, modern: Modern) -> None:
    result = peer.result("server/discover", modern())
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["instructions"] == "Call echo first."
    assert result["_meta"] == {SERVER_KEY: INFO}
    assert result["resultType"] == "complete"
    assert result["ttlMs"] > 0
    assert result["cacheScope"] in ("private", "public")
    assert result["capabilities"] == peer.result("initialize", {})["capabilities"]
    validate_server_result("server/discover", "2026-07-28", result)


@pytest.mark.clause("MCP-14")
@pytest.mark.parametrize("params", [None, {}, {"_meta": {}}, {"_meta": 5}, {"_meta": {CAPABILITIES_KEY: {}}}])
def test_discover_without_a_version_is_invalid(peer: Peer, params: Any) -> None:
    assert peer.error("server/discover", params)["code"] == -32602


@pytest.mark.clause("MCP-16")
@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call", "no/such", "initialize"])
@pytest.mark.parametrize(
    "meta",
    [
        {VERSION_KEY: "2026-07-28"},
        {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: None},
        {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: []},
        {VERSION_KEY: 20260728, CAPABILITIES_KEY: {}},
        {VERSION_KEY: None, CAPABILITIES_KEY: {}},
        {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}, CLIENT_KEY: "me"},
        {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}, LEVEL_KEY: "loud"},
        {VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}, LEVEL_KEY: ["info"]},
    ],
)
def test_an_incomplete_envelope_is_invalid(peer: Peer, method: str, meta: dict[str, Any]) -> None:
    assert peer.error(method, {"_meta": meta})["code"] == -32602


@pytest.mark.clause("MCP-16")
@pytest.mark.parametrize("version", ["2025-11-25", "2027-01-01", "", "v999.0.0"])
@pytest.mark.parametrize("method", ["server/discover", "tools/list", "initialize"])
def test_an_unknown_version_is_named_beside_those_we_speak(peer: Peer, method: str, version: str) -> None:
    error = peer.error(method, {"_meta": {VERSION_KEY: version, CAPABILITIES_KEY: {}}})
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": version}


@pytest.mark.clause("MCP-04")
@pytest.mark.parametrize(
    "method",
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"],
)
def test_methods_of_the_handshake_era_are_unknown_to_the_modern_one(
    peer: Peer, modern: Modern, method: str
) -> None:
    params = modern({"level": "info", "uri": "memo://one", "protocolVersion": "2025-11-25"})
    assert peer.error(method, params)["code"] == -32601


@pytest.mark.clause("MCP-06")
def test_no_request_decides_the_era_of_the_next(peer: Peer, modern: Modern) -> None:
    for first, second in itertools.product([False, True], repeat=2):
        for is_modern in (first, second):
            result = peer.result("tools/list", modern() if is_modern else {})
            assert ("resultType" in result) is is_modern
        assert peer.result("initialize", {})["protocolVersion"] == "2025-11-25"
        assert "supportedVersions" in peer.result("server/discover", modern())
        assert peer.result("ping") == {}


@pytest.mark.clause("MCP-20")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        *((method, {}) for method in LISTS),
        ("tools/call", {"name": "echo", "arguments": {"text": "hi"}}),
        ("tools/call", {"name": "miss"}),
        ("tools/call", {"name": "blocks"}),
        ("resources/read", {"uri": "memo://one"}),
        ("resources/read", {"uri": "memo://bytes"}),
        ("prompts/get", {"name": "greet", "arguments": {"who": "you"}}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": ""}},
        ),
    ],
)
def test_only_modern_results_carry_type_and_server_metadata(
    peer: Peer, modern: Modern, method: str, params: dict[str, Any]
) -> None:
    plain = peer.result(method, params)
    dressed = peer.result(method, modern(params))
    assert {"resultType", "_meta", "ttlMs", "cacheScope"}.isdisjoint(plain)
    assert dressed["resultType"] == "complete"
    assert dressed["_meta"] == {SERVER_KEY: INFO}
    kept = method in LISTS or method == "resources/read"
    assert ({"ttlMs", "cacheScope"} <= set(dressed)) is kept
    assert {key: dressed[key] for key in plain} == plain
    validate_server_result(method, "2026-07-28", dressed)
    for version in HANDSHAKES:
        validate_server_result(method, version, plain)
