"""The index file damaged, foreign, gone, locked, or on a disk that is full: words, and it works."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve
from file_trees import modes
from index_entries import ToyEmbedder, make_entry

from context_pack.kernel.errors import Code, Failure
from context_pack.retrieval.model import Scope
from context_pack_adapters.index.sqlite_index import SqliteIndex

OUR_PATH = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
FRUIT = make_entry("fruit", "apples are red", "pears are green")
TREES = make_entry("trees", "oaks are old")
WORDS = [f"word{number}" for number in range(300)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "derived" / "things.sqlite3"


@pytest.fixture
def index(path: Path) -> Iterator[SqliteIndex]:
    """An index with an entry in it."""
    with closing(open_index(path)) as made:
        made.replace([FRUIT])
        made.note("docs", {"noted": True})
        yield made


def open_index(path: Path, chunker: str = "test/1", fast: ToyEmbedder | None = None) -> SqliteIndex:
    return SqliteIndex(path, fast or ToyEmbedder(), chunker=chunker, timeout=5.0)


def works_empty(index: SqliteIndex) -> None:
    """The index has nothing in it and can do everything."""
    assert index.known("docs") == {}
    with index.reading() as snapshot:
        assert snapshot.corpus_facts("docs") is None
        assert snapshot.keyword(["appl"], Scope(), 5) == []
    index.replace([TREES])
    with index.reading() as snapshot:
        assert len(snapshot.keyword(["oak"], Scope(), 5)) == 1
        assert len(snapshot.nearest("toy-16/1", ToyEmbedder().one("oaks"), Scope(), 5)) == 1
    index.forget("docs")


@pytest.mark.clause("IX-01", "IX-04")
@pytest.mark.parametrize("what", ["garbage", "empty", "truncated", "another program's", "zeros", "link"])
def test_a_file_that_is_no_index_is_removed_and_an_empty_one_takes_its_place(path: Path, what: str) -> None:
    path.parent.mkdir()
    theirs = path.parent.parent / "somebody's"
    theirs.write_bytes(b"a line of somebody's file\n")
    if what == "another program's":
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE entries (a)")
            other.commit()
    elif what == "truncated":
        with closing(open_index(path)) as whole:
            whole.replace(make_entry(f"e{n}", "some words " * 50) for n in range(200))
        os.truncate(path, path.stat().st_size // 2)
    elif what == "link":
        path.symlink_to(theirs)
    else:
        path.write_bytes({"garbage": os.urandom(50_000), "empty": b"", "zeros": bytes(20_000)}[what])
    with closing(open_index(path)) as index:
        works_empty(index)
        notices = list(index.notices())
        assert [notice.endswith("; it is built anew") for notice in notices] == [True] * (what != "empty")
        assert index.notices() == []
        assert what == "empty" or modes(path.parent) == {}
    assert theirs.read_bytes() == b"a line of somebody's file\n"
    assert not path.is_symlink()


@pytest.mark.clause("IX-01", "IX-04")
@pytest.mark.parametrize("names", [["", "-wal", "-shm"], [""], ["folder"]])
def test_files_deleted_while_they_are_open_end_in_a_working_index(
    index: SqliteIndex, path: Path, names: list[str]
) -> None:
    pieces = list(index.lacking("slow", Scope(), 5))
    with index.reading() as snapshot:
        for name in names:
            if name == "folder":
                shutil.rmtree(path.parent)
            else:
                os.unlink(f"{path}{name}")
        assert snapshot.entry("docs", "fruit") == evolve(FRUIT, pieces=()), "who reads already goes on"
    works_empty(index)
    assert len(index.notices()) == 1
    with closing(open_index(path)) as other:
        other.replace([TREES])
        assert list(index.known("docs")) == ["trees"], "both have the same file"
        index.keep("slow", {piece: [1.0] for piece in pieces})
        with other.reading() as snapshot:
            assert snapshot.progress("slow", Scope()).done == 0, "what was meant for the old one"
        os.rename(path, path.with_name("away"))
        other.replace([FRUIT])
        assert list(index.known("docs")) == ["fruit"]


@pytest.mark.clause("IX-04")
def test_another_chunker_embedder_or_format_means_an_empty_index_and_a_notice(path: Path) -> None:
    for chunker, fast, is_other in (
        ("test/1", ToyEmbedder(), False),
        ("test/2", ToyEmbedder(), True),
        ("test/2", ToyEmbedder(8, "toys"), True),
    ):
        with closing(open_index(path, chunker, fast)) as index:
            assert index.known("docs") == {}
            assert index.notices() == ["things.sqlite3 is of another version; it is built anew"] * is_other
            index.replace([FRUIT])
        with closing(open_index(path, chunker, fast)) as index:
            assert list(index.known("docs")) == ["fruit"]
            assert index.notices() == []


@pytest.mark.clause("IX-04")
@pytest.mark.parametrize("seed", range(6))
def test_an_index_with_flipped_bytes_ends_in_failures_or_a_working_index(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with closing(open_index(path)) as index:
        index.replace(
            make_entry(f"e{n}", *(" ".join(chance.choices(WORDS, k=40)) for _ in range(4))) for n in range(60)
        )
    size = path.stat().st_size
    with path.open("r+b") as file:
        for _ in range(1 + seed * 3):
            file.seek(chance.randrange(size))
            file.write(os.urandom(chance.choice([1, 40, 600])))
    with closing(open_index(path)) as index:
        for _ in range(4):
            exercise(index, chance)


def exercise(index: SqliteIndex, chance: random.Random) -> None:
    """Ask for everything; nothing but a failure in words may come of it."""
    actions: list[Callable[[], object]] = [
        lambda: index.known("docs"),
        lambda: index.replace([make_entry(f"e{chance.randrange(60)}", "new words here", "and there")]),
        lambda: index.forget("docs", [f"e{chance.randrange(60)}"]),
        lambda: index.keep("slow", {piece: [1.0, 0.0] for piece in index.lacking("slow", Scope(), 9)}),
        lambda: index.note("docs", {"x": 1}),
        lambda: read_everything(index, chance),
    ]
    told = set()
    for action in chance.sample(actions, len(actions)):
        try:
            action()
        except Failure as failure:
            told.add((failure.code, failure.details["reason"]))
    assert told <= {(Code.IO_ERROR, "damaged")}


def read_everything(index: SqliteIndex, chance: random.Random) -> None:
    asked = ToyEmbedder().one("word1 word2")
    with index.reading() as snapshot:
        for key in [each.key for each in snapshot.summaries("docs")]:
            snapshot.entry("docs", key)
            snapshot.centroid("toy-16/1", "docs", key)
        hits = snapshot.keyword(chance.choices(WORDS, k=5), Scope(corpora=("docs",)), 50)
        pieces = [piece for piece, _ in [*hits, *snapshot.nearest("toy-16/1", asked, Scope(), 500)]]
        snapshot.found(pieces)
        snapshot.cosines("toy-16/1", asked, pieces)
        snapshot.progress("toy-16/1", Scope(kinds=("",)))


LIMITED = """
import json, pathlib, resource, sys
from context_pack.kernel.errors import Failure
from context_pack_adapters.index.sqlite_index import SqliteIndex
from index_entries import ToyEmbedder, make_entry
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
big = make_entry("big", *(" ".join(f"word{m}" for m in range(300)) * 10 + str(n) for n in range(60)))
try:
    SqliteIndex(pathlib.Path(sys.argv[1]), ToyEmbedder(), chunker="test/1").replace([big])
except Failure as failure:
    print(json.dumps({"code": failure.code, "message": failure.message}))
"""


@pytest.mark.clause("IX-06")
def test_a_disk_that_takes_no_more_is_an_error_message_and_damages_nothing(
    index: SqliteIndex, path: Path
) -> None:
    index.close()
    most = str(path.stat().st_size + 20_000)
    words = [sys.executable, "-c", LIMITED, str(path), most]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120, env=OUR_PATH)
    answer = json.loads(done.stdout)
    assert answer["code"] == Code.IO_ERROR, answer
    assert answer["message"].startswith("things.sqlite3: ")
    assert ";" in answer["message"], "it must say what to do"
    assert str(path.parent) not in json.dumps(answer)
    assert list(index.known("docs")) == ["fruit"]
    assert index.notices() == []


@pytest.mark.clause("IX-06")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_place_where_no_index_can_be_is_an_error_message(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "derived" / "things.sqlite3"
    if kind == "file":
        path.parent.write_text("in the way")
    else:
        (path / "sub").mkdir(parents=True)
    with closing(open_index(path)) as index, pytest.raises(Failure) as caught:
        index.replace([FRUIT])
    assert caught.value.code is Code.IO_ERROR
    assert str(tmp_path) not in caught.value.message


@pytest.mark.clause("IX-06")
def test_a_lock_that_stays_is_a_failure_and_readers_do_not_mind_it(path: Path) -> None:
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1", timeout=0.2)) as index:
        index.replace([FRUIT])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Failure) as caught:
                index.replace([TREES])
            assert caught.value.code is Code.LOCK_TIMEOUT
            assert list(index.known("docs")) == ["fruit"]
        index.replace([TREES])
