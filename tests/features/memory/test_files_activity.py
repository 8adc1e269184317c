"""Sessions and reads on disk: there with each call, counted together, never in the way."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from inmemory import FixedClock
from stdio_client import ROOT, environment
from waiting import PATIENCE

from context_pack import open_workspace
from context_pack.app import most_read
from context_pack.kernel.paths import RelativePath
from context_pack.memory.discovery import Session, summary, uuid_of
from context_pack.toolkit.limits import Metrics, stats_text
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory import activity
from context_pack_adapters.memory.activity import BROKEN, FILE, Activity

A, B = RelativePath("src/a.py"), RelativePath("src/größe b.py")
Connect = Callable[[int], Activity]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def connect(tmp_path: Path, clock: FixedClock) -> Connect:
    """Opens the log of the nth connection, a minute after the one before."""

    def opened(number: int) -> Activity:
        clock.advance(minutes=1)
        return Activity(PrivateFolder(tmp_path), clock, uuid_of(bytes([number]) * 16))

    return opened


@pytest.mark.clause("ME-10")
def test_a_session_is_on_disk_with_a_call_each_second_and_at_its_end(
    connect: Connect, clock: FixedClock
) -> None:
    log, reader = connect(1), connect(2)
    log.keep()  # a record that names it is about to be stored
    assert [(past.id, past.tools) for past in reader.past()] == [(log.id, {})]
    log.read(B)
    log.read(B)
    log.touched("pk_abcdefgh")
    log.called("read_file")
    log.called("input")
    clock.advance(seconds=1)
    log.called("read_file")
    assert list(log.past()) == [], "a connection does not see its own session"
    (past,) = reader.past()
    assert (past.ended, past.tools) == (None, {"read_file": 2, "input": 1})
    assert (past.files, past.packs) == ((str(B),), ("pk_abcdefgh",))
    clock.advance(minutes=3)
    log.end()
    (past,) = reader.past()
    assert past.ended == clock.now()


@pytest.mark.clause("ME-10")
def test_a_connection_that_called_nothing_leaves_nothing(connect: Connect, tmp_path: Path) -> None:
    connect(1).end()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("ME-10")
def test_the_oldest_sessions_go_when_there_are_too_many(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "KEPT", 2)
    for number in (3, 0, 2, 1):
        connect(number).called("output")
    assert [past.id[1] for past in connect(9).past()] == ["2", "1"]


@pytest.mark.clause("ME-10")
def test_a_session_summary_describes_its_calls(clock: FixedClock) -> None:
    started = clock.now()
    session = Session(id=uuid_of(bytes(16)), started=started, ended=started + timedelta(minutes=2))
    for number in range(50):
        session = session.read(f"src/file{number}.py")
    text = summary(session.called("grep_codebase").touched("pk_abcdefgh"))
    assert text.splitlines()[:2] == [
        "Session from 2026-01-02T03:04:05Z to 2026-01-02T03:06:05Z.",
        "Tools called: grep_codebase 1.",
    ]
    assert "src/file39.py and 10 more." in text
    assert "Packs touched: pk_abcdefgh." in text


@pytest.mark.clause("CD-43", "CD-41")
def test_reads_are_counted_and_the_last_one_is_kept(connect: Connect, clock: FixedClock) -> None:
    log = connect(1)
    assert list(log.items()) == []
    start = clock.now()
    log.record(A, start)
    clock.advance(minutes=1)
    log.record(B, clock.now())
    log.record(A, clock.now())
    log.record(A, start)
    found = list(log.items())
    assert [(each.path, each.count, each.last_access) for each in found] == [
        (A, 3, clock.now()),
        (B, 1, clock.now()),
    ]
    assert [each.score for each in found] == [pytest.approx(0.612), pytest.approx(0.604)]
    clock.advance(days=15)
    assert log.items()[0].score == pytest.approx(0.312)


@pytest.mark.clause("CD-41")
def test_items_past_the_budget_are_archived_and_keep_their_count(connect: Connect, clock: FixedClock) -> None:
    log = connect(1)
    log.record(A, clock.now() - timedelta(days=60))
    for number in range(500):
        log.record(RelativePath(f"f{number}"), clock.now())
    (old,) = (each for each in log.items() if each.archived)
    assert old.path == A
    log.record(A, clock.now())
    back = next(each for each in log.items() if each.path == A)
    assert (back.count, back.archived, len(log.items())) == (2, False, 501)


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
def test_processes_count_together(connect: Connect, tmp_path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(number)], env=environment(), cwd=ROOT
        )
        for number in range(4)
    ]
    assert [worker.wait(PATIENCE) for worker in workers] == [0] * 4
    counts = {item.path.value: item.count for item in connect(1).items()}
    assert counts == {"a.py": 80, **{f"own-{number}.py": 20 for number in range(4)}}


@pytest.mark.clause("CD-43", "ME-10")
def test_a_file_that_cannot_be_understood_is_kept_aside(
    connect: Connect, clock: FixedClock, tmp_path: Path
) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    log = connect(1)
    log.record(A, clock.now())
    log.record(A, clock.now())
    assert [item.count for item in log.items()] == [2]
    assert (tmp_path / BROKEN).read_bytes().startswith(b"no database")


@pytest.mark.clause("CD-43", "ME-10")
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_of_ours_is_not_used_and_fails_nothing(
    connect: Connect, clock: FixedClock, tmp_path: Path, kind: str
) -> None:
    if kind == "link":
        (tmp_path / FILE).symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(tmp_path / FILE)
    else:
        (tmp_path / FILE).mkdir()
    log = connect(1)
    log.record(A, clock.now())
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


@pytest.mark.clause("ME-10")
def test_a_row_that_somebody_else_wrote_is_passed_over(tmp_path: Path) -> None:
    clock = FixedClock()
    folder = PrivateFolder(str(tmp_path / "state"))
    first = Activity(folder, clock, "first")
    first.called("output")
    first.record(RelativePath("a.py"), clock.now())
    first.end()
    first.close()
    with closing(sqlite3.connect(tmp_path / "state" / FILE)) as connection, connection:
        connection.execute("INSERT INTO sessions VALUES ('other', '2026-01-01', NULL, '{}')")
        connection.execute("INSERT INTO reads VALUES ('no bytes', 'many', 'now')")
    second = Activity(folder, clock, "second")
    assert [each.id for each in second.past()] == ["first"]
    assert [each.path.value for each in second.items()] == ["a.py"]
