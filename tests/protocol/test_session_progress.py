"""Progress: only on a token, always rising, never after the reply, never a flood."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack_adapters.server.jobs import HEARTBEAT_SECONDS, ProgressNotes

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
def test_a_cancelled_call_gets_no_heartbeat(peer: Peer, demo: Demo, req: Request) -> None:
    (job,) = peer.post(req("tools/call", {"name": "text", "_meta": {"progressToken": "t"}}))
    peer.notify("notifications/cancelled", {"requestId": 1})
    beat(job, demo)
    assert peer.take() == []


@pytest.mark.clause("MCP-60")
@given(
    st.lists(
        st.none()
        | st.tuples(
            st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(10**20), 10**20),
            st.none() | st.floats(allow_nan=True),
        )
    )
)
def test_sent_progress_values_only_rise(moves: list[tuple[float, float | None] | None]) -> None:
    sent: list[bytes] = []
    now = 0.0
    progress = ProgressNotes("t", sent.append, lambda: now)
    for move in moves:
        now += HEARTBEAT_SECONDS
        progress.keep_alive() if move is None else progress.report(move[0], move[1], None)
    values = [json.loads(body)["params"]["progress"] for body in sent]
    assert all(one < other for one, other in itertools.pairwise(values))
