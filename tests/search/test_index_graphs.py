"""Very many vectors: graphs beside the index file, made when they are worth it, and never trusted blindly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy
import pytest
from index_entries import ToyEmbedder

from context_pack.retrieval.model import IndexEntry, Piece, Scope
from context_pack_adapters.index.sqlite_index import SqliteIndex

pytest.importorskip("hnswlib", reason="needs the extra hnswlib")

DIMENSION = 24
PIECES = 2400


class Noise(ToyEmbedder):
    """Vectors that are the same for the same text and otherwise as different as can be."""

    def __init__(self) -> None:
        super().__init__(DIMENSION, "noise")

    def embed(self, texts: Any, kind: Any) -> Any:
        rows = numpy.array([
            numpy.random.default_rng(int.from_bytes(text.encode()[-8:], "big")).normal(size=DIMENSION)
            for text in texts
        ])  # fmt: skip
        return (rows / numpy.linalg.norm(rows, axis=1, keepdims=True)).astype(numpy.float32)


def entries(first: int = 0, last: int = PIECES // 10) -> Iterator[IndexEntry]:
    for number in range(first, last):
        pieces = tuple(Piece(f"n{number:05}p{at}") for at in range(10))
        yield IndexEntry("even" if number % 2 == 0 else "odd", f"e{number}", "d", pieces=pieces)


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteIndex]:
    """The same content without a graph."""
    with closing(SqliteIndex(tmp_path_factory.mktemp("x") / "i.sqlite3", Noise(), chunker="c")) as made:
        made.replace(entries())
        yield made


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    with closing(SqliteIndex(tmp_path / "i.sqlite3", Noise(), chunker="c", graph_at=1000)) as made:
        made.replace(entries())
        made.tend(lambda: False)
        yield made


def graph_files(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if ".graph-" in name and not name.endswith(".lock"))


def texts(index: SqliteIndex, asked: Any, scope: Scope, limit: int) -> list[tuple[str, float]]:
    with index.reading() as snapshot:
        hits = snapshot.nearest("noise-24/1", asked, scope, limit)
        found = snapshot.found([piece for piece, _ in hits])
        return [(each.text, hit[1]) for each, hit in zip(found, hits, strict=True)]


QUERIES = [Noise().one(f"query {number}") for number in range(25)]
SCOPES = [Scope(), Scope(corpora=("even",)), Scope(without=("even", "e0"))]


@pytest.mark.clause("IX-12")
def test_a_graph_answers_like_comparing_everything(
    index: SqliteIndex, exact: SqliteIndex, tmp_path: Path
) -> None:
    assert len(graph_files(tmp_path)) == 1
    same = total = 0
    for asked in QUERIES:
        for scope in SCOPES:
            ours, theirs = texts(index, asked, scope, 10), texts(exact, asked, scope, 10)
            assert len(ours) == len(theirs)
            same += len(set(ours) & set(theirs))
            total += len(theirs)
            assert [score for _, score in ours] == sorted((score for _, score in ours), reverse=True)
    assert same / total >= 0.98


@pytest.mark.clause("IX-12")
def test_pieces_changed_after_the_graph_was_built_are_searched_at_once(index: SqliteIndex) -> None:
    asked = Noise().one("n00003p4")
    assert texts(index, asked, Scope(), 3)[0][0] == "n00003p4"
    index.forget("odd", ["e3"])
    assert texts(index, asked, Scope(), 3)[0][0] != "n00003p4"
    index.replace([IndexEntry("odd", "new", "d", pieces=(Piece("n00003p4"), Piece("brand new")))])
    assert texts(index, asked, Scope(), 3)[0][0] == "n00003p4"
    assert texts(index, Noise().one("brand new"), Scope(corpora=("odd",)), 3)[0][0] == "brand new"
    assert len(texts(index, asked, Scope(), 5000)) == PIECES - 10 + 2


@pytest.mark.clause("IX-12")
def test_a_graph_is_rebuilt_once_a_fifth_of_it_is_outdated(index: SqliteIndex, tmp_path: Path) -> None:
    made = graph_files(tmp_path)
    (tmp_path / "i.sqlite3.graph-0123-1.tmp").write_bytes(b"left by somebody who was killed")
    index.replace(entries(500, 520))
    index.tend(lambda: False)
    assert graph_files(tmp_path) == made
    index.replace(entries(600, 660))
    index.tend(lambda: True)
    assert graph_files(tmp_path) == made, "it was told to stop"
    index.tend(lambda: False)
    assert len(graph_files(tmp_path)) == 1
    assert graph_files(tmp_path) != made
    index.forget("odd")
    index.forget("even", [f"e{number}" for number in range(200)])
    index.tend(lambda: False)
    assert graph_files(tmp_path) == [], "so few need no graph"
    assert len(texts(index, QUERIES[0], Scope(), 5)) == 5


@pytest.mark.clause("IX-12")
def test_a_truncated_graph_or_one_of_another_file_is_not_used(
    index: SqliteIndex, exact: SqliteIndex, tmp_path: Path
) -> None:
    (name,) = graph_files(tmp_path)
    whole = (tmp_path / name).stat().st_size
    os.truncate(tmp_path / name, whole // 2)
    with closing(SqliteIndex(tmp_path / "i.sqlite3", Noise(), chunker="c", graph_at=1000)) as again:
        assert texts(again, QUERIES[0], Scope(), 10) == texts(exact, QUERIES[0], Scope(), 10)
        again.tend(lambda: False)
    (name,) = graph_files(tmp_path)
    assert (tmp_path / name).stat().st_size == whole
    os.unlink(tmp_path / "i.sqlite3")
    index.replace(entries(5000, 5150))
    assert len(texts(index, QUERIES[0], Scope(), 2000)) == 1500
