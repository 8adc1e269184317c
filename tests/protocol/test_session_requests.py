"""The session: requests of both kinds of versions, batches, cancels, deadlines, and the end."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from mcp_types.methods import validate_server_result
from waiting import PATIENCE

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.server.framing import Fault
from context_pack_adapters.server.protocol_versions import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    LEVEL_KEY,
    SERVER_KEY,
    VERSION_KEY,
)

if TYPE_CHECKING:
    from tests.protocol.conftest import Demo, Peer


Request = Callable[..., dict[str, Any]]


@pytest.mark.clause("MCP-01")
@pytest.mark.parametrize("request_id", [0, 1, -7, 2**70, "", "a", "1", "ключ", "\ud800", 'q"\\\n\u2028'])
def test_a_reply_carries_the_id_of_its_request(peer: Peer, request_id: object) -> None:
    assert peer.ask("ping", request_id=request_id) == {"jsonrpc": "2.0", "id": request_id, "result": {}}


@pytest.mark.clause("MCP-02")
def test_bytes_that_never_became_a_message_are_a_parse_error(peer: Peer) -> None:
    peer.session.receive(Fault("header block too long"))
    (reply,) = peer.take()
    assert (reply["id"], reply["error"]["code"]) == (None, -32700)
    assert "header block too long" in reply["error"]["message"]


@pytest.mark.clause("MCP-03")
@pytest.mark.parametrize(
    "method", ["ping", "initialize", "tools/call", "no/such", "notifications/initialized"]
)
@pytest.mark.parametrize("params", [None, {}, [], 5])
def test_a_notification_is_never_answered(peer: Peer, method: str, params: Any) -> None:
    peer.notify(method, params)
    assert peer.take() == []
    assert peer.session.heard


@pytest.mark.clause("MCP-04")
@pytest.mark.parametrize("method", ["no/such", "", "Ping", "tools/list ", "subscriptions/listen", "x" * 5000])
def test_an_unknown_method_is_not_found(peer: Peer, method: str) -> None:
    error = peer.error(method)
    assert error["code"] == -32601
    assert len(error["message"]) < 120


@pytest.mark.clause("MCP-05")
def test_a_batch_is_answered_by_one_array_in_its_order(peer: Peer, req: Request) -> None:
    echo = req("tools/call", {"name": "echo", "arguments": {"text": "hi"}}, "slow")
    (replies,) = peer.run([echo, req("ping", request_id=2), 7, req("no/such", request_id=4)])
    assert [reply["id"] for reply in replies] == ["slow", 2, None, 4]
    assert replies[0]["result"]["structuredContent"] == {"text": "hi"}
    assert replies[1]["result"] == {}
    assert [replies[2]["error"]["code"], replies[3]["error"]["code"]] == [-32600, -32601]


@pytest.mark.clause("MCP-05")
def test_notifications_are_left_out_of_the_array(peer: Peer, req: Request) -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert peer.run([ready, req("ping"), ready]) == [[{"jsonrpc": "2.0", "id": 1, "result": {}}]]
    assert peer.run([ready, ready]) == []


@pytest.mark.clause("MCP-05")
def test_an_empty_batch_is_not_a_request(peer: Peer) -> None:
    (reply,) = peer.run([])
    assert (reply["id"], reply["error"]["code"]) == (None, -32600)


@pytest.mark.clause("MCP-05")
def test_the_array_waits_for_its_slowest_member(peer: Peer, demo: Demo, req: Request) -> None:
    jobs = peer.post(
        [req("ping", None, 1), req("tools/call", {"name": "text"}, 2), req("resources/list", None, 3)]
    )
    assert len(jobs) == 2
    jobs[1].run()
    assert peer.take() == []
    jobs[0].run()
    (replies,) = peer.take()
    assert [reply["id"] for reply in replies] == [1, 2, 3]


@pytest.mark.clause("MCP-05", "MCP-30")
def test_a_cancelled_member_is_left_out_of_the_array(peer: Peer, req: Request) -> None:
    jobs = peer.post([req("ping", None, 1), req("tools/call", {"name": "text"}, 2)])
    peer.notify("notifications/cancelled", {"requestId": 2})
    assert peer.take() == [[{"jsonrpc": "2.0", "id": 1, "result": {}}]]
    jobs[0].run()
    assert peer.take() == []


@pytest.mark.clause("MCP-05", "MCP-82")
def test_a_listen_stream_does_not_hold_up_its_batch(
    peer: Peer, req: Request, modern: Callable[..., dict[str, Any]]
) -> None:
    listen = req("subscriptions/listen", modern({"notifications": {"resourcesListChanged": True}}), "L")
    acknowledged, replies = peer.run([listen, req("ping", None, 2)])
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert [reply["id"] for reply in replies] == [2]
    peer.session.finish()
    (end,) = peer.take()
    assert end["id"] == "L"


@pytest.mark.clause("MCP-07")
def test_after_shutdown_only_exit_is_served(peer: Peer, modern: Callable[..., dict[str, Any]]) -> None:
    assert peer.result("shutdown") is None
    for method, params in [("ping", None), ("shutdown", None), ("initialize", {}), ("tools/list", modern())]:
        assert peer.error(method, params)["code"] == -32600
    assert peer.session.exit_code is None
    peer.notify("exit")
    assert peer.session.exit_code == 0


@pytest.mark.clause("MCP-07")
@pytest.mark.parametrize("first", [None, "shutdown"])
def test_exit_ends_with_zero_also_as_a_request_and_without_shutdown(peer: Peer, first: str | None) -> None:
    if first is not None:
        peer.result(first)
    assert peer.result("exit", request_id=5) is None
    assert peer.session.exit_code == 0
    assert peer.run({"jsonrpc": "2.0", "id": 6, "method": "ping"}) == []


@pytest.mark.clause("MCP-09")
def test_an_internal_error_says_nothing_of_its_cause(connect: Callable[..., Peer]) -> None:
    def load() -> Any:
        raise OSError("a secret path /home/somebody")

    peer = connect(load=load)
    error = peer.error("tools/list")
    assert error["code"] == -32603
    assert "secret" not in str(error)
    assert "Traceback" not in str(error)
    assert [place for place, _ in peer.alarms] == ["tools/list"]


@pytest.mark.clause("MCP-09")
def test_an_unusable_storage_is_reported_with_its_own_message(connect: Callable[..., Peer]) -> None:
    def load() -> Any:
        raise Failure(Code.IO_ERROR, ".agents: it is a link")

    error = connect(load=load).error("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    assert error == {"code": -32603, "message": ".agents: it is a link", "data": {"code": "io_error"}}


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
        None, {}, [], [1], {"protocolVersion": "2026-07-28"}, {"protocolVersion": "1999-01-01"},
        {"protocolVersion": 7}, {"protocolVersion": None}, {"protocolVersion": ["2025-06-18"]},
        {"protocolVersion": "2024-11-05 "},
        {"protocolVersion": "x", "capabilities": 5, "clientInfo": "me", "_meta": 9},
    ],
)  # fmt: skip
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
        ("resources/read", {"uri": "memo://one"}),
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


WRITE = {"name": "note", "arguments": {"action": "write", "line": "x"}}


def cancel(peer: Peer, request_id: Any) -> None:
    """Withdraw a request."""
    peer.notify("notifications/cancelled", {"requestId": request_id, "reason": "changed my mind"})


@pytest.mark.clause("MCP-30")
@pytest.mark.parametrize("loaded", [False, True])
def test_a_cancelled_mutation_that_has_not_begun_is_not_applied(
    peer: Peer, demo: Demo, req: Request, loaded: bool
) -> None:
    if loaded:
        peer.load()
    (job,) = peer.post(req("tools/call", WRITE, 1))
    cancel(peer, 1)
    job.run()
    assert (demo.notes, peer.take()) == ([], [])


@pytest.mark.clause("MCP-31")
def test_a_running_call_is_stopped_and_not_answered(peer: Peer, demo: Demo, req: Request) -> None:
    (thread,) = peer.start(req("tools/call", {"name": "wait", "_meta": {"progressToken": 1}}, "w"))
    assert demo.begun.wait(PATIENCE)
    cancel(peer, "w")
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert peer.take() == []
    assert (peer.alarms, demo.alarms) == ([], [])


@pytest.mark.clause("MCP-30")
@pytest.mark.parametrize(
    "params",
    [
        None, {}, [], {"requestId": None}, {"requestId": 1.0}, {"requestId": True}, {"requestId": "1"},
        {"requestId": [1]}, {"requestId": 99},
    ],
)  # fmt: skip
def test_a_cancel_of_nothing_known_is_ignored(peer: Peer, req: Request, params: Any) -> None:
    (job,) = peer.post(req("tools/call", {"name": "text"}, 1))
    peer.notify("notifications/cancelled", params)
    job.run()
    (reply,) = peer.take()
    assert reply["id"] == 1


@pytest.mark.clause("MCP-30")
def test_a_handshake_cannot_be_cancelled(peer: Peer, req: Request) -> None:
    withdrawn = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    (replies,) = peer.run([req("initialize", {}), withdrawn])
    assert "result" in replies[0]


@pytest.mark.clause("MCP-01", "MCP-30")
def test_a_cancel_hits_every_request_of_that_id_and_no_other(peer: Peer, req: Request) -> None:
    jobs = [
        *peer.post(req("tools/call", {"name": "text"}, 1)),
        *peer.post(req("tools/call", {"name": "text"}, 1)),
    ]
    jobs += peer.post(req("tools/call", {"name": "text"}, "1"))
    cancel(peer, 1)
    for job in jobs:
        job.run()
    (reply,) = peer.take()
    assert reply["id"] == "1"


@pytest.mark.clause("MCP-31")
def test_cancel_all_withdraws_what_waits_and_what_runs(peer: Peer, demo: Demo, req: Request) -> None:
    peer.load()
    (thread,) = peer.start(req("tools/call", {"name": "wait"}, "w"))
    assert demo.begun.wait(PATIENCE)
    (queued,) = peer.post(req("tools/call", WRITE, "q"))
    peer.session.cancel_all()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    queued.run()
    assert (peer.take(), demo.notes) == ([], [])
    assert peer.result("ping") == {}


WAIT = {"name": "wait", "arguments": {}}


def told(peer: Peer) -> dict[str, Any]:
    """What the one reply says, that of a failed call."""
    (reply,) = peer.take()
    assert reply["result"]["isError"]
    shape: dict[str, Any] = json.loads(reply["result"]["content"][0]["text"])
    return shape


@pytest.mark.clause("TR-52")
def test_a_cancellable_call_stops_at_its_deadline_with_advice(peer: Peer, demo: Demo, req: Request) -> None:
    (thread,) = peer.start(req("tools/call", WAIT, 7))
    assert demo.begun.wait(PATIENCE)
    demo.now = 46.0
    thread.join(PATIENCE)
    said = told(peer)
    assert said["error"] == "timed_out"
    assert "45 s" in said["message"]
    assert "CONTEXT_PACK_CALL_SECONDS" in said["message"]
    assert (peer.alarms, demo.alarms) == ([], [])


@pytest.mark.clause("TR-52")
@pytest.mark.parametrize("cancelled", [False, True])
def test_a_call_ignoring_its_deadline_gets_one_timeout_reply(
    peer: Peer, demo: Demo, req: Request, cancelled: bool
) -> None:
    demo.deaf = True
    peer.load()
    (job,) = peer.post(req("tools/call", WAIT, 7))
    thread = peer.in_thread(job)
    assert demo.begun.wait(PATIENCE)
    demo.now = 46.0
    assert not job.check_deadline()
    if cancelled:
        peer.notify("notifications/cancelled", {"requestId": 7})
    demo.now = 48.0
    assert job.check_deadline()
    assert not job.check_deadline()
    assert peer.take() == [] if cancelled else told(peer)["error"] == "timed_out"
    demo.gate.set()
    thread.join(PATIENCE)
    assert peer.take() == []


@pytest.mark.clause("TR-54")
def test_a_call_without_a_free_thread_is_refused_once(peer: Peer, demo: Demo, req: Request) -> None:
    peer.load()
    (job,) = peer.post(req("tools/call", WAIT, 7))
    job.give_up(Failure(Code.IO_ERROR, "no threads"))
    job.run()
    assert told(peer) == {"error": "io_error", "message": "no threads", "request_id": 7}
    assert not demo.begun.is_set()
