"""Confined reads: links, swaps, loops, pipes and devices, by descriptors and by paths."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason
from context_pack_adapters.files.rooted import Rooted

SECRET = b"outside secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a little tree, and a secret beside it."""
    top = tmp_path / "root"
    (top / "src" / "deep").mkdir(parents=True)
    (top / "src" / "app.py").write_bytes(b"inside")
    (top / "src" / "deep" / "low.py").write_bytes(b"deep inside")
    (top / ".env").write_bytes(b"denied secret")
    (top / ".git").mkdir()
    (top / ".git" / "config").write_bytes(b"denied secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "app.py").write_bytes(SECRET)
    (tmp_path / "secret.py").write_bytes(SECRET)
    return top


@pytest.fixture
def read(root: Path) -> Callable[[str], bytes | Reason]:
    """Reads one path under the root."""
    rooted = Rooted(root, PathPolicy(("locked/**",)))

    def one(path: str) -> bytes | Reason:
        found = rooted.read(RelativePath(path), 1000)
        return found if isinstance(found, Reason) else found[0]

    return one


Read = Callable[[str], bytes | Reason]


@pytest.mark.clause("ST-40")
@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("../secret.py", "link"),
        ("{tmp}/nothing-there", "link"),
        ("/", "link{tmp}/secret.py"),
        ("..", "link/secret.py"),
        ("../outside", "link/nothing-there"),
        ("{tmp}/outside", "link/app.py"),
        ("src/../../secret.py", "link"),
        ("../../../../../../../../../..{tmp}/secret.py", "link"),
        ("{tmp}/way-in/app.py", "link"),
    ],
)
def test_a_link_that_leads_out_is_outside_whether_or_not_something_is_there(
    root: Path, read: Read, target: str, path: str
) -> None:
    (root.parent / "way-in").symlink_to(root / "src")
    (root / "link").symlink_to(target.format(tmp=root.parent))
    assert read(path.format(tmp=root.parent)) is Reason.OUTSIDE


@pytest.mark.clause("ST-40")
@pytest.mark.parametrize(
    ("target", "path", "content"),
    [
        ("src/app.py", "link", b"inside"),
        ("./src//deep/../app.py", "link", b"inside"),
        ("../root/src/app.py", "link", b"inside"),
        ("{root}/src", "link/deep/low.py", b"deep inside"),
        (".", "link/link/link/src/app.py", b"inside"),
        ("src/nothing", "link", Reason.MISSING),
        ("src", "link", Reason.NOT_A_FILE),
    ],
)
def test_a_link_from_inside_to_inside_is_followed(
    root: Path, read: Read, target: str, path: str, content: bytes | Reason
) -> None:
    (root / "link").symlink_to(target.format(root=root))
    assert read(path) == content


@pytest.mark.clause("ST-40")
@pytest.mark.parametrize(
    ("target", "path"),
    [
        (".env", "innocent.txt"),
        ("{root}/.env", "innocent.txt"),
        (".git", "innocent/config"),
        ("src/../.git/config", "innocent.txt"),
        ("second", "innocent.txt"),
        ("locked", "innocent/plain.txt"),
    ],
)
def test_a_link_that_leads_to_a_denied_name_is_denied(root: Path, read: Read, target: str, path: str) -> None:
    (root / "locked").mkdir()
    (root / "locked" / "plain.txt").write_bytes(b"denied secret")
    (root / "second").symlink_to(".env")
    (root / path.split("/")[0]).symlink_to(target.format(root=root))
    assert read(path) is Reason.DENIED


@pytest.mark.clause("ST-40")
def test_pipes_devices_and_sockets_are_never_opened(root: Path, read: Read) -> None:
    os.mkfifo(root / "pipe")
    os.mknod(root / "socket", stat.S_IFSOCK)
    (root / "link").symlink_to("pipe")
    opened = threading.Event()

    def wait_for_a_reader() -> None:
        descriptor = os.open(root / "pipe", os.O_WRONLY)
        opened.set()
        os.close(descriptor)

    writer = threading.Thread(target=wait_for_a_reader)
    writer.start()
    for path in ("pipe", "link", "socket") * 20:
        assert read(path) is Reason.NOT_A_FILE
    assert not opened.wait(0.05)
    os.close(os.open(root / "pipe", os.O_RDONLY | os.O_NONBLOCK))
    writer.join()


@pytest.mark.clause("ST-40")
def test_the_root_may_be_a_link_and_may_be_moved(tmp_path: Path, root: Path) -> None:
    (tmp_path / "current").symlink_to(root)
    rooted = Rooted(tmp_path / "current", PathPolicy())
    assert isinstance(rooted.read(RelativePath("src/app.py"), 100), tuple)
    (root / "absolute").symlink_to(tmp_path / "current" / "src" / "app.py")
    assert isinstance(rooted.read(RelativePath("absolute"), 100), tuple)
    other = tmp_path / "other"
    other.mkdir()
    (other / "new.py").write_bytes(b"new")
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to(other)
    found = rooted.read(RelativePath("new.py"), 100)
    assert isinstance(found, tuple)
    assert found[0] == b"new"
    for gone in (rooted, Rooted(tmp_path / "nothing", PathPolicy())):
        assert gone.read(RelativePath("src/app.py"), 100) is Reason.MISSING
