"""Sessions on disk: written while they run, ended politely or not, kept apart from what is broken."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from inmemory import FixedClock
from waiting import until

from context_pack.kernel.paths import RelativePath
from context_pack.memory.discovery import uuid_of
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory import sessions as session_files
from context_pack_adapters.memory.sessions import SessionFiles

ONE, TWO = uuid_of(b"1" * 16), uuid_of(b"2" * 16)


def folder(root: Path) -> Path:
    return root / "sessions"


@pytest.mark.clause("ME-10")
def test_a_session_is_on_disk_soon_after_its_first_call_and_without_an_end(tmp_path: Path) -> None:
    log = SessionFiles(PrivateFolder(tmp_path), FixedClock(), ONE)
    log.called("read_file")
    file = folder(tmp_path) / f"{ONE}.md"
    until(file.exists)
    (past,) = SessionFiles(PrivateFolder(tmp_path), FixedClock(), TWO).past()
    assert (past.id, past.ended, past.tools) == (ONE, None, {"read_file": 1})


@pytest.mark.clause("ME-10")
def test_a_change_finds_the_session_on_disk_and_is_in_it_before_its_reply(tmp_path: Path) -> None:
    log = SessionFiles(PrivateFolder(tmp_path), FixedClock(), ONE)
    reader = SessionFiles(PrivateFolder(tmp_path), FixedClock(), TWO)
    log.keep()
    assert [(past.id, past.tools) for past in reader.past()] == [(ONE, {})]
    other = threading.Thread(target=log.called, args=("read_file",))
    other.start()
    other.join()
    log.called("context_record")
    assert [past.tools for past in reader.past()] == [{"read_file": 1, "context_record": 1}]


@pytest.mark.clause("ME-10")
def test_a_session_that_was_kept_early_and_called_nothing_still_ends(tmp_path: Path) -> None:
    clock = FixedClock()
    log = SessionFiles(PrivateFolder(tmp_path), clock, ONE)
    log.keep()
    log.end()
    (past,) = SessionFiles(PrivateFolder(tmp_path), clock, TWO).past()
    assert past.ended == clock.now()


@pytest.mark.clause("ME-10")
def test_the_end_is_written_when_the_connection_ends(tmp_path: Path) -> None:
    clock = FixedClock()
    log = SessionFiles(PrivateFolder(tmp_path), clock, ONE)
    log.called("read_file")
    log.read(RelativePath("a.py"))
    clock.advance(minutes=3)
    log.end()
    (past,) = SessionFiles(PrivateFolder(tmp_path), clock, TWO).past()
    assert past.ended == clock.now()
    assert "Files read: a.py." in (folder(tmp_path) / f"{ONE}.md").read_text("utf-8")


@pytest.mark.clause("ME-10")
def test_a_connection_that_called_nothing_leaves_nothing(tmp_path: Path) -> None:
    SessionFiles(PrivateFolder(tmp_path), FixedClock(), ONE).end()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("ME-10")
@pytest.mark.parametrize("damage", [b"", b"---\nid: 1\n---\n", b"\xff\xfe", b"---\nversion: 1\n---\n"])
def test_a_broken_session_is_passed_over(tmp_path: Path, damage: bytes) -> None:
    log = SessionFiles(PrivateFolder(tmp_path), FixedClock(), ONE)
    log.called("output")
    log.end()
    (folder(tmp_path) / f"{TWO}.md").write_bytes(damage)
    third = SessionFiles(PrivateFolder(tmp_path), FixedClock(), uuid_of(b"3" * 16))
    assert [session.id for session in third.past()] == [ONE]


@pytest.mark.clause("ME-10")
def test_an_unwritable_session_folder_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("in the way")
    log = SessionFiles(PrivateFolder(tmp_path), FixedClock(), ONE)
    log.keep()
    log.called("output")
    log.end()
    assert log.past() == []


@pytest.mark.clause("ME-10")
def test_the_oldest_sessions_go_when_there_are_too_many(tmp_path: Path) -> None:
    clock = FixedClock()
    for number in range(3):
        clock.advance(minutes=1)
        log = SessionFiles(PrivateFolder(tmp_path), clock, uuid_of(bytes([number]) * 16))
        log.called("output")
        log.end()
    newest = SessionFiles(PrivateFolder(tmp_path), clock, ONE, kept=2)
    newest.called("output")
    newest.end()
    assert session_files.KEPT == 1000
    names = sorted(file.name for file in folder(tmp_path).glob("*.md"))
    assert names == sorted([f"{ONE}.md", f"{uuid_of(bytes([2]) * 16)}.md"])
