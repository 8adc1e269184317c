"""Whole files in, whole files out, on a real disk."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import pytest

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.disk.atomic import (
    NotRegular,
    TooLarge,
    create_exclusive,
    ensure_folder,
    is_temporary,
    read_descriptor,
    read_whole,
    sweep_temporaries,
    write_atomic,
)
from context_pack_adapters.disk.faults import io_failure, translated


def no_links(source: str, target: str) -> None:
    """A file system without hard links."""
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.clause("ST-12")
def test_a_write_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    for data in (b"first", b"", b"x" * 3_000_000):
        write_atomic(str(tmp_path), "file", data)
        assert (tmp_path / "file").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.clause("ST-12")
def test_a_reader_sees_the_old_or_the_new_and_never_a_mixture(tmp_path: Path) -> None:
    contents = [bytes([65 + index]) * 200_000 for index in range(4)]
    write_atomic(str(tmp_path), "file", contents[0])
    stop = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not stop.is_set():
            seen.add(read_whole(str(tmp_path / "file"), 1_000_000)[0])

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(60):
        write_atomic(str(tmp_path), "file", contents[turn % 4])
    stop.set()
    reader.join()
    assert seen <= set(contents)
    assert len(seen) > 1


@pytest.mark.clause("ST-12")
def test_a_write_that_fails_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    write_atomic(str(tmp_path), "file", b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomic(str(tmp_path), "folder", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.clause("ST-25")
@pytest.mark.parametrize("linking", [os.link, no_links])
def test_an_exclusive_create_never_replaces(tmp_path: Path, linking: object) -> None:
    assert create_exclusive(str(tmp_path), "file", b"first", link=linking)  # type: ignore[arg-type]
    assert not create_exclusive(str(tmp_path), "file", b"second", link=linking)  # type: ignore[arg-type]
    assert (tmp_path / "file").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.clause("ST-25")
@pytest.mark.parametrize("linking", [os.link, no_links])
def test_of_many_exclusive_creates_one_succeeds(tmp_path: Path, linking: object) -> None:
    start = threading.Barrier(8)
    results: list[bool] = []

    def create(content: bytes) -> None:
        start.wait()
        results.append(create_exclusive(str(tmp_path), "file", content, link=linking))  # type: ignore[arg-type]

    threads = [threading.Thread(target=create, args=(bytes([index]),)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False] * 7 + [True]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.clause("ST-12")
def test_other_link_errors_pass(tmp_path: Path) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        create_exclusive(str(tmp_path), "file", b"data", link=full)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("ST-11")
def test_reading_stops_at_the_cap_even_if_the_file_grew(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345678")
    assert read_whole(str(path), 8)[0] == b"12345678"
    with pytest.raises(TooLarge):
        read_whole(str(path), 7)
    # What was measured as three bytes may have grown, or shrunk, when it is read.
    with path.open("rb") as file:
        assert read_descriptor(file.fileno(), 3, 8) == b"12345678"
    with path.open("rb") as file, pytest.raises(TooLarge):
        read_descriptor(file.fileno(), 3, 7)
    with path.open("rb") as file:
        assert read_descriptor(file.fileno(), 100, 100) == b"12345678"


@pytest.mark.clause("ST-11")
def test_only_plain_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder"):
        with pytest.raises(NotRegular):
            read_whole(str(tmp_path / name), 100)
    with pytest.raises(FileNotFoundError):
        read_whole(str(tmp_path / "nothing"), 100)


@pytest.mark.clause("ST-13")
def test_only_our_temporary_names_are_temporary(tmp_path: Path) -> None:
    assert is_temporary(".pk_abcdefgh.md.0123456789abcdef.tmp")
    for name in (
        "a.tmp",
        ".tmp",
        ".a.tmp",
        ".a.0123456789abcdeg.tmp",
        "a.0123456789abcdef.tmp",
        ".a.0123456789abcdef",
    ):
        assert not is_temporary(name)


@pytest.mark.clause("ST-13")
def test_a_sweep_takes_what_is_older_than_an_hour_and_no_folder_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / ".a.0123456789abcdef.tmp"
    path.touch()
    sweep_temporaries(str(tmp_path), time.time() + 3590)
    assert path.exists()
    sweep_temporaries(str(tmp_path), time.time() + 3610)
    assert not path.exists()
    sweep_temporaries(str(tmp_path / "nothing"), time.time())


@pytest.mark.clause("ST-30")
def test_a_folder_is_made_with_its_parents_and_may_exist(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    ensure_folder(str(deep))
    ensure_folder(str(deep))
    assert deep.is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"exists|directory"):
        ensure_folder(str(tmp_path / "file"))


@pytest.mark.clause("ST-14")
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission"),
        (errno.EPERM, "permission"),
        (errno.EMFILE, "too many files"),
        (errno.EIO, "disk"),
        (errno.ENOTDIR, "not a folder"),
        (errno.ENOENT, "vanished"),
        (errno.EBUSY, "busy"),
    ],
)
def test_an_operating_system_error_is_told_in_words(number: int, words: str) -> None:
    failure = io_failure(OSError(number, "whatever", "/an/absolute/path"), "file.md")
    assert failure.code is Code.IO_ERROR
    assert words in failure.message
    assert failure.message.startswith("file.md: ")
    assert failure.details == {"file": "file.md", "reason": errno.errorcode[number]}
    assert "/" not in failure.message


@pytest.mark.clause("ST-14")
def test_only_operating_system_errors_are_translated() -> None:
    with pytest.raises(Failure), translated("file"):
        raise FileNotFoundError(errno.ENOENT, "gone")
    with pytest.raises(KeyError), translated("file"):
        raise KeyError("other")
