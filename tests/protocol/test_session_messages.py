"""JSON-RPC as the session speaks it: requests, notifications, errors, batches, and the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.server.framing import Fault

if TYPE_CHECKING:
    from tests.protocol.conftest import Demo, Peer

Request = Callable[..., dict[str, Any]]


@pytest.mark.clause("MCP-01")
@pytest.mark.parametrize("request_id", [0, 1, -7, 2**70, "", "a", "1", "ключ", "\ud800", 'q"\\\n\u2028'])
def test_a_reply_carries_the_id_of_its_request(peer: Peer, request_id: object) -> None:
    assert peer.ask("ping", request_id=request_id) == {"jsonrpc": "2.0", "id": request_id, "result": {}}


@pytest.mark.clause("MCP-02")
def test_a_body_that_is_not_json_is_a_parse_error(peer: Peer) -> None:
    (reply,) = peer.run(b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}')
    assert (reply["id"], reply["error"]["code"]) == (None, -32700)


@pytest.mark.clause("MCP-02")
def test_bytes_that_never_became_a_message_are_a_parse_error(peer: Peer) -> None:
    peer.session.receive(Fault("header block too long"))
    (reply,) = peer.take()
    assert (reply["id"], reply["error"]["code"]) == (None, -32700)
    assert "header block too long" in reply["error"]["message"]


@pytest.mark.clause("MCP-02")
@pytest.mark.parametrize("method", ["ping", "tools/list", "tools/call", "resources/read"])
@pytest.mark.parametrize("params", [5, "x", [], [1], True])
def test_parameters_that_are_no_object_are_invalid(peer: Peer, method: str, params: Any) -> None:
    assert peer.error(method, params)["code"] == -32602


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


@pytest.mark.clause("MCP-05", "MCP-06")
def test_a_batch_may_shake_hands_and_mix_the_eras(
    peer: Peer, req: Request, modern: Callable[..., dict[str, Any]]
) -> None:
    members = [req("initialize", {}, 1), req("server/discover", modern(), 2), req("ping", None, 3)]
    (replies,) = peer.run(members)
    assert "protocolVersion" in replies[0]["result"]
    assert replies[1]["result"]["resultType"] == "complete"
    assert replies[2]["result"] == {}


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
def test_work_that_began_before_shutdown_is_still_answered(peer: Peer, demo: Demo, req: Request) -> None:
    (job,) = peer.post(req("tools/call", {"name": "note", "arguments": {"action": "write", "line": "a"}}))
    assert peer.result("shutdown", request_id=2) is None
    job.run()
    (reply,) = peer.take()
    assert (reply["id"], demo.notes) == (1, ["a"])


@pytest.mark.clause("MCP-07")
@pytest.mark.parametrize("first", [None, "shutdown"])
def test_exit_ends_with_zero_also_as_a_request_and_without_shutdown(peer: Peer, first: str | None) -> None:
    if first is not None:
        peer.result(first)
    assert peer.result("exit", request_id=5) is None
    assert peer.session.exit_code == 0
    assert peer.run({"jsonrpc": "2.0", "id": 6, "method": "ping"}) == []


@pytest.mark.clause("MCP-01")
def test_two_requests_may_share_an_id_and_both_are_served(peer: Peer, req: Request) -> None:
    first = peer.post(req("tools/call", {"name": "echo", "arguments": {"text": "a"}}, 1))
    second = peer.post(req("tools/call", {"name": "echo", "arguments": {"text": "b"}}, 1))
    for job in (*second, *first):
        job.run()
    said = [reply["result"]["structuredContent"]["text"] for reply in peer.take()]
    assert said == ["b", "a"]


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


@pytest.mark.clause("MCP-09")
def test_a_load_that_failed_is_tried_again(connect: Callable[..., Peer], demo: Demo) -> None:
    tries: list[int] = []

    def load() -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return demo.registry()

    peer = connect(load=load)
    assert peer.error("tools/list")["code"] == -32603
    assert peer.result("tools/list")["tools"]
    assert peer.result("tools/list")["tools"]
    assert len(tries) == 2


@pytest.mark.clause("MCP-09")
def test_an_exception_in_the_reader_is_reported_and_survived(connect: Callable[..., Peer]) -> None:
    def on_watch(_: bool) -> None:
        raise OSError("a secret path /home/somebody")

    peer = connect(on_watch=on_watch)
    error = peer.error("resources/subscribe", {"uri": "memo://one"})
    assert error["code"] == -32603
    assert "secret" not in str(error)
    assert [place for place, _ in peer.alarms] == ["resources/subscribe"]
    assert peer.result("ping") == {}
