"""What every `SessionLog` does: one suite, run on the folder and on its twin in memory."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from inmemory import FixedClock
from inmemory.memory import MemorySessionLog

from context_pack.kernel.paths import RelativePath
from context_pack.memory.discovery import uuid_of
from context_pack.memory.session import Session, summary
from context_pack.memory.stores import SessionLog
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory.sessions import SessionFiles

Open = Callable[[int], SessionLog]
"""Opens the log of the nth connection; what the earlier ones did is past."""


@pytest.fixture(params=["disk", "memory"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    clock = FixedClock()
    opened: list[SessionLog] = []

    def on_disk(number: int) -> SessionLog:
        if opened:
            opened[-1].end()  # type: ignore[attr-defined]
        clock.advance(minutes=1)
        opened.append(SessionFiles(PrivateFolder(tmp_path), clock, uuid_of(bytes([number]) * 16)))
        return opened[-1]

    def in_memory(number: int) -> SessionLog:
        clock.advance(minutes=1)
        past = [log.session for log in opened if isinstance(log, MemorySessionLog)]
        opened.append(MemorySessionLog(clock, uuid_of(bytes([number]) * 16), past))
        return opened[-1]

    return on_disk if request.param == "disk" else in_memory


@pytest.mark.clause("ME-10")
def test_a_connection_does_not_see_its_own_session_and_the_next_one_does(connect: Open) -> None:
    first = connect(1)
    first.called("read_file")
    first.called("read_file")
    first.called("input")
    first.read(RelativePath("src/größe b.py"))
    first.read(RelativePath("src/größe b.py"))
    first.touched("pk_abcdefgh")
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
    assert [session.id[0] for session in connect(9).past()] == ["0", "0", "0"]
    assert [session.id[1] for session in connect(10).past()][:3] == ["3", "1", "2"]


@pytest.mark.clause("ME-10")
def test_a_session_summary_describes_its_calls() -> None:
    clock = FixedClock()
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
