"""Folders of the user alone: their modes, what is refused in their place, and what killed writers left."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from private_folders import modes

from context_pack_adapters.files.folder import PrivateFolder


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
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.raises(PermissionError):
        PrivateFolder(folder).write("x.json", b"{}")
    assert list(folder.iterdir()) == []


@pytest.mark.clause("PV-04")
def test_temporary_files_of_killed_writers_go_with_a_later_write(tmp_path: Path) -> None:
    old, new = (tmp_path / f".x.json.{digit * 16}.tmp" for digit in "01")
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    PrivateFolder(tmp_path).write("x.json", b"{}")
    assert sorted(os.listdir(tmp_path)) == [new.name, "x.json"]
