"""What the session sends unasked: progress, log messages, changed resources."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from waiting import PATIENCE

from context_pack_adapters.server.jobs import HEARTBEAT_SECONDS
from context_pack_adapters.server.protocol_versions import LEVEL_KEY, LEVELS, SERVER_KEY, SUBSCRIPTION_KEY

if TYPE_CHECKING:
    from context_pack_adapters.server.jobs import Job
    from tests.protocol.conftest import Demo, Peer


Request = Callable[..., dict[str, Any]]

STEPS = ((0, 100), (50, 100), (100, 100))


def steps(peer: Peer, token: Any) -> list[Any]:
    """Everything sent for a call that reports progress."""
    return peer.run(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "steps", "_meta": {"progressToken": token}},
        }
    )


@pytest.mark.clause("MCP-60")
@pytest.mark.parametrize("token", [0, 1, -5, "", "t", "\u2028"])
def test_progress_is_sent_on_the_given_token_before_the_reply(peer: Peer, demo: Demo, token: Any) -> None:
    demo.reports = STEPS
    *sent, reply = steps(peer, token)
    assert reply["id"] == 1
    assert [each["params"] for each in sent] == [
        {"progressToken": token, "progress": done, "total": total, "message": f"step {done}"}
        for done, total in STEPS
    ]
    assert {each["method"] for each in sent} == {"notifications/progress"}
    assert [type(each["params"]["progressToken"]) for each in sent] == [type(token)] * 3


@pytest.mark.clause("MCP-60")
@pytest.mark.parametrize("token", [None, True, 1.5, [], {}])
def test_without_a_proper_token_nothing_is_sent(peer: Peer, demo: Demo, token: Any) -> None:
    demo.reports = STEPS
    (reply,) = steps(peer, token)
    assert reply["result"]["structuredContent"] == {"steps": 3}


@pytest.mark.clause("MCP-60")
def test_progress_floods_are_thinned_but_the_last_value_is_sent(peer: Peer, demo: Demo) -> None:
    demo.reports = tuple((done, 1000) for done in range(1001))
    *sent, _ = steps(peer, "t")
    assert [each["params"]["progress"] for each in sent] == [*range(10), 1000]


def beat(job: Job, demo: Demo) -> None:
    """Check the job when a heartbeat is due."""
    demo.now += HEARTBEAT_SECONDS
    assert not job.check_deadline()


@pytest.mark.clause("MCP-60")
def test_a_heartbeat_sends_rising_progress(peer: Peer, demo: Demo, req: Request) -> None:
    params = {"name": "wait", "_meta": {"progressToken": 0}}
    (job,) = peer.post(req("tools/call", params))
    beat(job, demo)
    beat(job, demo)
    job.check_deadline()  # it is not time yet
    values = [each["params"]["progress"] for each in peer.take()]
    assert len(values) == 2
    assert 0 < values[0] < values[1] < 1
    demo.gate.set()
    job.run()
    (reply,) = peer.take()
    assert reply["id"] == 1
    job.progress(100)
    beat(job, demo)
    assert peer.take() == []


@pytest.mark.clause("MCP-31", "MCP-60")
def test_a_cancelled_call_that_goes_on_sends_nothing_more(peer: Peer, demo: Demo, req: Request) -> None:
    demo.deaf = True
    peer.result("logging/setLevel", {"level": "debug"})
    (job,) = peer.post(req("tools/call", {"name": "wait", "_meta": {"progressToken": "t"}}))
    thread = peer.in_thread(job)
    assert demo.begun.wait(PATIENCE)
    peer.notify("notifications/cancelled", {"requestId": 1})
    job.progress(5)
    job.log("error", "too late")
    beat(job, demo)
    demo.gate.set()
    thread.join(PATIENCE)
    assert peer.take() == []


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
    assert peer.error("logging/setLevel", {"level": "loud"})["code"] == -32602


@pytest.mark.clause("MCP-70")
def test_a_modern_request_asks_for_its_own_messages(peer: Peer, modern: Modern) -> None:
    peer.result("logging/setLevel", {"level": "debug"})
    assert said(peer, modern({"name": "chatty"})) == []
    heard = said(peer, modern({"name": "chatty"}, **{LEVEL_KEY: "alert"}))
    assert [message["level"] for message in heard] == ["alert", "emergency"]


@pytest.mark.clause("MCP-70")
def test_a_failed_call_is_a_warning_and_an_exception_an_error_without_its_text(peer: Peer) -> None:
    peer.result("logging/setLevel", {"level": "warning"})
    (message,) = said(peer, {"name": "miss"})
    assert (message["level"], message["data"]["tool"]) == ("warning", "miss")
    peer.result("logging/setLevel", {"level": "error"})
    assert said(peer, {"name": "miss"}) == []
    (message,) = said(peer, {"name": "leave"})
    assert message["level"] == "error"
    assert "SystemExit" not in str(message)


ONE, TWO = "memo://one", "memo://two"


def listen(peer: Peer, modern: Modern, request_id: Any = "L", **asked: Any) -> Any:
    """Open a listen stream and return its acknowledgement."""
    params = modern({"notifications": asked})
    (acknowledged,) = peer.run(
        {"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params}
    )
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["_meta"] == {SUBSCRIPTION_KEY: request_id}
    return acknowledged["params"]["notifications"]


def updated(uri: str, request_id: Any = None) -> dict[str, Any]:
    """The message that a resource has changed."""
    params: dict[str, Any] = {"uri": uri}
    if request_id is not None:
        params["_meta"] = {SUBSCRIPTION_KEY: request_id}
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}


@pytest.mark.clause("MCP-80")
def test_a_legacy_subscriber_is_notified_until_it_unsubscribes(peer: Peer) -> None:
    for _ in range(2):
        assert peer.result("resources/subscribe", {"uri": ONE}) == {}
    peer.session.subscriptions.changed([ONE, TWO], False)
    assert peer.take() == [updated(ONE)]
    for _ in range(2):
        assert peer.result("resources/unsubscribe", {"uri": ONE}) == {}
    peer.session.subscriptions.changed([ONE, TWO], False)
    assert peer.take() == []


@pytest.mark.clause("MCP-80")
def test_list_changes_are_sent_to_legacy_clients_after_the_handshake(peer: Peer) -> None:
    peer.session.subscriptions.changed([], True)
    assert peer.take() == []
    peer.result("initialize", {})
    peer.session.subscriptions.changed([], True)
    assert peer.take() == [{"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}]
    peer.session.subscriptions.changed([], False)
    assert peer.take() == []


@pytest.mark.clause("MCP-82")
@pytest.mark.parametrize("request_id", ["L", 0, 7, ""])
def test_a_stream_is_acknowledged_first_and_every_message_carries_its_id(
    peer: Peer, modern: Modern, request_id: Any
) -> None:
    honoured = listen(peer, modern, request_id, resourceSubscriptions=[ONE, ONE], resourcesListChanged=True)
    assert honoured == {"resourceSubscriptions": [ONE], "resourcesListChanged": True}
    peer.session.subscriptions.changed([TWO, ONE], True)
    changed, listed = peer.take()
    assert changed == updated(ONE, request_id)
    assert listed == {
        "jsonrpc": "2.0",
        "method": "notifications/resources/list_changed",
        "params": {"_meta": {SUBSCRIPTION_KEY: request_id}},
    }


@pytest.mark.clause("MCP-82")
def test_a_stream_acknowledges_and_sends_only_possible_requested_changes(peer: Peer, modern: Modern) -> None:
    assert listen(peer, modern, "a", toolsListChanged=True, promptsListChanged=True) == {}
    assert listen(peer, modern, "b", resourceSubscriptions=[TWO], resourcesListChanged=False) == {
        "resourceSubscriptions": [TWO]
    }
    peer.session.subscriptions.changed([ONE], True)
    assert peer.take() == []


@pytest.mark.clause("MCP-82")
@pytest.mark.parametrize(
    "params",
    [
        {}, {"notifications": None}, {"notifications": []}, {"notifications": {"resourcesListChanged": 1}},
        {"notifications": {"toolsListChanged": "yes"}}, {"notifications": {"resourceSubscriptions": ONE}},
        {"notifications": {"resourceSubscriptions": [1]}},
        {"notifications": {"resourceSubscriptions": None}},
    ],
)  # fmt: skip
def test_a_malformed_filter_is_invalid_and_opens_nothing(
    peer: Peer, modern: Modern, params: dict[str, Any]
) -> None:
    assert peer.error("subscriptions/listen", modern(params))["code"] == -32602
    assert not peer.session.subscriptions.watching


@pytest.mark.clause("MCP-82")
@pytest.mark.parametrize("end", ["finish", "shutdown"])
def test_a_stream_ends_with_an_empty_result(peer: Peer, modern: Modern, end: str) -> None:
    listen(peer, modern, "L", resourceSubscriptions=[ONE])
    if end == "finish":
        peer.session.finish()
    else:
        peer.post({"jsonrpc": "2.0", "id": 9, "method": "shutdown"})
    closing = peer.take()[0]
    assert closing["id"] == "L"
    assert closing["result"]["resultType"] == "complete"
    assert closing["result"]["_meta"][SUBSCRIPTION_KEY] == "L"
    assert closing["result"]["_meta"][SERVER_KEY]["name"] == "demo"
    assert set(closing["result"]) == {"resultType", "_meta"}
    peer.session.subscriptions.changed([ONE], True)
    peer.session.finish()
    assert peer.take() == []


@pytest.mark.clause("MCP-82")
def test_a_cancelled_stream_ends_without_a_result(peer: Peer, modern: Modern) -> None:
    listen(peer, modern, 1, resourceSubscriptions=[ONE])
    listen(peer, modern, "1", resourceSubscriptions=[ONE])
    peer.notify("notifications/cancelled", {"requestId": 1})
    peer.session.subscriptions.changed([ONE], False)
    assert peer.take() == [updated(ONE, "1")]


@pytest.mark.clause("MCP-82")
def test_no_message_overtakes_the_acknowledgement_or_follows_the_end(peer: Peer, modern: Modern) -> None:
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            peer.session.subscriptions.changed([ONE], True)

    changer = threading.Thread(target=change)
    changer.start()
    params = modern({"notifications": {"resourceSubscriptions": [ONE], "resourcesListChanged": True}})
    for number in range(50):
        peer.post({"jsonrpc": "2.0", "id": number, "method": "subscriptions/listen", "params": params})
        peer.session.finish()
    stop.set()
    changer.join()
    streams: dict[int, list[str]] = {}
    for message in peer.take():
        if "id" in message:
            streams[message["id"]].append("end")
        else:
            stream = streams.setdefault(message["params"]["_meta"][SUBSCRIPTION_KEY], [])
            stream.append(message["method"].rpartition("/")[2])
    assert sorted(streams) == list(range(50))
    for stream in streams.values():
        assert stream.count("acknowledged") == stream.count("end") == 1
        assert (stream[0], stream[-1]) == ("acknowledged", "end")


@pytest.mark.clause("MCP-28")
def test_a_subscribe_is_answered_after_the_watcher_looked(peer: Peer, req: Request) -> None:
    (job,) = peer.post(req("resources/subscribe", {"uri": ONE}))
    assert (peer.watches, peer.take()) == ([], [])
    job.run()
    assert peer.watches == [True]
    assert [message["result"] for message in peer.take()] == [{}]


@pytest.mark.clause("MCP-28")
def test_an_unsubscribe_that_overtakes_its_subscribe_still_wins(peer: Peer, req: Request) -> None:
    (job,) = peer.post(req("resources/subscribe", {"uri": ONE}, 1))
    assert list(peer.post(req("resources/unsubscribe", {"uri": ONE}, 2))) == []
    job.run()
    assert [message["result"] for message in peer.take()] == [{}, {}]
    assert not peer.session.subscriptions.watching


@pytest.mark.clause("MCP-80")
def test_unwatched_resources_cannot_be_subscribed_to(connect: Callable[..., Peer], modern: Modern) -> None:
    peer = connect(is_watchable=lambda uri: uri == ONE)
    refused = peer.error("resources/subscribe", {"uri": TWO})
    assert (refused["code"], refused["data"]) == (-32602, {"uri": TWO})
    assert peer.result("resources/subscribe", {"uri": ONE}) == {}
    assert listen(peer, modern, resourceSubscriptions=[TWO, ONE]) == {"resourceSubscriptions": [ONE]}
    assert listen(peer, modern, "M", resourceSubscriptions=[TWO]) == {}
