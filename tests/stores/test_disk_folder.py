"""Whole files in, whole files out, on a real disk."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from context_pack.kernel.errors import Code
from context_pack_adapters.files.faults import io_failure
from context_pack_adapters.files.folder import Folder, PrivateFolder, write_named
from context_pack_adapters.files.opening import Place


def no_links(source: str, target: str, **places: object) -> None:
    """A file system without hard links."""
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.clause("ST-12")
def test_a_write_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    for data in (b"first", b"", b"x" * 3_000_000):
        Folder(tmp_path).write("file", data)
        assert (tmp_path / "file").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.clause("ST-12")
def test_a_reader_sees_the_old_or_the_new_and_never_a_mixture(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    contents = [bytes([65 + index]) * 200_000 for index in range(4)]
    folder.write("file", contents[0])
    stop = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not stop.is_set():
            seen.add(folder.read("file", 1_000_000)[0])

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(60):
        folder.write("file", contents[turn % 4])
    stop.set()
    reader.join()
    assert seen <= set(contents)
    assert len(seen) > 1


@pytest.mark.clause("ST-22")
@pytest.mark.parametrize("linking", [os.link, no_links])
def test_of_many_exclusive_creates_one_succeeds(
    tmp_path: Path, linking: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", linking)
    start = threading.Barrier(8)

    def create(index: int) -> bool:
        start.wait()
        return Folder(tmp_path).create("file", bytes([index]))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(create, range(8)))
    assert sorted(results) == [False] * 7 + [True]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.clause("ST-32")
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_storage_folders_are_never_opened_through_a_link(tmp_path: Path, depth: int) -> None:
    """A link to a folder that holds the very same names, at each step of the way."""
    names = ["a", "b", "c"]
    for top in ("project", "outside"):
        (tmp_path / top).joinpath(*names).mkdir(parents=True)
        (tmp_path / top).joinpath(*names, "file").write_bytes(top.encode())
    place = (tmp_path / "project").joinpath(*names[:depth])
    place.rename(tmp_path / "aside")
    place.symlink_to((tmp_path / "outside").joinpath(*names[:depth]))
    folder = Folder(Place(str(tmp_path / "project"), tuple(names)))
    before = sorted((tmp_path / "outside").rglob("*"))
    for action in (
        lambda: folder.read("file", 100),
        lambda: folder.status("file"),
        lambda: folder.names(),
        lambda: folder.write("file", b"ours"),
        lambda: folder.create("new", b"ours"),
        lambda: folder.remove("file"),
        lambda: folder.move("file", "moved"),
        lambda: folder.lock("lock", 1.0).acquire(),
        folder.make,
    ):
        with pytest.raises(NotADirectoryError):
            action()
    assert not folder.exists()
    assert sorted((tmp_path / "outside").rglob("*")) == before
    assert (tmp_path / "outside").joinpath(*names, "file").read_bytes() == b"outside"


@pytest.mark.clause("ST-32")
def test_a_link_that_has_a_file_s_name_is_replaced_and_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "decoy").write_bytes(b"decoy")
    (tmp_path / "file").symlink_to("decoy")
    assert not Folder(tmp_path).create("file", b"ours")
    Folder(tmp_path).write("file", b"ours")
    assert (tmp_path / "decoy").read_bytes() == b"decoy"
    assert not (tmp_path / "file").is_symlink()


@pytest.mark.clause("ST-14")
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission"),
        (errno.EMFILE, "too many files"),
        (errno.EIO, "disk"),
        (errno.ENOENT, "vanished"),
    ],
)
def test_an_operating_system_error_becomes_a_worded_failure(number: int, words: str) -> None:
    failure = io_failure(OSError(number, "whatever", "/an/absolute/path"), "file.md")
    assert failure.code is Code.IO_ERROR
    assert words in failure.message
    assert failure.message.startswith("file.md: ")
    assert failure.details == {"file": "file.md", "reason": errno.errorcode[number]}
    assert "/" not in failure.message


@pytest.mark.clause("ST-32")
def test_a_file_below_the_working_directory_is_not_written_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "decoy").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "out").symlink_to(tmp_path / "decoy")
    monkeypatch.chdir(tmp_path / "project")
    for replace in (True, False):
        with pytest.raises(OSError):
            write_named(str(tmp_path / "project" / "out" / "a.txt"), b"x", replace=replace)
    assert not list((tmp_path / "decoy").iterdir())
    monkeypatch.chdir(tmp_path)
    assert write_named(str(tmp_path / "decoy" / "a.txt"), b"x", replace=False)


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
            below = [path for path in (tmp_path / "a").rglob("*") if mode(path) & 0o077]
            assert below == []
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
