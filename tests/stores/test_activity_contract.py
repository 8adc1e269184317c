"""What is noted of connections and reads, in one file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from inmemory import FixedClock

from context_pack.kernel.paths import RelativePath
from context_pack.memory.discovery import Session, summary, uuid_of
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory.activity import Activity

A, B = RelativePath("src/a.py"), RelativePath("src/größe b.py")
Open = Callable[[int], Activity]
"""Opens the log of the nth connection; what the earlier ones did is past."""


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def connect(tmp_path: Path, clock: FixedClock) -> Open:
    def opened(number: int) -> Activity:
        clock.advance(minutes=1)
        return Activity(PrivateFolder(tmp_path), clock, uuid_of(bytes([number]) * 16))

    return opened


@pytest.fixture
def log(tmp_path: Path, clock: FixedClock) -> Activity:
    """An empty log."""
    return Activity(PrivateFolder(tmp_path), clock, uuid_of(bytes(16)))


@pytest.mark.clause("ME-10")
def test_a_connection_does_not_see_its_own_session_and_the_next_one_does(connect: Open) -> None:
    first = connect(1)
    first.read(RelativePath("src/größe b.py"))
    first.read(RelativePath("src/größe b.py"))
    first.touched("pk_abcdefgh")
    first.called("read_file")
    first.called("read_file")
    first.called("input")
    first.keep()
    assert list(first.past()) == []
    (past,) = connect(2).past()
    assert past.id == first.id
    assert past.tools == {"read_file": 2, "input": 1}
    assert past.files == ("src/größe b.py",)
    assert past.packs == ("pk_abcdefgh",)


@pytest.mark.clause("ME-10")
def test_sessions_come_the_oldest_first(connect: Open) -> None:
    for number in (3, 1, 2):
        connect(number).called("output")
    assert [session.id[1] for session in connect(10).past()] == ["3", "1", "2"]


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
def test_reads_are_counted_and_the_last_one_is_kept(log: Activity, clock: FixedClock) -> None:
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
def test_items_past_the_budget_are_archived_and_keep_their_count(log: Activity, clock: FixedClock) -> None:
    log.record(A, clock.now() - timedelta(days=60))
    for number in range(500):
        log.record(RelativePath(f"f{number}"), clock.now())
    (old,) = (each for each in log.items() if each.archived)
    assert old.path == A
    log.record(A, clock.now())
    back = next(each for each in log.items() if each.path == A)
    assert (back.count, back.archived, len(log.items())) == (2, False, 501)
