"""Changed resources: who hears of them, in which words, from when and until when."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from context_pack_adapters.server.protocol_versions import SERVER_KEY, SUBSCRIPTION_KEY

if TYPE_CHECKING:
    from tests.protocol.conftest import Peer

Modern = Callable[..., dict[str, Any]]
Request = Callable[..., dict[str, Any]]
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
        {},
        {"notifications": None},
        {"notifications": []},
        {"notifications": {"resourcesListChanged": 1}},
        {"notifications": {"toolsListChanged": "yes"}},
        {"notifications": {"resourceSubscriptions": ONE}},
        {"notifications": {"resourceSubscriptions": [1]}},
        {"notifications": {"resourceSubscriptions": None}},
    ],
)
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


@pytest.mark.clause("MCP-86")
def test_listing_starts_the_watcher_only_after_a_handshake(peer: Peer, modern: Modern) -> None:
    peer.result("resources/list", {})
    peer.result("resources/list", modern({}))
    assert peer.watches == []
    peer.result("initialize", {})
    peer.result("resources/list", {})
    peer.result("resources/list", {})
    assert (peer.watches, peer.session.subscriptions.watched) == ([True], frozenset())
    peer.session.finish()
    assert peer.watches == [True, False]


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


@pytest.mark.clause("MCP-28", "MCP-82")
@pytest.mark.parametrize("withdrawn", [False, True])
def test_a_stream_is_acknowledged_after_the_watcher_started_unless_cancelled(
    peer: Peer, req: Request, modern: Modern, withdrawn: bool
) -> None:
    params = modern({"notifications": {"resourceSubscriptions": [ONE]}})
    (job,) = peer.post(req("subscriptions/listen", params, 7))
    peer.session.subscriptions.changed([ONE], False)
    assert peer.take() == []
    if withdrawn:
        peer.notify("notifications/cancelled", {"requestId": 7})
    job.run()
    said = [message["method"] for message in peer.take()]
    assert said == ([] if withdrawn else ["notifications/subscriptions/acknowledged"])
    assert peer.session.subscriptions.watching is not withdrawn


@pytest.mark.clause("MCP-80")
def test_unwatched_resources_cannot_be_subscribed_to(connect: Callable[..., Peer], modern: Modern) -> None:
    peer = connect(is_watchable=lambda uri: uri == ONE)
    refused = peer.error("resources/subscribe", {"uri": TWO})
    assert (refused["code"], refused["data"]) == (-32602, {"uri": TWO})
    assert peer.result("resources/subscribe", {"uri": ONE}) == {}
    assert listen(peer, modern, resourceSubscriptions=[TWO, ONE]) == {"resourceSubscriptions": [ONE]}
    assert listen(peer, modern, "M", resourceSubscriptions=[TWO]) == {}
