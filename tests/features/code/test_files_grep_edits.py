"""Which files are searched, how edits are seen, and that nothing outside the root ever is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import until

from context_pack import open_workspace
from context_pack.code.grep import MAX_FILE_BYTES, FoundLines, LineQuery
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.files.signature import settled_signature
from context_pack_adapters.source.grep import ROOM_BYTES, FileTreeSearch

Search = Callable[..., FoundLines]


@pytest.fixture(params=[ROOM_BYTES, 0], ids=["kept texts", "no room"])
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Search:
    """A search of the test's folder, the same from call to call."""
    (tmp_path / "root").mkdir()
    engine = FileTreeSearch(tmp_path / "root", PathPolicy(), room=request.param)
    return lambda pattern, **options: engine.search(LineQuery(pattern, **options), QuietCall())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def settle(root: Path) -> None:
    """Wait until every later change of anything in the tree shows in its signature."""
    states = [place.lstat() for place in (root, *root.rglob("*"))]
    until(lambda: all(settled_signature(state, time.time_ns()) is not None for state in states))


def paths(found: FoundLines) -> list[str]:
    return [hit.path for hit in found.hits]


@pytest.mark.clause("CD-58")
def test_one_mebibyte_is_searched_and_one_byte_more_is_not(search: Search, root: Path) -> None:
    for name, size in (("fits", MAX_FILE_BYTES), ("large", MAX_FILE_BYTES + 1)):
        (root / name).write_bytes(b"needle" + b"x" * (size - 6))
    assert MAX_FILE_BYTES == 1_048_576
    for _ in range(2):
        found = search("needle")
        assert (paths(found), found.files) == (["fits"], 1)
        settle(root)


@pytest.mark.clause("CD-58")
def test_a_nul_counts_in_the_first_8_kib_only(search: Search, root: Path) -> None:
    (root / "last-byte").write_bytes(b"needle" + b"x" * 8185 + b"\0")
    (root / "one-later").write_bytes(b"needle" + b"x" * 8186 + b"\0")
    found = search("needle")
    assert (paths(found), found.files) == (["one-later"], 1)


@pytest.mark.clause("CD-72")
def test_every_edit_is_seen_by_the_next_search(search: Search, root: Path) -> None:
    (root / "a.txt").write_text("first\n")
    (root / "b.txt").write_text("other\n")
    assert paths(search("first")) == ["a.txt"]
    for turn in range(30):
        word = f"turn{turn:02}"
        (root / "a.txt").write_text(f"{word}\n")  # the same size, often in the same tick of the clock
        assert paths(search(word)) == ["a.txt"]
        assert paths(search("first")) == []
    settle(root)
    assert paths(search("turn29")) == ["a.txt"]
    (root / "a.txt").write_text("after\n")
    assert paths(search("after")) == ["a.txt"]
    assert paths(search("turn29")) == []


@pytest.mark.clause("CD-72")
def test_a_file_that_changes_its_kind_is_classified_again(search: Search, root: Path) -> None:
    (root / "plain").write_text("needle\n")
    (root / "x").write_text("needle\n")
    settle(root)
    assert (paths(search("^needle")), search("^needle").files) == (["plain", "x"], 2)
    for content, counts, matches in (
        (b"\xef\xbb\xbfneedle\n", True, True),
        (b"lone\rneedle\n", True, False),
        ("é\nneedle\n".encode(), True, True),
        (b"\0needle\n", False, False),
        (b"\xff\nneedle\n", False, False),
        (b"needle\n" * 200_000, False, False),
        (b"needle\r\n", True, True),
        (b"", True, False),
        (b"needle", True, True),
    ):
        (root / "x").write_bytes(content)
        for pattern in ("^needle", r"^needle\b"):
            found = search(pattern)
            assert found.files == 1 + counts
            assert ("x" in paths(found)) is matches
    (root / "x").unlink()
    (root / "x").mkdir()
    assert search("needle").files == 1


@pytest.mark.clause("CD-58")
def test_files_of_code_that_could_not_be_searched_are_named(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("wanted = 1\n")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\nwanted = 2\n")
    (tmp_path / "large.py").write_text("x = 1\n" * (MAX_FILE_BYTES // 6) + "wanted = 3\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0" * 300_000)
    with open_workspace(tmp_path) as workspace:
        some, none = (workspace.call("grep_codebase", {"pattern": each}) for each in ("wanted", "missing"))
    assert (some.structured or {})["totalMatches"] == 1
    for answer in (some, none):
        assert (
            "not searched, too large or not UTF-8: large.py, latin.py" in (answer.structured or {})["message"]
        )
