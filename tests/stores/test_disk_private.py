"""Folders of the user alone: their modes, what is refused in their place, and what killed writers left."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from private_folders import modes
from stdio_client import environment

from context_pack_adapters.files import temporary
from context_pack_adapters.files.private import PrivateFolder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.clause("PV-04")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_folders_files_and_locks_are_the_users_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        folder = PrivateFolder(tmp_path / "a" / "b")
        folder.write("x.json", b"{}")
        with folder.lock("lock", 1.0):
            assert modes(tmp_path / "a") == {}
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b" / "x.json")) == (0o700, 0o600)


@pytest.mark.clause("PV-04")
def test_a_looser_mode_is_repaired(tmp_path: Path) -> None:
    (tmp_path / "loose" / "inner").mkdir(parents=True)
    for folder in (tmp_path / "loose", tmp_path / "loose" / "inner"):
        folder.chmod(0o777)
    PrivateFolder(tmp_path / "loose").below("inner").make()
    assert mode(tmp_path / "loose") == mode(tmp_path / "loose" / "inner") == 0o700


@pytest.mark.clause("PV-04")
@pytest.mark.parametrize("what", ["link", "link to nothing", "file"])
def test_a_private_folder_that_is_a_file_or_link_is_refused(tmp_path: Path, what: str) -> None:
    (tmp_path / "decoy").mkdir()
    place = tmp_path / "place"
    if what == "file":
        place.write_text("in the way")
    else:
        place.symlink_to(tmp_path / ("decoy" if what == "link" else "nothing"))
    for folder in (PrivateFolder(place), PrivateFolder(place).below("deeper")):
        with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
            folder.write("x.json", b"{}")
        assert folder.trouble().startswith(f"{place}: ")
    assert list((tmp_path / "decoy").iterdir()) == []
    assert not (tmp_path / "nothing").exists()


@pytest.mark.clause("PV-04")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.raises(PermissionError):
        PrivateFolder(folder).write("x.json", b"{}")
    assert PrivateFolder(folder).trouble() == f"{folder}: another user's folder"
    assert list(folder.iterdir()) == []


@pytest.mark.clause("PV-07")
def test_temporary_files_of_killed_writers_go_with_a_later_write(tmp_path: Path) -> None:
    old, new = (tmp_path / f".x.json.{digit * 16}.tmp" for digit in "01")
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    PrivateFolder(tmp_path).write("x.json", b"{}")
    assert sorted(os.listdir(tmp_path)) == [new.name, "x.json"]


HOME = """
import os, sys
from context_pack_adapters.files.temporary import temporary_home
home = temporary_home().path
assert temporary_home().path == home
child = os.fork()
if not child:
    sys.exit()
os.waitpid(child, 0)
print(home, oct(os.stat(home).st_mode & 0o777), flush=True)
if sys.argv[1] == "killed":
    os._exit(0)
"""


def home_of(how: str, folder: Path) -> tuple[Path, str]:
    """The temporary folder of a process that ended in some way, and its mode."""
    words = [sys.executable, "-c", HOME, how]
    told = subprocess.run(words, env=environment(TMPDIR=str(folder)), capture_output=True, check=True).stdout
    path, found = told.decode().split()
    return Path(path), found


@pytest.mark.clause("PV-06")
def test_a_temporary_folder_goes_with_its_process_and_not_with_a_forked_child(tmp_path: Path) -> None:
    path, found = home_of("ended", tmp_path)
    assert path.parent == tmp_path
    assert found == "0o700"
    assert not path.exists()


@pytest.mark.clause("PV-06")
def test_the_temporary_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    left, _ = home_of("killed", tmp_path)
    live = tmp_path / f"{temporary.PREFIX}live"
    live.mkdir(0o700)
    (tmp_path / "mine").mkdir()
    (tmp_path / f"{temporary.PREFIX}link").symlink_to(tmp_path / "mine")
    for path in (left, live):
        (path / "index").write_text("")
        os.utime(path, (0, 0))
    with PrivateFolder(live).lock(temporary.LOCK, 1.0):
        os.utime(live, (0, 0))
        temporary.sweep_temporary_homes(str(tmp_path), time.time())
    assert not left.exists()
    assert (live / "index").exists()
    assert (tmp_path / f"{temporary.PREFIX}link").is_symlink()
    assert (tmp_path / "mine").is_dir()


@pytest.mark.clause("PV-06")
def test_a_temporary_folder_that_is_young_is_left_alone(tmp_path: Path) -> None:
    left, _ = home_of("killed", tmp_path)
    temporary.sweep_temporary_homes(str(tmp_path), time.time())
    assert left.exists()
