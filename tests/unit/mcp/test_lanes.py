"""Lanes: order where it counts, others passing where it does not, and nothing lost when many come at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from context_pack_adapters.mcp.lanes import FULL_JOBS, Lanes

PATIENCE = 20.0


class Task:
    """A job that notes that it ran; `opens` is waited for when its lane is looked for."""

    family = "demo"
    wants_heartbeat = False

    def __init__(
        self, name: str, lane: str, log: list[str], work: Callable[[], object] = lambda: None
    ) -> None:
        self.name, self.lane, self.log, self.work = name, lane, log, work
        self.later = lane
        self.opens: threading.Event | None = None

    def unloaded(self, opens: threading.Event) -> Task:
        self.lane, self.opens = "hall", opens
        return self

    def find_lane(self) -> None:
        if self.opens is not None:
            self.opens.wait(PATIENCE)
        self.lane = self.later

    def run(self) -> None:
        self.work()
        self.log.append(self.name)

    def heartbeat(self) -> None: ...
    def cancel(self) -> None: ...


@pytest.mark.clause("MCP-26")
def test_what_comes_before_the_tools_are_loaded_and_behind_it_keeps_its_order() -> None:
    lanes, log, opens = Lanes(lambda: None), list[str](), threading.Event()
    for number in range(5):
        lanes.submit(Task(f"early {number}", "write", log).unloaded(opens))
    for number in range(5):
        lanes.submit(Task(f"late {number}", "write", log))
    assert log == []
    opens.set()
    assert lanes.settle(PATIENCE)
    assert log == [f"early {number}" for number in range(5)] + [f"late {number}" for number in range(5)]
    lanes.submit(Task("direct", "write", log))
    assert lanes.settle(PATIENCE)
    assert log[-1] == "direct"


@pytest.mark.clause("MCP-26", "TR-51")
def test_a_read_that_came_early_passes_a_slow_search_that_came_earlier() -> None:
    lanes, log, opens, stuck = Lanes(lambda: None), list[str](), threading.Event(), threading.Event()
    read = threading.Event()
    lanes.submit(Task("search", "slow", log, lambda: stuck.wait(PATIENCE)).unloaded(opens))
    lanes.submit(Task("read", "read", log, read.set).unloaded(opens))
    opens.set()
    assert read.wait(PATIENCE)
    stuck.set()
    assert lanes.settle(PATIENCE)
    assert log == ["read", "search"]


@pytest.mark.clause("TR-51")
def test_when_searches_are_stuck_more_threads_join_so_that_others_pass() -> None:
    lanes, log, stuck = Lanes(lambda: None), list[str](), threading.Event()
    for number in range(8):
        lanes.submit(Task(f"stuck {number}", "slow", log, lambda: stuck.wait(PATIENCE)))
    passed = threading.Event()
    lanes.submit(Task("quick", "slow", log, passed.set))
    while not passed.wait(0.01):
        lanes.nudge()
    stuck.set()
    assert lanes.settle(PATIENCE)
    assert len(log) == 9


@pytest.mark.clause("TR-51")
def test_a_full_house_says_when_there_is_room_again() -> None:
    room = threading.Event()
    lanes, log, stuck = Lanes(room.set), list[str](), threading.Event()
    lanes.submit(Task("first", "write", log, lambda: stuck.wait(PATIENCE)))
    for number in range(FULL_JOBS):
        lanes.submit(Task(str(number), "write", log))
    assert lanes.full
    assert not room.is_set()
    stuck.set()
    assert room.wait(PATIENCE)
    assert lanes.settle(PATIENCE)
    assert not lanes.full
    assert len(log) == FULL_JOBS + 1
