"""What the system tells of changes in a folder, and when it says that it does not know."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from context_pack_adapters.disk.changes import FolderChanges, watch_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").write_text("old")
    return tmp_path / "folder"


@pytest.fixture
def changes(folder: Path) -> FolderChanges:
    """A watch on it."""
    watch = watch_folder(str(folder))
    if watch is None:
        pytest.skip("the file system of the tests is not one that tells")
    return watch


@pytest.mark.clause("ST-27")
def test_folder_watch_reports_each_change_once_by_name(folder: Path, changes: FolderChanges) -> None:
    assert changes.names() == set()
    (folder / "old").write_text("new")
    assert changes.names() == {"old"}
    assert changes.names() == set()
    (folder / "made").touch()
    assert changes.names() == {"made"}
    os.link(folder / "made", folder / "linked")
    assert "linked" in (changes.names() or ())
    os.replace(folder / "made", folder / "old")
    assert changes.names() == {"made", "old"}
    (folder / "old").chmod(0o600)
    assert changes.names() == {"old"}
    (folder / "old").unlink()
    assert "old" in (changes.names() or ())
    with (folder / "linked").open("ab", buffering=0) as file:
        file.write(b"x")
        assert changes.names() == {"linked"}
        os.truncate(file.fileno(), 0)
        assert changes.names() == {"linked"}


@pytest.mark.clause("ST-27")
def test_folder_watch_gives_up_on_a_removed_or_replaced_folder(folder: Path, changes: FolderChanges) -> None:
    folder.rename(folder.with_name("moved"))
    assert changes.names() is None
    folder.mkdir()
    assert changes.names() is None
    fresh = watch_folder(str(folder))
    assert fresh is not None
    assert fresh.names() == set()
    folder.rmdir()
    assert fresh.names() is None
    assert watch_folder(str(folder)) is None


@pytest.mark.clause("ST-27")
def test_folder_watch_gives_up_on_a_retargeted_link(folder: Path) -> None:
    other = folder.with_name("other")
    other.mkdir()
    link = folder.with_name("link")
    link.symlink_to(folder)
    watch = watch_folder(str(link))
    assert watch is not None
    assert watch.names() == set()
    link.unlink()
    link.symlink_to(other)
    assert watch.names() is None


@pytest.mark.clause("ST-27")
def test_folder_watch_gives_up_when_the_event_queue_overflows(folder: Path, changes: FolderChanges) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 200_000:
        pytest.skip("the system keeps too many")
    (folder / "other").touch()
    for _ in range(most // 2 + 10):
        os.utime(folder / "old")
        os.utime(folder / "other")
    assert changes.names() is None


@pytest.mark.clause("ST-27")
def test_a_forked_child_takes_no_events_from_its_parents_watch(folder: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from context_pack_adapters.disk.changes import watch_folder\n"
        f"folder = Path({str(folder)!r})\n"
        "watch = watch_folder(str(folder))\n"
        "(folder / 'new').touch()\n"
        "child = os.fork()\n"
        "if not child: os._exit(0 if watch.names() is None else 1)\n"
        "told = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "sys.exit(told or watch.names() != {'new'})\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


@pytest.mark.clause("ST-27")
def test_file_systems_without_reliable_events_are_not_watched() -> None:
    assert watch_folder("/proc/self") is None
    assert watch_folder("/nothing/there") is None


@pytest.mark.clause("ST-27")
def test_a_watch_that_is_dropped_leaves_no_descriptor_open(folder: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        watch_folder(str(folder))
    closed = watch_folder(str(folder))
    if closed is not None:
        closed.close()
    del closed
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.mark.clause("ST-27")
def test_folder_watch_gives_up_after_too_many_events(folder: Path, changes: FolderChanges) -> None:
    """Who changes files faster than they are told of would otherwise keep the question busy for ever."""
    for _ in range(3000):
        for name in ("a", "b"):
            (folder / name).touch()
    assert changes.names() is None
