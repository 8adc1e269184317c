"""Stamps of source files on disk: every change is seen, however it was hidden, and the young have none."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from waiting import until

from context_pack import open_workspace
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.ports import SourceFile, Stamp
from context_pack_adapters.stores.source_tree import DiskSourceTree

APP = RelativePath("src/app.py")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A source root with one file, beside a folder that is none of it."""
    for folder in ("root/src", "outside"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "root/src/app.py").write_text("one\n")
    (tmp_path / "outside/app.py").write_text("one\n")
    return tmp_path / "root"


def stamp_of(tree: DiskSourceTree, path: RelativePath = APP) -> Stamp:
    """The stamp of a file, as soon as it has one."""

    def look() -> Stamp | None:
        found = tree.read(path, 10_000)
        assert isinstance(found, SourceFile)
        return found.stamp

    stamp = until(look)
    assert stamp is not None
    return stamp


@pytest.mark.clause("ST-52")
def test_a_file_that_was_just_written_has_no_stamp(root: Path) -> None:
    tree = DiskSourceTree(root, PathPolicy())
    future = time.time() + 60
    os.utime(root / "src/app.py", (future, future))
    found = tree.read(APP, 10_000)
    assert isinstance(found, SourceFile)
    assert found.stamp is None


@pytest.mark.clause("ST-52")
@pytest.mark.parametrize("trick", ["time", "rename", "grow", "mode", "link", "folder", "gone"])
def test_every_change_is_seen_however_it_is_hidden(root: Path, trick: str) -> None:
    tree, file = DiskSourceTree(root, PathPolicy()), root / "src/app.py"
    stamp = stamp_of(tree)
    assert set(tree.unchanged({APP: stamp})) == {APP}
    before = file.stat()
    if trick == "time":
        file.write_text("two\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif trick == "rename":
        (root / "new").write_text("two\n")
        os.utime(root / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
        os.replace(root / "new", file)
    elif trick == "grow":
        file.write_text("one\n\n")
    elif trick == "mode":
        file.chmod(0o600)
    elif trick == "link":
        file.rename(root / "real.py")
        file.symlink_to(root.parent / "outside/app.py")
    elif trick == "folder":
        (root / "src").rename(root.parent / "moved")
        (root / "src").symlink_to(root.parent / "moved")
        # The very same file, but the way to it now leads out of the root.
        assert file.stat().st_ino == before.st_ino
    else:
        file.unlink()
    assert set(tree.unchanged({APP: stamp})) == set()


@pytest.mark.clause("ST-52")
def test_a_link_inside_the_root_leads_to_a_file_that_may_be_unchanged(root: Path) -> None:
    (root / "link.py").symlink_to("src/app.py")
    (root / "lib").symlink_to("src")
    tree = DiskSourceTree(root, PathPolicy())
    for name in ("link.py", "lib/app.py", "src/app.py"):
        path = RelativePath(name)
        stamp = stamp_of(tree, path)
        assert tree.unchanged({path: stamp}) == {path}
    (root / "src/other.py").write_text("one\n")
    (root / "link.py").unlink()
    (root / "link.py").symlink_to("src/other.py")
    assert tree.unchanged({RelativePath("link.py"): stamp}) == set()


@pytest.mark.clause("ST-52")
def test_a_file_replaced_by_a_link_to_a_denied_one_counts_as_changed(root: Path) -> None:
    tree, file = DiskSourceTree(root, PathPolicy()), root / "src/app.py"
    stamp = stamp_of(tree)
    file.rename(root / ".env")
    file.symlink_to(root / ".env")
    assert set(tree.unchanged({APP: stamp})) == set()


@pytest.mark.clause("ST-52", "PK-66")
def test_no_edit_goes_unseen_however_quickly_it_follows_a_page(root: Path) -> None:
    file = root / "src/app.py"
    file.write_text("def app(): return 'one'\n")  # a definition is known by its name, whatever it says
    with open_workspace(root, storage=root / "packs") as workspace:
        packs = workspace.packs
        pack = packs.create(ttl_minutes=60)
        pack = packs.upsert_section(pack, section_key="main", section_title="Main")
        pack = packs.upsert_ref(
            pack, section_key="main", ref_key="app", path="src/app.py", line_start=1, line_end=1
        )
        assert "   1: def app(): return 'one'\n" in packs.document(pack)
        for number in range(300):
            # As long as the one before, and sometimes with its times.
            before = file.stat()
            file.write_text(f"def app(): return '{number:03}'\n")
            if number % 3 == 0:
                os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert f"   1: def app(): return '{number:03}'\n" in packs.document(pack)
            assert f"   1: def app(): return '{number:03}'\n" in packs.document(pack)
