"""The remembered list of files is always what a fresh walk yields."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from search_corpus import settle

from context_pack.kernel.paths import EXCLUDED_FOLDERS, PathPolicy
from context_pack_adapters.disk.walking import files_below
from context_pack_adapters.search.deadline import Deadline, TimedOut
from context_pack_adapters.search.listing import Listing

NAMES = [
    "a",
    "b",
    "ab",
    "a.b",
    "a-b",
    "a b",
    "node_modules",
    "dist",
    ".env",
    ".hidden",
    "x.log",
    "keep.log",
    "ü",
    "Z",
    "deep",
    "c.pem",
]
LINES = ["a", "*.log", "!keep.log", "/b", "deep/", "!a", "**/ab", "a*", "!a.b", "*", "!*/", "ü"]


def fresh(root: Path, policy: PathPolicy) -> tuple[str, ...]:
    """What a walk yields now."""
    return tuple(files_below(root, policy, EXCLUDED_FOLDERS))


def change(root: Path, chance: random.Random) -> None:
    """One random change somewhere in the tree."""
    folders = [root, *(place for place in root.rglob("*") if place.is_dir() and not place.is_symlink())]
    folder = chance.choice(folders)
    place = folder / chance.choice(NAMES)
    kind = chance.random()
    if kind < 0.35 and not os.path.lexists(place):
        place.write_text("text\n")
    elif kind < 0.6 and not os.path.lexists(place) and len(place.relative_to(root).parts) < 5:
        place.mkdir()
        (place / chance.choice(NAMES)).write_text("inside\n")
    elif kind < 0.75:
        ignore = folder / chance.choice([".gitignore", ".ignore"])
        ignore.write_text("\n".join(chance.sample(LINES, chance.randint(0, 4))))
    elif kind < 0.85 and place.is_file():
        place.unlink()
    elif kind < 0.9 and not os.path.lexists(place):
        place.symlink_to(chance.choice(["..", "a", "/etc/hosts"]))
    elif folder != root and chance.random() < 0.5:
        target = chance.choice(folders) / f"moved{chance.randrange(100)}"
        if not os.path.lexists(target) and folder not in (target, *target.parents):
            folder.rename(target)


@pytest.mark.clause("CD-58", "CD-72")
@pytest.mark.parametrize("seed", range(6))
def test_the_list_follows_every_change_as_a_fresh_walk_would(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    policy = PathPolicy(("*.b", "deep/a")) if seed % 2 else PathPolicy()
    listing = Listing(str(tmp_path), policy, EXCLUDED_FOLDERS)
    for _ in range(60):
        change(tmp_path, chance)
        assert listing.now(Deadline(60)).paths == fresh(tmp_path, policy)


@pytest.mark.clause("CD-72")
def test_a_settled_tree_is_not_listed_again_until_something_changes(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"folder{number}").mkdir()
        (tmp_path / f"folder{number}" / "file").write_text("x")
    (tmp_path / "folder1" / ".gitignore").write_text("nothing\n")
    settle(tmp_path)
    listing = Listing(str(tmp_path), PathPolicy(), EXCLUDED_FOLDERS)
    first = listing.now(Deadline(60))
    assert listing.now(Deadline(60)) is first
    assert first.holds(Deadline(60))

    (tmp_path / "folder1" / ".gitignore").write_text("file\n")
    assert not first.holds(Deadline(60))
    second = listing.now(Deadline(60))
    assert set(first.paths) - set(second.paths) == {"folder1/file"}

    (tmp_path / "folder2" / "file").write_text("a longer text")
    assert listing.now(Deadline(60)).paths == second.paths
    (tmp_path / "folder2" / "new").write_text("x")
    assert set(listing.now(Deadline(60)).paths) - set(second.paths) == {"folder2/new"}
    (tmp_path / "folder3").rename(tmp_path.parent / "gone")
    (tmp_path / "folder3").symlink_to(tmp_path.parent / "gone")
    assert "folder3/file" not in listing.now(Deadline(60)).paths
    (tmp_path.parent / "gone").rename(tmp_path.parent / "gone-for-good")


@pytest.mark.clause("CD-72")
def test_a_change_within_the_same_tick_of_the_clock_is_seen(tmp_path: Path) -> None:
    listing = Listing(str(tmp_path), PathPolicy(), EXCLUDED_FOLDERS)
    for number in range(200):
        (tmp_path / f"{number}").touch()
        assert len(listing.now(Deadline(60)).paths) == number + 1
    (tmp_path / ".gitignore").write_text("1\n")
    assert "1" not in listing.now(Deadline(60)).paths
    (tmp_path / ".gitignore").write_text("2\n")
    assert "1" in listing.now(Deadline(60)).paths


@pytest.mark.clause("CD-72")
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may list everything")
def test_a_folder_that_may_be_listed_again_is(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "file").touch()
    (tmp_path / "closed").chmod(0)
    settle(tmp_path)
    listing = Listing(str(tmp_path), PathPolicy(), ())
    assert listing.now(Deadline(60)).paths == ()
    assert listing.now(Deadline(60)).holds(Deadline(60))
    (tmp_path / "closed").chmod(0o700)
    assert listing.now(Deadline(60)).paths == ("closed/file",)


def test_a_missing_root_lists_nothing_and_a_linked_one_its_files(tmp_path: Path) -> None:
    assert Listing(str(tmp_path / "nothing"), PathPolicy(), ()).now(Deadline(60)).paths == ()
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").touch()
    (tmp_path / "link").symlink_to("real")
    assert Listing(str(tmp_path / "link"), PathPolicy(), ()).now(Deadline(60)).paths == ("file",)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}/{number}/{number}").mkdir(parents=True)
    listing = Listing(str(tmp_path), PathPolicy(), ())
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    listing.now(Deadline(60))
    with pytest.raises(TimedOut):
        Listing(str(tmp_path), PathPolicy(), ()).now(Deadline(0))
    assert len(os.listdir("/proc/self/fd")) == before if before else True
