"""The log of reads on disk: written behind the reads, counted together, never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from inmemory import FixedClock
from stdio_client import ROOT, environment
from waiting import PATIENCE

from context_pack.kernel.paths import RelativePath
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory.access import AccessFiles

A = RelativePath("a.py")


def stored(root: Path) -> dict[str, int]:
    record = json.loads((root / "access" / "items.json").read_text("utf-8"))
    return {each["path"]: each["count"] for each in record["items"]}


def log(root: Path, seconds: float = 60.0) -> AccessFiles:
    return AccessFiles(PrivateFolder(root), FixedClock(), seconds)


def read(files: AccessFiles, times: int = 1, path: RelativePath = A) -> None:
    for _ in range(times):
        files.record(path, FixedClock().now())


@pytest.mark.clause("CD-43")
def test_reads_are_buffered_in_memory_until_flush(tmp_path: Path) -> None:
    files = log(tmp_path)
    read(files, 100)
    assert not (tmp_path / "access").exists()
    files.flush()
    assert stored(tmp_path) == {"a.py": 100}
    before = os.stat(tmp_path / "access" / "items.json").st_mtime_ns
    files.flush()
    assert os.stat(tmp_path / "access" / "items.json").st_mtime_ns == before


@pytest.mark.clause("CD-43")
def test_buffered_reads_are_written_after_a_delay(tmp_path: Path) -> None:
    files = log(tmp_path, seconds=0.05)
    read(files, 3)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer) and thread.interval == 0.05:
            thread.join(PATIENCE)
    assert stored(tmp_path) == {"a.py": 3}


@pytest.mark.clause("CD-43")
def test_a_new_log_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    for _ in range(3):
        files = log(tmp_path)
        read(files, 2)
        files.flush()
    assert log(tmp_path).items()[0].count == 6


WORKER = """
import sys
from context_pack.kernel.paths import RelativePath
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.system import SystemClock
from context_pack_adapters.memory import access as access_files
from context_pack_adapters.memory.access import AccessFiles
access_files.LOCK_SECONDS = 120.0
files = AccessFiles(PrivateFolder(sys.argv[1]), SystemClock(), 60.0)
for number in range(20):
    files.record(RelativePath("a.py"), SystemClock().now())
    files.record(RelativePath(f"own-{sys.argv[2]}.py"), SystemClock().now())
    if number % 5 == 4 and number < 19:
        files.flush()
"""


@pytest.mark.clause("CD-43")
def test_processes_count_together_and_the_last_reads_are_written_at_their_end(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(number)], env=environment(), cwd=ROOT
        )
        for number in range(6)
    ]
    assert [worker.wait(PATIENCE) for worker in workers] == [0] * 6
    assert stored(tmp_path) == {"a.py": 120, **{f"own-{number}.py": 20 for number in range(6)}}


@pytest.mark.clause("CD-43")
def test_a_root_that_cannot_be_written_fails_nothing_and_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "access").write_text("in the way")
    files = log(tmp_path)
    read(files, 2)
    files.flush()
    assert files.items()[0].count == 2
    (tmp_path / "access").unlink()
    read(files)
    files.flush()
    assert stored(tmp_path) == {"a.py": 3}


@pytest.mark.clause("CD-43")
def test_reads_stay_buffered_while_the_file_is_locked(tmp_path: Path) -> None:
    from context_pack_adapters.files.locking import PathLock

    files = log(tmp_path)
    read(files)
    files.flush()
    read(files)
    with PathLock(str(tmp_path / "access" / ".lock"), 1.0):
        writer = threading.Thread(target=files.flush)
        writer.start()
        read(files)
        writer.join()
    assert stored(tmp_path) == {"a.py": 1}
    files.flush()
    assert stored(tmp_path) == {"a.py": 3}


@pytest.mark.clause("CD-43")
@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b'{"format": 2, "items": []}', b'{"format": 1, "items": [{}]}', b"\xff",
        b'{"format": 1, "items": [{"path": "../x", "count": 1, "last": "2026-01-01T00:00:00Z"}]}',
        b'{"format": 1, "items": [{"path": "x", "count": true, "last": "2026-01-01T00:00:00Z"}]}',
        b'{"format": 1, "items": [{"path": "x", "count": 1, "last": "yesterday"}]}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_understood_is_kept_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "access").mkdir()
    (tmp_path / "access" / "items.json").write_bytes(content)
    files = log(tmp_path)
    assert list(files.items()) == []
    read(files)
    files.flush()
    assert stored(tmp_path) == {"a.py": 1}
    assert (tmp_path / "access" / "items.broken.json").read_bytes() == content


@pytest.mark.clause("CD-43")
def test_a_pipe_or_link_in_the_place_of_the_file_is_neither_read_nor_followed(tmp_path: Path) -> None:
    (tmp_path / "access").mkdir()
    os.mkfifo(tmp_path / "access" / "items.json")
    files = log(tmp_path)
    assert list(files.items()) == []
    read(files)
    files.flush()
    assert files.items()[0].count == 1


@pytest.mark.clause("CD-43")
def test_buffered_reads_hold_at_most_10000_paths(tmp_path: Path) -> None:
    files = log(tmp_path)
    for number in range(10_050):
        read(files, path=RelativePath(f"f{number}"))
    assert len(files.items()) == 10_000
