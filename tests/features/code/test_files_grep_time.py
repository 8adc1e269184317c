"""A search ends in time whatever the pattern, the machine or the child does, and says what it left out."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hanging import never_hanging
from waiting import until

from context_pack.code.grep import FoundLines, LineQuery
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import Cancelled, QuietCall
from context_pack_adapters.source import grep
from context_pack_adapters.source.grep import FileTreeSearch

CATASTROPHES = {
    "(a|aa)+$": "a" * 80 + "!",
    r"(.*?,){30}P": "1," * 60 + "xP",
    r"(?:(?:a|b|ab)+c?)+d$": "ab" * 60 + "d!",
    r"^(\w|\w\w)*\d$": "w" * 80,
    r"(?=(a|aa)+$)a": "a" * 80 + "!",
    r"((a|aa)+)\1!$": "a" * 80 + "!b",
    r"b.*a.*c.*d$": "bac" * 40_000 + "d ",
}
FOR_EVER = "(a|aa)+$"


def searched(root: Path, pattern: str, seconds: float) -> FoundLines:
    """What a search finds in so many seconds."""
    return FileTreeSearch(root, PathPolicy(), seconds=seconds).search(
        LineQuery(pattern), QuietCall(request_id=1)
    )


@pytest.mark.clause("CD-68")
@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_a_search_with_a_catastrophic_pattern_says_which_part_it_saw(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("harmless\n")
    (tmp_path / "trap.txt").write_text(f"{CATASTROPHES[pattern]}\n")
    (tmp_path / "z.txt").write_text("harmless\n")
    with never_hanging():
        found = searched(tmp_path, pattern, 0.5)
    assert (found.files, found.unsearched, found.total) == (1, 2, 0)


@pytest.mark.clause("CD-68")
def test_what_was_found_before_the_time_was_over_is_the_answer(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("aa\n" * 3)
    (tmp_path / "trap.txt").write_text("a" * 80 + "!\n")
    with never_hanging():
        found = searched(tmp_path, FOR_EVER, 0.5)
    assert ([hit.line for hit in found.hits], found.total, found.unsearched) == ([1, 2, 3], 3, 1)


@pytest.mark.clause("CD-68")
def test_a_search_that_saw_no_file_in_time_fails(tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text("a" * 80 + "!\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), seconds=60.0)
    for query, waited in ((LineQuery("x"), 60.1), (LineQuery(FOR_EVER), 59.8)):
        with never_hanging(), pytest.raises(Failure) as caught:
            search.search(query, QuietCall(waited=waited, request_id=1))
        assert (caught.value.code, caught.value.message) == (Code.TIMED_OUT, "Search timed out")
        assert caught.value.details["pattern"] == query.pattern


@pytest.mark.slow
@pytest.mark.clause("CD-68")
def test_a_search_that_nobody_hurries_goes_on_to_the_end(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.txt").write_text("a" * 24 + "!\nend\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), seconds=0.0)
    found = search.search(LineQuery(r"(a|aa)+\1$|end"), QuietCall(waited=60.0))
    assert (found.files, found.unsearched, found.total) == (300, 0, 300)


@pytest.mark.clause("CD-09")
@pytest.mark.parametrize("pattern", [FOR_EVER, "b.*a.*c.*d$"])  # in a short text and in a long one
def test_a_pattern_yields_to_other_threads_and_stops_when_cancelled(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text(f"{CATASTROPHES[pattern]}\n")
    search = FileTreeSearch(tmp_path, PathPolicy())
    withdrawn = threading.Event()

    def wanted() -> None:
        if withdrawn.is_set():
            raise Cancelled("test")

    timer = threading.Timer(0.3, withdrawn.set)  # it could not, did the search hold the interpreter
    timer.start()
    with never_hanging(), pytest.raises(Cancelled):
        search.search(LineQuery(pattern), QuietCall(wanted=wanted))
    timer.join()


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """A folder with an `rg` that never ends."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "rg"
    script.write_text("#!/bin/sh\nexec sleep 600\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree whose one file `rg` is asked about."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.txt").write_text("foo bar foo bar\n")
    return tmp_path / "tree"


@pytest.mark.clause("CD-68")
def test_a_child_that_hangs_is_killed_and_its_files_are_read(
    tree: Path, stuck: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep, "BATCH_SECONDS", 0.1)
    search = FileTreeSearch(tree, PathPolicy(), large=0, search_path=str(stuck))
    before = children()
    with never_hanging():
        assert search.search(LineQuery("foo.*bar"), QuietCall(request_id=1)).total == 1
    until(lambda: children() <= before)


def children() -> set[str]:
    """The processes that this one has started and that still run."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.add(path.parent.name)
    return found
