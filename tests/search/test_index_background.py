"""Tasks in child processes: started once, polite, and gone when their parent is, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import is_alive, until

from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.index.background import (
    ChildBackground,
    task_lock,
)
from context_pack_adapters.private_places import project_key

CHILD = """
import os, sys
sys.path[:] = {path!r}
from context_pack_adapters.cli import dispatch, index
os.environ["CONTEXT_PACK_CACHE"] = {root!r} + "/private"
def run(cases, stop):
    with open({told!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{os.nice(0)}} {{os.environ.get('CONTEXT_PACK_LOG')}}\\n")
    while not stop() and {busy}:
        pass
    return {code}
index.TASKS[sys.argv[1]] = run
sys.exit(dispatch.run(["--root", {root!r}, "--source-root", {root!r}, "task", sys.argv[1]]))
"""
PARENT = """
import sys
sys.path[:] = {path!r}
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.index.background import ChildBackground
background = ChildBackground([sys.executable, {child!r}], {{}}, folder=PrivateFolder({folder!r}))
assert background.start("documents")
print("started", flush=True)
sys.stdin.read()
"""


def is_gone(process: int) -> bool:
    """Whether no such process is left, not even as a zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


class Task:
    """A child's program and what it told."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = PrivateFolder(root / "private" / "cache" / project_key(str(root), str(root)))
        self.told = root / "told"
        self.program = root / "child.py"
        self.write()

    def write(self, busy: bool = True, code: int = 0) -> None:
        """How a run of the task goes."""
        text = CHILD.format(path=sys.path, told=str(self.told), root=str(self.root), busy=busy, code=code)
        self.program.write_text(text, "utf-8")

    def runs(self) -> list[list[str]]:
        """What each run told: its process, its niceness, its log level."""
        return [line.split() for line in self.told.read_text().splitlines()] if self.told.exists() else []

    def background(self) -> ChildBackground:
        environ = {**os.environ, "CONTEXT_PACK_LOG": "debug"}
        return ChildBackground([sys.executable, str(self.program)], environ, folder=self.folder)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(tmp_path)


@pytest.fixture
def background(task: Task) -> Iterator[ChildBackground]:
    made = task.background()
    yield made
    made.stop_all()


@pytest.mark.clause("IX-15")
def test_a_background_task_runs_once_with_low_priority_and_our_variables(
    task: Task, background: ChildBackground
) -> None:
    assert background.wait("documents", 0)
    assert background.start("documents")
    assert background.start("documents")
    assert not background.wait("documents", 0)
    until(lambda: bool(task.runs()))
    ((process, niceness, level),) = task.runs()
    assert int(niceness) >= 10
    assert level == "debug"
    background.stop_all()
    assert is_gone(int(process)), "not even a zombie"
    assert background.wait("documents", 0)


@pytest.mark.clause("IX-15")
def test_a_task_that_another_process_does_is_not_started(task: Task, background: ChildBackground) -> None:
    task.folder.make()
    with task_lock(task.folder, "documents"):
        assert background.start("documents")
        assert background.wait("documents", 0)
        done = subprocess.run(
            [sys.executable, str(task.program), "documents"], stdin=subprocess.PIPE, timeout=60
        )
        assert done.returncode == 0
    assert task.runs() == []


@pytest.mark.clause("IX-15", "RT-25")
def test_a_task_that_failed_says_why_and_is_left_alone_for_a_while(
    task: Task, background: ChildBackground
) -> None:
    task.write(busy=False, code=1)
    text = task.program.read_text("utf-8")
    task.program.write_text(text.replace("    return 1", "    print('the endpoint is away')\n    return 1"))
    assert background.trouble("documents") is None
    background.start("documents")
    assert background.wait("documents", 60)
    assert background.trouble("documents") == "the endpoint is away"
    assert not background.start("documents")
    assert len(task.runs()) == 1
    task.write(busy=False)
    for count in (1, 2):
        assert background.start("memory")
        assert background.wait("memory", 60)
        assert len(task.runs()) == 1 + count


@pytest.mark.clause("IX-15")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, None])
def test_a_background_task_ends_with_its_parent_process(task: Task, end: signal.Signals | None) -> None:
    text = PARENT.format(path=sys.path, child=str(task.program), folder=task.folder.path)
    parent = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        assert parent.stdout.readline() == "started\n"
        until(lambda: bool(task.runs()))
        if end is None:
            parent.stdin.close()
        else:
            parent.send_signal(end)
        parent.wait(60)
    ((process, *_),) = task.runs()
    until(lambda: not is_alive(int(process)))
