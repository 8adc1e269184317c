"""Calls that take too long, or that the system leaves no room for: each is answered once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from waiting import PATIENCE

from context_pack.kernel.errors import Code, Failure

if TYPE_CHECKING:
    from tests.protocol.conftest import Demo, Peer

Request = Callable[..., dict[str, Any]]
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
    assert peer.take() == demo.settled == []


@pytest.mark.clause("TR-52")
def test_a_deadline_is_counted_from_when_a_call_begins(peer: Peer, demo: Demo, req: Request) -> None:
    (job,) = peer.post(req("tools/call", WAIT, 7))
    demo.now = 100.0
    assert not job.check_deadline()
    demo.gate.set()
    job.run()
    (reply,) = peer.take()
    assert not reply["result"]["isError"]


@pytest.mark.clause("TR-54")
def test_a_call_without_a_free_thread_is_refused_once(peer: Peer, demo: Demo, req: Request) -> None:
    peer.load()
    (job,) = peer.post(req("tools/call", WAIT, 7))
    job.give_up(Failure(Code.IO_ERROR, "no threads"))
    job.run()
    assert told(peer) == {"error": "io_error", "message": "no threads", "request_id": 7}
    assert not demo.begun.is_set()


@pytest.mark.clause("TR-54")
def test_other_requests_are_refused_as_protocol_errors(peer: Peer, req: Request) -> None:
    peer.load()
    (job,) = peer.post(req("resources/read", {"uri": "memo://one"}, 7))
    job.give_up(Failure(Code.IO_ERROR, "no threads"))
    (reply,) = peer.take()
    assert reply["error"] == {"code": -32603, "message": "no threads", "data": {"code": "io_error"}}
