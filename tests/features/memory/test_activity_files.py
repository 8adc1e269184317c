"""Sessions and reads on disk: there with each call, counted together, never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inmemory import FixedClock
from stdio_client import ROOT, environment
from waiting import PATIENCE

from context_pack import open_workspace
from context_pack.app import most_read
from context_pack.kernel.paths import RelativePath
from context_pack.memory.discovery import uuid_of
from context_pack.toolkit.limits import Metrics, stats_text
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory import activity
from context_pack_adapters.memory.activity import BROKEN, FILE, Activity

ONE, TWO = uuid_of(b"1" * 16), uuid_of(b"2" * 16)
A = RelativePath("a.py")


def opened(root: Path, session: str = ONE, clock: FixedClock | None = None) -> Activity:
    return Activity(PrivateFolder(root), clock or FixedClock(), session)


@pytest.mark.clause("ME-10")
def test_a_session_is_on_disk_with_a_call_each_second_and_at_its_end(tmp_path: Path) -> None:
    clock = FixedClock()
    log, reader = opened(tmp_path, ONE, clock), opened(tmp_path, TWO)
    log.keep()  # a record that names it is about to be stored
    assert [(past.id, past.tools) for past in reader.past()] == [(ONE, {})]
    log.read(A)
    log.called("read_file")
    clock.advance(seconds=1)
    log.called("read_file")
    (past,) = reader.past()
    assert (past.ended, past.tools, past.files) == (None, {"read_file": 2}, ("a.py",))
    clock.advance(minutes=3)
    log.end()
    (past,) = reader.past()
    assert past.ended == clock.now()


@pytest.mark.clause("ME-10")
def test_a_connection_that_called_nothing_leaves_nothing(tmp_path: Path) -> None:
    opened(tmp_path).end()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("ME-10")
def test_the_oldest_sessions_go_when_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FixedClock()
    monkeypatch.setattr(activity, "KEPT", 2)
    for number in range(4):
        clock.advance(minutes=1)
        opened(tmp_path, uuid_of(bytes([number]) * 16), clock).called("output")
    assert [past.id[1] for past in opened(tmp_path).past()] == ["2", "3"]


WORKER = """
import sys
from context_pack.kernel.paths import RelativePath
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.system import SystemClock
from context_pack_adapters.memory import activity
activity.SECONDS = 120.0
log = activity.Activity(PrivateFolder(sys.argv[1]), SystemClock(), "")
for number in range(20):
    log.record(RelativePath("a.py"), SystemClock().now())
    log.record(RelativePath(f"own-{sys.argv[2]}.py"), SystemClock().now())
"""


@pytest.mark.clause("CD-43")
def test_processes_count_together(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(number)], env=environment(), cwd=ROOT
        )
        for number in range(4)
    ]
    assert [worker.wait(PATIENCE) for worker in workers] == [0] * 4
    counts = {item.path.value: item.count for item in opened(tmp_path).items()}
    assert counts == {"a.py": 80, **{f"own-{number}.py": 20 for number in range(4)}}


@pytest.mark.clause("CD-43", "ME-10")
def test_a_file_that_cannot_be_understood_is_kept_aside(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    log = opened(tmp_path)
    log.record(A, FixedClock().now())
    log.record(A, FixedClock().now())
    assert [item.count for item in log.items()] == [1]
    assert (tmp_path / BROKEN).read_bytes().startswith(b"no database")


@pytest.mark.clause("CD-43", "ME-10")
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_of_ours_is_not_used_and_fails_nothing(tmp_path: Path, kind: str) -> None:
    state, place = tmp_path / "state", tmp_path / "state" / FILE
    state.mkdir()
    if kind == "link":
        place.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir()
    log = opened(state)
    log.record(A, FixedClock().now())
    log.called("output")
    log.end()
    assert (list(log.items()), list(log.past())) == ([], [])
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.clause("CD-43")
def test_the_statistics_show_the_files_that_are_read_most(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with open_workspace(tmp_path, storage=tmp_path / "s", cache=tmp_path / "c") as workspace:
        for _ in range(2):
            workspace.code.read("a.py")
        shown = json.loads(stats_text(Metrics(), lambda: most_read(workspace.cases.ports)))
    (row,) = shown["filesRead"]
    assert (row["path"], row["count"], row["score"]) == ("a.py", 2, pytest.approx(0.608, abs=0.001))
