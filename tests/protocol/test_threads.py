"""Where jobs run: order of changes, reads behind them, and what hangs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from threading import Event

import pytest
from waiting import PATIENCE, until

from context_pack_adapters.server import threads
from context_pack_adapters.server.jobs import ConnectionState, Job
from context_pack_adapters.server.protocol_versions import RequestContext
from context_pack_adapters.server.threads import THREADS, WorkerPools, Writer


class Desk:
    """Makes jobs, runs them in pools, and notes what they did."""

    def __init__(self) -> None:
        self.now = 0.0
        self.notes: list[str] = []
        self.replies: list[bytes | None] = []
        self.gate = Event()
        self.state = ConnectionState(lambda _: None, lambda: self.now, lambda _, __: None)
        self.pools = WorkerPools(lambda: None)

    def job(self, note: str, kind: str, family: str = "demo", blocked: bool = False) -> Job:
        """Submit a job that notes something, once the gate is open if it is blocked."""

        def work(_: Job) -> bytes:
            if blocked:
                self.notes.append(f"{note} begun")
                assert self.gate.wait(PATIENCE)
            self.notes.append(note)
            return note.encode()

        request = RequestContext(len(self.notes), "m", {}, None, self.replies.append)
        job = Job(self.state, request, work, kind, family)
        self.pools.submit(job)
        return job


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.gate.set()


@pytest.mark.clause("MCP-26")
def test_changes_of_a_family_keep_their_order_of_arrival(desk: Desk) -> None:
    desk.job("first", "write", blocked=True)
    for number in range(20):
        desk.job(str(number), "write")
    desk.gate.set()
    until(lambda: len(desk.replies) == 21)
    assert desk.notes == ["first begun", "first", *map(str, range(20))]


@pytest.mark.clause("MCP-26")
def test_a_read_sees_the_change_that_came_before_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "READ_AFTER_WRITE_SECONDS", PATIENCE)  # a busy machine may take its time
    for number in range(30):
        desk.job(f"change {number}", "write")
        desk.job(f"read {number}", "read")
        desk.job(f"any {number}", "read", family="")
    until(lambda: len(desk.replies) == 90)
    for number in range(30):
        change = desk.notes.index(f"change {number}")
        assert change < min(desk.notes.index(f"read {number}"), desk.notes.index(f"any {number}"))


@pytest.mark.clause("MCP-26", "TR-53")
def test_a_stuck_change_holds_up_neither_reads_nor_other_families(desk: Desk) -> None:
    desk.job("stuck", "write", blocked=True)
    desk.job("read", "read")
    desk.job("search", "slow")
    desk.job("other", "write", family="other")
    until(lambda: {"read", "search", "other"} <= set(desk.notes))
    assert "stuck" not in desk.notes


@pytest.mark.clause("TR-53", "TR-52")
@pytest.mark.parametrize("kind", ["read", "slow", "write"])
def test_what_waits_behind_stuck_calls_goes_on_after_their_deadline(desk: Desk, kind: str) -> None:
    stuck = [desk.job(f"stuck {number}", kind, blocked=True) for number in range(THREADS[kind])]
    until(lambda: len(desk.notes) == len(stuck))
    desk.job("first", kind)
    desk.job("second", kind)
    desk.now = stuck[0].seconds + 3
    for job in stuck:
        assert job.check_deadline()
        desk.pools.replace(job, list(desk.state.jobs))
    until(lambda: {"first", "second"} <= set(desk.notes))
    assert desk.notes.index("first") < desk.notes.index("second") or kind != "write"
    desk.gate.set()
    until(lambda: len(desk.notes) == 2 * len(stuck) + 2)
    assert len(desk.replies) == len(stuck) + 2  # one each: a late result is not sent


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    yield reads, writes
    os.close(reads)
    os.close(writes)


@pytest.mark.clause("TR-48")
@pytest.mark.parametrize("blocking", [True, False])
def test_frames_are_written_whole_and_in_order_while_nobody_waits(
    pipe: tuple[int, int], blocking: bool
) -> None:
    reads, writes = pipe
    os.set_blocking(writes, blocking)
    progress: list[None] = []
    note: Callable[[], None] = lambda: progress.append(None)  # noqa: E731
    writer = Writer(writes, note)
    frames = [bytes([65 + number % 26]) * (number * 97 % 5000 + 1) for number in range(400)]
    for frame in frames:
        writer.send(frame)
    whole, data = b"".join(frames), b""
    while len(data) < len(whole):
        data += os.read(reads, 1 << 16)
    assert data == whole
    writer.close(PATIENCE)
    assert writer.unsent == 0
    assert progress
    assert not writer.closed
