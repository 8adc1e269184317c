"""Folders of the source tree on disk: links, ways out, swaps, and names no path can spell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import FolderNames
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
def test_links_inside_the_root_count_as_what_they_lead_to(root: Path) -> None:
    (root / "file_link").symlink_to("inner/a.py")
    (root / "folder_link").symlink_to("inner")
    listed = tree(root).folder(None)
    assert "file_link" in listed.files
    assert {"folder_link", "inner"} == listed.folders
    assert tree(root).folder(RelativePath("folder_link")) == FolderNames(
        frozenset({"a.py"}), frozenset({"deep"})
    )
    assert tree(root).is_file(RelativePath("file_link"))
    assert tree(root).is_file(RelativePath("folder_link/a.py"))


@pytest.mark.clause("CD-31")
@pytest.mark.parametrize("target", ["../outside", "/etc", ".git", "nowhere", "loop"])
def test_links_that_lead_out_to_denied_names_or_nowhere_are_not_there(root: Path, target: str) -> None:
    (root / "loop").symlink_to("loop")
    (root / "way").symlink_to(target)
    found = tree(root)
    assert found.folder(None) == FolderNames(frozenset(), frozenset({"inner"}))
    assert found.folder(RelativePath("way")) == FolderNames()
    for name in ("secret.txt", "passwd", "config"):
        assert not found.is_file(RelativePath(f"way/{name}"))


@pytest.mark.clause("CD-31")
def test_pipes_sockets_and_names_that_no_path_can_spell_are_left_out(root: Path) -> None:
    os.mkfifo(root / "inner" / "pipe")
    (root / "inner" / "line\nbreak").write_text("")
    (root / "inner" / "back\\slash").write_text("")
    Path(os.fsdecode(os.fsencode(root / "inner") + b"/\xff")).write_text("")
    (root / "inner" / "größe.py").write_text("")
    listed = tree(root).folder(RelativePath("inner"))
    assert listed == FolderNames(frozenset({"a.py", "größe.py"}), frozenset({"deep"}))
    assert not tree(root).is_file(RelativePath("inner/pipe"))


@pytest.mark.clause("CD-31")
def test_globs_over_whole_paths_hide_what_they_cover(root: Path) -> None:
    (root / "private" / "x").mkdir(parents=True)
    (root / "private" / "x" / "a.py").write_text("")
    assert tree(root).folder(RelativePath("private")) == FolderNames()
    assert tree(root).folder(RelativePath("private/x")) == FolderNames()


@pytest.mark.clause("CD-31")
def test_a_root_that_is_a_link_or_missing_is_listed_or_empty(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert tree(tmp_path / "alias").folder(RelativePath("inner")).files == {"a.py"}
    assert tree(tmp_path / "nothing").folder(None) == FolderNames()


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
