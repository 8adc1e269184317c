"""Withdrawn requests: nothing is begun, what runs is stopped, and nothing more is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from waiting import PATIENCE

if TYPE_CHECKING:
    from tests.protocol.conftest import Demo, Peer

Request = Callable[..., dict[str, Any]]
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
    assert (demo.notes, demo.settled, peer.take()) == ([], [], [])


@pytest.mark.clause("MCP-31")
def test_a_running_call_is_stopped_and_not_answered(peer: Peer, demo: Demo, req: Request) -> None:
    (thread,) = peer.start(req("tools/call", {"name": "wait", "_meta": {"progressToken": 1}}, "w"))
    assert demo.begun.wait(PATIENCE)
    cancel(peer, "w")
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert peer.take() == []
    assert demo.settled == []
    assert (peer.alarms, demo.alarms) == ([], [])


@pytest.mark.clause("MCP-31")
def test_a_call_that_cannot_be_stopped_any_more_is_not_answered_either(
    peer: Peer, demo: Demo, req: Request
) -> None:
    (job,) = peer.post(req("tools/call", WRITE, 1))
    job.after(lambda: None)
    original = demo.notes

    class Late(list[str]):
        def append(self, line: str) -> None:
            original.append(line)
            cancel(peer, 1)

    demo.notes = Late()
    job.run()
    assert (original, peer.take(), demo.settled) == (["x"], [], ["x"])


@pytest.mark.clause("MCP-30")
@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        [],
        {"requestId": None},
        {"requestId": 1.0},
        {"requestId": True},
        {"requestId": "1"},
        {"requestId": [1]},
        {"requestId": 99},
    ],
)
def test_a_cancel_of_nothing_known_is_ignored(peer: Peer, req: Request, params: Any) -> None:
    (job,) = peer.post(req("tools/call", {"name": "text"}, 1))
    peer.notify("notifications/cancelled", params)
    job.run()
    (reply,) = peer.take()
    assert reply["id"] == 1


@pytest.mark.clause("MCP-30")
def test_a_cancel_is_not_remembered_for_a_later_request(peer: Peer) -> None:
    cancel(peer, 1)
    assert peer.call("text")["isError"] is False


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


@pytest.mark.clause("MCP-31")
def test_running_a_job_twice_does_it_once(peer: Peer, demo: Demo, req: Request) -> None:
    (job,) = peer.post(req("tools/call", WRITE))
    job.run()
    job.run()
    job.cancel()
    assert (demo.notes, len(peer.take())) == (["x"], 1)
