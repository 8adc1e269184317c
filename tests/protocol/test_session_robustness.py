"""Whatever arrives, each request is answered once and the session goes on; it starts without the registry."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack_adapters.server.jobs import HEARTBEAT_SECONDS
from context_pack_adapters.server.protocol_versions import CAPABILITIES_KEY, LEVEL_KEY, VERSION_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.protocol.conftest import Demo, Peer

METHODS = [
    "initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
    "resources/templates/list", "resources/subscribe", "resources/unsubscribe", "prompts/list",
    "prompts/get", "completion/complete", "logging/setLevel", "subscriptions/listen",
    "notifications/cancelled", "notifications/initialized",
]  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
KNOWN = st.sampled_from(
    ["echo", "note", "text", "greet", "memo://one", "memo://{name}", "info", "ref/prompt"]
)
META = st.fixed_dictionaries(
    {},
    optional={
        VERSION_KEY: st.just("2026-07-28") | VALUES,
        CAPABILITIES_KEY: st.just({}) | VALUES,
        LEVEL_KEY: st.just("debug") | VALUES,
        "progressToken": SCALARS,
    },
)
FIELDS = {
    "name": KNOWN | VALUES,
    "uri": KNOWN | VALUES,
    "arguments": st.just({"text": "hi"}) | VALUES,
    "cursor": VALUES,
    "level": KNOWN | VALUES,
    "requestId": st.integers(0, 3) | VALUES,
    "notifications": st.just({"resourcesListChanged": True}) | VALUES,
    "ref": st.fixed_dictionaries({"type": KNOWN, "name": KNOWN, "uri": KNOWN}) | VALUES,
    "argument": st.fixed_dictionaries({"name": KNOWN, "value": st.text()}) | VALUES,
    "_meta": META | VALUES,
}
PARAMS = st.fixed_dictionaries({}, optional=FIELDS) | VALUES
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS) | st.text()},
    optional={"id": st.integers(0, 3) | st.text(max_size=2) | VALUES, "params": PARAMS},
)
BODIES = MESSAGES | VALUES | st.lists(MESSAGES | VALUES, max_size=5)


def is_id(value: object) -> bool:
    """Whether a value can be a request's id."""
    return type(value) is int or type(value) is str


@pytest.mark.clause("MCP-90")
@given(bodies=st.lists(BODIES, max_size=8))
def test_every_request_is_answered_once_and_nothing_else_is(
    stranger: Callable[[], Peer], bodies: list[Any]
) -> None:
    peer = stranger()
    for body in bodies:
        for job in peer.post(body):
            job.run()
        if peer.session.exit_code is not None:
            return
    wanted = [
        member["id"]
        for body in bodies
        for member in (body if isinstance(body, list) else [body])
        if isinstance(member, dict) and type(member.get("method")) is str and is_id(member.get("id"))
    ]
    sent = [each for message in peer.take() for each in (message if isinstance(message, list) else [message])]
    answered = [each["id"] for each in sent if "method" not in each and each["id"] is not None]
    open_streams = [
        each["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
        for each in sent
        if each.get("method") == "notifications/subscriptions/acknowledged"
    ]
    key = lambda value: (str(type(value)), str(value))  # noqa: E731
    if "shutdown" not in str(bodies):
        assert sorted(answered + open_streams, key=key) == sorted(wanted, key=key)
    assert peer.alarms == []
    assert all(each["error"]["code"] in CODES for each in sent if "error" in each)


CODES = {-32600, -32601, -32602, -32603, -32002, -32022}


@pytest.mark.clause("MCP-90")
def test_cancels_and_replies_race_without_a_second_answer(peer: Peer, demo: Demo) -> None:
    peer.load()
    for number in range(200):
        params = {"name": "echo", "arguments": {"text": "hi"}, "_meta": {"progressToken": number}}
        (job,) = peer.post({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        demo.now += HEARTBEAT_SECONDS
        threads = [threading.Thread(target=each) for each in (job.run, job.cancel, job.check_deadline)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    replies = [message["id"] for message in peer.take() if "id" in message]
    assert len(replies) == len(set(replies))
    assert peer.alarms == []
    assert peer.result("ping") == {}
