"""What keeps an index quick and small: portions, no words of what is gone, few retired vectors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from index_entries import ToyEmbedder, make_entry

from context_pack.retrieval.model import IndexEntry, Piece, PieceHit, Scope
from context_pack_adapters.index.sqlite_index import SqliteIndex


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "derived" / "things.sqlite3"


@pytest.fixture
def index(path: Path) -> Iterator[SqliteIndex]:
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1")) as made:
        yield made


def ask_file(path: Path, sql: str) -> int:
    """A number that the file knows."""
    with closing(sqlite3.connect(path)) as connection:
        (number,) = connection.execute(sql).fetchone()
    return int(number)


@pytest.mark.clause("IX-02")
def test_a_large_replace_is_committed_in_portions(index: SqliteIndex) -> None:
    seen: list[int] = []

    def entries() -> Iterator[IndexEntry]:
        for number in range(2500):
            if number % 500 == 0:
                seen.append(len(index.known("docs")))
            yield make_entry(f"e{number:04}", "a piece")

    index.replace(entries())
    assert seen[-1] > 1000
    assert len(index.known("docs")) == 2500


@pytest.mark.clause("IX-02")
def test_what_is_replaced_or_removed_leaves_none_of_its_words(index: SqliteIndex, path: Path) -> None:
    words = "SELECT COUNT(*) FROM terms"
    index.replace(make_entry(f"e{number}", f"red word{number} blue", "red rest") for number in range(10))
    before, count = answers(index), ask_file(path, words)
    with index.reading() as snapshot:
        scores = [score for _, score in snapshot.keyword(["red"], Scope(), 100)]
    index.replace([make_entry("e3", *(f"red passing{at}" for at in range(300)))])
    assert answers(index) != before
    index.replace([make_entry("e3", "red word3 blue", "red rest")])
    with index.reading() as snapshot:
        assert [score for _, score in snapshot.keyword(["red"], Scope(), 100)] == scores
        assert len(snapshot.keyword(["word3"], Scope(), 100)) == 1
    assert ask_file(path, words) == count
    index.forget("docs")
    assert ask_file(path, words) == 0


def answers(index: SqliteIndex) -> list[list[PieceHit]]:
    with index.reading() as snapshot:
        words = ("red", "word7", "blue1", "word3")
        return [list(snapshot.keyword([word], Scope(), 100)) for word in words]


@pytest.mark.clause("IX-13")
def test_vectors_without_a_piece_are_bounded_and_come_back(index: SqliteIndex, path: Path) -> None:
    index.replace([make_entry("one", "first text")])
    with closing(sqlite3.connect(path)) as connection:
        rows = ((number.to_bytes(16, "big"), bytes(64)) for number in range(50_010))
        connection.executemany("INSERT INTO vectors VALUES (NULL, 'toy-16/1', ?, ?)", rows)
        connection.commit()
    index.replace([make_entry("one", "second text")])
    index.tend(lambda: False)
    assert ask_file(path, "SELECT COUNT(*) FROM vectors") == 50_000
    index.replace([make_entry("one", "first text")])
    with index.reading() as snapshot:
        assert snapshot.progress("toy-16/1", Scope()).done == 1


@pytest.mark.clause("RT-21")
def test_a_narrow_search_gives_the_same_before_and_after_all_vectors_were_loaded(path: Path) -> None:
    asked = ToyEmbedder().one("red word7")
    scopes = [Scope(within=("docs", "e7")), Scope(corpora=("few",)), Scope(within=("docs", "none"))]
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1")) as index:
        index.replace(make_entry(f"e{n}", f"red word{n}", f"blue word{n}") for n in range(40))
        index.replace([make_entry("last", "red word7 again", "green", corpus="few")])
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1")) as index, index.reading() as snapshot:
        before = [snapshot.nearest("toy-16/1", asked, scope, 5) for scope in scopes]
        every = snapshot.nearest("toy-16/1", asked, Scope(), 100)
        assert [snapshot.nearest("toy-16/1", asked, scope, 5) for scope in scopes] == before
    assert [len(hits) for hits in before] == [2, 2, 0]
    assert len(every) == 82
    assert {hit for hits in before for hit in hits} <= set(every)


@pytest.mark.clause("IX-12")
@pytest.mark.skipif(find_spec("hnswlib") is not None, reason="hnswlib is installed")
def test_without_hnswlib_vectors_are_compared_exactly_at_any_number(tmp_path: Path) -> None:
    with closing(SqliteIndex(tmp_path / "i.sqlite3", ToyEmbedder(), chunker="c", graph_at=1)) as index:
        index.replace(
            [IndexEntry("a", "k", "d", pieces=tuple(Piece(f"word{number}") for number in range(50)))]
        )
        index.tend(lambda: False)
        assert not [name for name in os.listdir(tmp_path) if ".graph-" in name]
        with index.reading() as snapshot:
            embedder = ToyEmbedder()
            assert len(snapshot.nearest(embedder.id, embedder.one("word7"), Scope(), 5)) == 5
