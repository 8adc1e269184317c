"""The front: what is served where it is read, and what the lanes learn of it."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator

import pytest
from waiting import until

from context_pack_adapters.mcp.front import Front
from context_pack_adapters.mcp.lane import LaneJob
from context_pack_adapters.mcp.lanes import Lanes
from context_pack_adapters.mcp.writer import Writer

PATIENCE = 120.0


class Task:
    """A job that notes that it has begun and goes on until its gate is opened."""

    lane, family, subject = "read", "demo", ""
    seconds = patience = 60.0
    is_over = False

    def __init__(self) -> None:
        self.later: list[Callable[[], None]] = []
        self.begun, self.gate = threading.Event(), threading.Event()

    def find_lane(self) -> None: ...

    def run(self) -> None:
        self.begun.set()
        self.gate.wait(PATIENCE)

    def look(self, stalled: bool) -> float | None:
        return self.seconds

    def refuse(self, reason: str, words: str) -> None: ...


class Stage:
    """A front that reads from a pipe; each byte is the next of the tasks."""

    def __init__(self, reads: int, writes: int) -> None:
        self.reads, self.writes = reads, writes
        self.woken = threading.Event()
        self.tasks: list[LaneJob] = []
        self.lanes = Lanes(self.woken.set)
        self.front = Front(reads, self.take, self.lanes, Writer(writes, self.woken.set), self.woken.set)

    def take(self, unsent: list[bytes]) -> LaneJob | None:
        os.read(self.reads, 1)
        return self.tasks.pop(0)

    def send(self, task: Task) -> None:
        """Let the front read this one."""
        self.tasks.append(task)
        os.write(self.writes, b".")


@pytest.fixture
def stage() -> Iterator[Stage]:
    reads, writes = os.pipe()
    stage = Stage(reads, writes)
    yield stage
    stage.front.take_back()
    os.write(writes, b".")  # so that the thread leaves the pipe alone
    until(lambda: stage.front.idle)
    os.close(writes)
    os.close(reads)


@pytest.mark.clause("TR-53")
def test_calls_one_after_the_other_are_served_by_the_front_alone(stage: Stage) -> None:
    first, second = Task(), Task()
    stage.front.give(first)
    assert first.begun.wait(PATIENCE)
    assert not stage.lanes.open
    first.gate.set()
    stage.send(second)
    assert second.begun.wait(PATIENCE)
    assert not stage.lanes.open
    assert stage.front.reads
    second.gate.set()


@pytest.mark.clause("TR-52", "TR-53")
@pytest.mark.parametrize("learn", [Front.take_back, Front.look])
def test_the_lanes_look_after_a_call_that_takes_long(stage: Stage, learn: Callable[[Front], None]) -> None:
    task = Task()
    assert stage.front.due == math.inf
    stage.front.give(task)
    assert stage.woken.is_set()  # whoever looks after overdue jobs must know when
    assert task.begun.wait(PATIENCE)
    due = stage.front.due
    assert due < math.inf
    learn(stage.front)
    assert stage.lanes.open == {task}
    assert (stage.lanes.due, stage.front.due) == (due, math.inf)
    task.gate.set()
    assert stage.lanes.settle(PATIENCE)


@pytest.mark.clause("TR-53")
def test_the_next_call_wakes_the_main_thread_while_the_front_is_at_work(stage: Stage) -> None:
    first, second = Task(), Task()
    stage.front.give(first)
    assert first.begun.wait(PATIENCE)
    assert not stage.front.standby.poll(0)
    stage.send(second)
    assert stage.front.standby.poll(PATIENCE)
    stage.front.take_back()
    assert not stage.front.standby.poll(0)
    first.gate.set()
    until(lambda: stage.front.idle)
    assert not second.begun.is_set()
    os.read(stage.reads, 1)


@pytest.mark.clause("TR-40")
def test_the_main_thread_is_given_what_ends_the_reading(stage: Stage) -> None:
    task = Task()
    stage.front.give(task)
    task.gate.set()
    stage.woken.clear()
    os.write(stage.writes, b".")  # there is no task: taking it fails
    assert stage.woken.wait(PATIENCE)
    assert isinstance(stage.front.raised, IndexError)
    assert not stage.front.reads
