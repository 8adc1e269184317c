"""The source tree on disk: links, ways out and swaps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.source.tree import DiskSourceTree


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


def tree(root: Path) -> DiskSourceTree:
    return DiskSourceTree(root, PathPolicy(("private/**",)))


@pytest.mark.clause("CD-31")
def test_links_inside_the_root_count_as_what_they_lead_to(root: Path, tmp_path: Path) -> None:
    (root / "file_link").symlink_to("inner/a.py")
    (root / "folder_link").symlink_to("inner")
    (tmp_path / "alias").symlink_to(root)
    for found in (tree(root), tree(tmp_path / "alias")):
        assert all(map(found.is_file, map(RelativePath, ("file_link", "folder_link/a.py"))))
        assert found.is_folder(RelativePath("folder_link"))


@pytest.mark.clause("CD-31")
@pytest.mark.parametrize("target", ["../outside", "/etc", ".git", "nowhere", "loop"])
def test_links_that_lead_out_to_denied_names_or_nowhere_are_not_there(root: Path, target: str) -> None:
    (root / "loop").symlink_to("loop")
    (root / "way").symlink_to(target)
    assert not tree(root).is_folder(RelativePath("way"))
    for name in ("secret.txt", "passwd", "config"):
        assert not tree(root).is_file(RelativePath(f"way/{name}"))


@pytest.mark.clause("CD-31")
def test_pipes_and_what_a_glob_hides_are_neither_files_nor_folders(root: Path) -> None:
    os.mkfifo(root / "inner" / "pipe")
    (root / "private" / "x").mkdir(parents=True)
    for path in map(RelativePath, ("inner/pipe", "private/x")):
        assert not tree(root).is_file(path)
        assert not tree(root).is_folder(path)


@pytest.mark.clause("CD-31")
def test_what_took_the_place_of_a_listed_file_is_read_only_if_it_is_a_file_inside(root: Path) -> None:
    names = ("link.py", "out.py", "pipe.py", "folder.py", "gone.py", "kept.py")
    for name in names:
        (root / "inner" / name).write_text("text\n")
    found = tree(root)
    paths = [path for name in names for path in found.names().named(name)]
    for name in names[:-1]:
        (root / "inner" / name).unlink()
    (root / "inner" / "link.py").symlink_to("a.py")
    (root / "inner" / "out.py").symlink_to(root.parent / "outside" / "secret.txt")
    os.mkfifo(root / "inner" / "pipe.py")
    (root / "inner" / "folder.py").mkdir()
    read = [found.read(path, 1_000) for path in paths]
    assert [getattr(one, "text", None) for one in read] == ["", None, None, None, None, "text\n"]
