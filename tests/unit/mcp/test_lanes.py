"""Lanes: order where it counts, others passing where it does not, and nothing lost when many come at once."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import pytest
from waiting import PATIENCE

from context_pack_adapters.mcp.lane import MOST_LOST
from context_pack_adapters.mcp.lanes import FULL_JOBS, Lanes


class Task:
    """A job that notes that it ran; `opens` is waited for when its lane is looked for."""

    family = "demo"
    subject = ""
    is_over = False

    def __init__(
        self, name: str, lane: str, log: list[str], work: Callable[[], object] = lambda: None
    ) -> None:
        self.name, self.lane, self.log, self.work = name, lane, log, work
        self.overdue = False
        self.later: list[Callable[[], None]] = []
        self.seconds = self.patience = 60.0
        self.refusals: list[str] = []
        self.own_lane = lane
        self.opens: threading.Event | None = None

    def unloaded(self, opens: threading.Event) -> Task:
        self.lane, self.opens = "unrouted", opens
        return self

    def find_lane(self) -> None:
        if self.opens is not None:
            self.opens.wait(PATIENCE)
        self.lane = self.own_lane

    def run(self) -> None:
        self.work()
        self.log.append(self.name)

    def cancel(self) -> None: ...

    def look(self, stalled: bool) -> float | None:
        return None if self.overdue else self.seconds

    def refuse(self, reason: str, words: str) -> None:
        self.refusals.append(reason)


@pytest.mark.clause("MCP-26")
def test_writes_queued_before_and_after_loading_keep_their_order() -> None:
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
def test_a_full_queue_signals_when_it_has_room_again() -> None:
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


@pytest.mark.clause("TR-53")
@pytest.mark.parametrize("lane", ["read", "slow", "write"])
def test_stuck_calls_block_only_their_own_family_and_lane(lane: str) -> None:
    lanes, log, stuck = Lanes(lambda: None), list[str](), threading.Event()
    for number in range(40):
        lanes.submit(Task(f"stuck {number}", lane, log, lambda: stuck.wait(PATIENCE)))
    for kind in {"read", "slow", "write"} - {lane}:
        passed = threading.Event()
        lanes.submit(Task(f"beside {kind}", kind, log, passed.set))
        assert passed.wait(PATIENCE)
    passed = threading.Event()
    other = Task("other", lane, log, passed.set)
    other.family = "another"
    lanes.submit(other)
    assert passed.wait(PATIENCE)
    stuck.set()
    assert lanes.settle(PATIENCE)


def hang(lanes: Lanes, stuck: threading.Event, log: list[str] | None = None) -> Task:
    """A change that has begun and goes on until `stuck` is set."""
    begun = threading.Event()

    def work() -> None:
        begun.set()
        stuck.wait(PATIENCE)

    hung = Task("hung", "write", [] if log is None else log, work)
    lanes.submit(hung)
    assert begun.wait(PATIENCE)
    return hung


@pytest.mark.clause("TR-53")
def test_a_thread_stuck_past_its_deadline_is_replaced_and_ends_when_it_comes_back() -> None:
    lanes, log, stuck = Lanes(lambda: None), list[str](), threading.Event()
    hung = hang(lanes, stuck)
    passed = threading.Event()
    lanes.submit(Task("next", "write", log, passed.set))
    hung.overdue = True
    lanes.look()
    assert passed.wait(PATIENCE)
    assert log == ["next"]
    stuck.set()
    again = threading.Event()
    lanes.submit(Task("again", "write", log, again.set))
    assert again.wait(PATIENCE)
    assert lanes.settle(PATIENCE)


def about(subject: str, lanes: Lanes, log: list[str], work: Callable[[], object] = lambda: None) -> None:
    """Submit a change of that thing."""
    task = Task(subject, "write", log, work)
    task.subject = subject
    lanes.submit(task)


@pytest.mark.clause("MCP-36")
def test_changes_of_other_packs_pass_a_stuck_change_in_order() -> None:
    lanes, log, stuck, passed = Lanes(lambda: None), list[str](), threading.Event(), threading.Event()
    hang(lanes, stuck, log).subject = "locked"
    for subject in ("one", "locked", "two", "one"):
        about(subject, lanes, log)
    about("three", lanes, log, passed.set)
    about("", lanes, log)
    about("four", lanes, log)
    until(passed, lanes)
    assert log[:3] == ["one", "two", "one"]
    stuck.set()
    assert lanes.settle(PATIENCE)
    assert log == ["one", "two", "one", "three", "hung", "locked", "", "four"]


def until(done: threading.Event, lanes: Lanes) -> None:
    """Nudge, as the pump does, until that has happened."""
    while not done.wait(0.002):
        lanes.nudge()


@pytest.mark.clause("TR-53")
def test_only_so_many_stuck_threads_are_replaced() -> None:
    lanes, stuck = Lanes(lambda: None), threading.Event()
    for _ in range(MOST_LOST + 1):
        hang(lanes, stuck).overdue = True
        lanes.look()
    waiting = Task("waiting", "write", [])
    lanes.submit(waiting)
    assert lanes.waiting
    stuck.set()
    assert lanes.settle(PATIENCE)


@pytest.mark.clause("TR-53")
@pytest.mark.parametrize("lane", ["read", "slow", "write"])
def test_an_adopted_job_is_one_of_its_lane_and_what_came_behind_it_is_served(lane: str) -> None:
    lanes, log = Lanes(lambda: None), list[str]()
    behind = [Task(f"behind {number}", lane, log) for number in range(3)]

    def submit_behind() -> None:
        for task in behind:
            lanes.submit(task)

    task = Task("adopted", lane, log, submit_behind)
    adopted = lanes.adopt(task, math.inf)
    assert lanes.open == {task}
    task.run()
    lanes.release(adopted)
    assert lanes.settle(PATIENCE)
    assert log[0] == "adopted"
    assert sorted(log[1:]) == [task.name for task in behind]
    assert not lanes.open


def serve_adopted(lanes: Lanes, task: Task, due: float = math.inf) -> threading.Thread:
    """A thread outside the lanes that serves a job they have adopted."""
    entry = lanes.adopt(task, due)

    def serve() -> None:
        task.run()
        lanes.release(entry)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


@pytest.mark.clause("TR-53")
def test_an_adopted_mutation_that_hangs_is_passed_by_those_about_other_things_only() -> None:
    lanes, log, stuck = Lanes(lambda: None), list[str](), threading.Event()
    task = Task("adopted", "write", log, lambda: stuck.wait(PATIENCE))
    task.subject = "mine"
    thread = serve_adopted(lanes, task)
    passed = threading.Event()
    for name, subject, work in (("same", "mine", lambda: None), ("other", "other", passed.set)):
        following = Task(name, "write", log, work)
        following.subject = subject
        lanes.submit(following)
    while not passed.wait(0.01):
        lanes.nudge()
    stuck.set()
    thread.join(PATIENCE)
    assert lanes.settle(PATIENCE)
    assert log == ["other", "adopted", "same"]


@pytest.mark.clause("TR-52")
def test_an_adopted_job_that_never_comes_back_is_written_off_and_may_still_return() -> None:
    lanes, log, stuck = Lanes(lambda: None), list[str](), threading.Event()
    task = Task("stuck", "write", log, lambda: stuck.wait(PATIENCE))
    thread = serve_adopted(lanes, task, due=7.0)
    assert lanes.due == 7.0
    task.overdue = True
    lanes.look()
    lanes.submit(Task("next", "write", log))
    assert lanes.settle(PATIENCE)
    assert log == ["next"]
    stuck.set()
    thread.join(PATIENCE)
    lanes.submit(Task("last", "write", log))
    assert lanes.settle(PATIENCE)
    assert log == ["next", "stuck", "last"]
