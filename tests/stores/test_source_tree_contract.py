"""What the source tree on disk reads, finds and leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from file_trees import lay

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import Reason, SourceFile, Unreadable
from context_pack_adapters.source.tree import DiskSourceTree

FILES: dict[str, str | bytes] = {
    "README.md": "# Über\r\n\nlast",
    "empty": "",
    "bom.txt": b"\xef\xbb\xbftext",
    "src/app.py": "one\n",
    "src/a-b/app.py": "two\n",
    "src/a/app.py": "three\n",
    "app.py": "four\n",
    "late-nul.txt": b"x" * 8192 + b"\0",
    "nul.txt": b"x\0y",
    "latin.txt": b"\xe9t\xe9",
    ".github/app.py": "five\n",
    ".env": "SECRET=1",
    ".env.example": "SECRET=",
    "keys/server.pem": "secret",
    "extra/hidden.py": "secret",
    "node_modules/app.py": "secret",
}
POLICY = PathPolicy(("extra/**",))


@pytest.fixture
def tree(tmp_path: Path) -> DiskSourceTree:
    return DiskSourceTree(lay(tmp_path, FILES), POLICY)


def text_of(tree: DiskSourceTree, path: str) -> str:
    """The text of a file that must be readable."""
    found = tree.read(RelativePath(path), 10_000)
    assert isinstance(found, SourceFile), found
    assert found.path == RelativePath(path)
    return found.text


@pytest.mark.clause("ST-45")
def test_text_is_read_as_it_is_without_its_byte_order_mark(tree: DiskSourceTree) -> None:
    assert text_of(tree, "README.md") == "# Über\r\n\nlast"
    assert text_of(tree, "empty") == ""
    assert text_of(tree, "bom.txt") == "text"
    assert text_of(tree, "late-nul.txt").endswith("\0")
    assert text_of(tree, ".env.example") == "SECRET="


@pytest.mark.clause("ST-45")
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nothing", Reason.MISSING),
        ("app.py/below", Reason.MISSING),
        ("src", Reason.NOT_A_FILE),
        ("nul.txt", Reason.BINARY),
        ("latin.txt", Reason.NOT_UTF8),
        (".env", Reason.DENIED),
        (".ENV", Reason.DENIED),
        ("keys/server.pem", Reason.DENIED),
        ("extra/hidden.py", Reason.DENIED),
    ],
)
def test_an_unreadable_path_is_returned_with_its_reason(
    tree: DiskSourceTree, path: str, reason: Reason
) -> None:
    assert tree.read(RelativePath(path), 10_000) == Unreadable(RelativePath(path), reason)


def test_a_file_over_the_cap_is_not_read(tree: DiskSourceTree) -> None:
    path = RelativePath("README.md")
    assert isinstance(tree.read(path, 14), SourceFile)
    assert tree.read(path, 13) == Unreadable(path, Reason.TOO_LARGE)


@pytest.mark.clause("ST-46")
def test_files_are_found_by_name_in_plain_order(tree: DiskSourceTree) -> None:
    expected = [".github/app.py", "app.py", "src/a-b/app.py", "src/a/app.py", "src/app.py"]
    names = tree.names()
    assert [str(path) for path in names.named("app.py")] == expected
    assert names.complete


@pytest.mark.clause("CD-31")
def test_a_file_is_there_when_it_may_be_read_and_is_no_folder(tree: DiskSourceTree) -> None:
    there = [
        "README.md",
        "empty",
        "nul.txt",
        "src/app.py",
        "src/a-b/app.py",
        ".env.example",
        ".github/app.py",
    ]
    assert all(tree.is_file(RelativePath(path)) for path in there)
    gone = ["nothing", "src", "src/a", "app.py/below", ".env", "keys/server.pem", "keys/nothing.pem"]
    gone += ["extra/hidden.py", "node_modules/app.py", "SRC/app.py.txt"]
    assert not any(tree.is_file(RelativePath(path)) for path in gone)


@pytest.mark.clause("CD-31")
def test_a_folder_is_there_when_it_may_be_entered(tree: DiskSourceTree) -> None:
    assert all(tree.is_folder(RelativePath(path)) for path in ("src", "src/a", ".github"))
    for path in ("nothing", "app.py", "src/app.py", "src/app.py/x", "node_modules", ".git"):
        assert not tree.is_folder(RelativePath(path))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a secret beside it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    root = tmp_path / "root"
    (root / "inner" / "deep").mkdir(parents=True)
    (root / "inner" / "a.py").write_text("")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("")
    return root


def disk(root: Path) -> DiskSourceTree:
    return DiskSourceTree(root, PathPolicy(("private/**",)))


@pytest.mark.clause("CD-31")
def test_links_inside_the_root_count_as_what_they_lead_to(root: Path, tmp_path: Path) -> None:
    (root / "file_link").symlink_to("inner/a.py")
    (root / "folder_link").symlink_to("inner")
    (tmp_path / "alias").symlink_to(root)
    for found in (disk(root), disk(tmp_path / "alias")):
        assert all(map(found.is_file, map(RelativePath, ("file_link", "folder_link/a.py"))))
        assert found.is_folder(RelativePath("folder_link"))


@pytest.mark.clause("CD-31")
@pytest.mark.parametrize("target", ["../outside", "/etc", ".git", "nowhere", "loop"])
def test_links_that_lead_out_to_denied_names_or_nowhere_are_not_there(root: Path, target: str) -> None:
    (root / "loop").symlink_to("loop")
    (root / "way").symlink_to(target)
    assert not disk(root).is_folder(RelativePath("way"))
    for name in ("secret.txt", "passwd", "config"):
        assert not disk(root).is_file(RelativePath(f"way/{name}"))
