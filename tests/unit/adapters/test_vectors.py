"""Vectors compared exactly and by graph: the same cosines, the same order; files are not believed."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack_adapters.vectors import exact, graph, plain


def unit_rows(count: int, dimension: int, seed: int = 1) -> Any:
    rows = numpy.random.default_rng(seed).normal(size=(count, dimension)).astype(numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def matrix_of(rows: Any, first: int = 1) -> exact.Matrix:
    return exact.Matrix(rows.shape[1]).appended(numpy.arange(first, first + len(rows)), rows)


@pytest.mark.clause("IX-11")
@settings(max_examples=60)
@given(count=st.integers(1, 60), limit=st.integers(0, 70), seed=st.integers(0, 5), ties=st.booleans())
def test_the_nearest_are_those_that_sorting_everything_gives(
    count: int, limit: int, seed: int, ties: bool
) -> None:
    rows = unit_rows(count, 6, seed)
    if ties:
        rows[count // 3 :] = rows[0]
    asked = unit_rows(1, 6, seed + 100)[0]
    true = numpy.clip((rows.astype(numpy.float64) * asked.astype(numpy.float64)).sum(axis=1), -1, 1)
    expected = sorted(zip(range(1, count + 1), true.tolist(), strict=True), key=lambda hit: (-hit[1], hit[0]))
    assert matrix_of(rows).nearest(asked, limit, None) == expected[:limit]
    some = numpy.arange(0, count, 2)
    odd = [hit for hit in expected if hit[0] % 2]
    assert matrix_of(rows).nearest(asked, limit, some) == odd[:limit]


@pytest.mark.clause("IX-11")
def test_comparing_without_numpy_gives_the_same_cosines_and_refuses_damage() -> None:
    rows, asked = unit_rows(200, 12), unit_rows(1, 12, 9)[0]
    asked[3:9] = 0
    blobs = {number: row.tobytes() for number, row in enumerate(rows, 1)}
    found = plain.plain_nearest(array("f", asked), blobs.items(), 50)
    expected = matrix_of(rows).nearest(asked, 50, None)
    assert [piece for piece, _ in found] == [piece for piece, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-15)
    assert plain.cosine_with(array("f", [1.0] + [0.0] * 11))(blobs[1]) == float(rows[0, 0])
    for damaged in (b"", blobs[1][4:], array("f", [float("nan")] * 12).tobytes()):
        with pytest.raises(ValueError, match="a vector"):
            plain.cosine_with(array("f", asked))(damaged)


@pytest.mark.clause("IX-11")
def test_broad_filters_give_the_same_as_narrow_ones() -> None:
    rows = unit_rows(exact.GATHER_ROWS + 3000, 4)
    matrix, asked = matrix_of(rows), unit_rows(1, 4, 9)[0]
    admitted = numpy.arange(exact.GATHER_ROWS + 100)
    broad = matrix.nearest(asked, 50, admitted)
    assert broad == matrix_of(rows[admitted]).nearest(asked, 50, None)
    assert broad != matrix.nearest(asked, 50, None)


def test_a_longer_matrix_leaves_the_shorter_one_as_it_was() -> None:
    rows = unit_rows(10, 4)
    short = exact.Matrix(4).appended(numpy.arange(4), rows[:4], reserve=100)
    one, other = (short.appended(numpy.array([number]), rows[[number]]) for number in (5, 6))
    assert short.pieces.tolist() == [0, 1, 2, 3]
    assert one.pieces.tolist() == [0, 1, 2, 3, 5]
    assert other.pieces.tolist() == [0, 1, 2, 3, 6]
    assert numpy.array_equal(one.vectors[4], rows[5])
    less = one.only(numpy.array([1, 5, 99]))
    assert less.pieces.tolist() == [1, 5]
    assert one.pieces.tolist() == [0, 1, 2, 3, 5]


def test_rows_within_ranges_are_found() -> None:
    pieces = numpy.array([9, 1, 5, 3, 7])
    assert exact.rows_within(pieces, [(1, 3), (7, 8)]).tolist() == [1, 3, 4]
    assert exact.rows_within(pieces, []).tolist() == []


def test_bytes_that_are_no_vectors_are_refused() -> None:
    assert exact.to_blob([1.0, float("inf")], 2) is None
    assert exact.to_blob([1.0], 2) is None
    assert exact.to_blobs([[1.0, 2.0], [3.0]], 2) == [exact.to_blob([1.0, 2.0], 2), None]
    assert exact.to_blobs([[1.0], [2.0]], 2) == [None, None]
    for blobs in ([b"123"], [b"12345678", b"1234"], [b"\xff" * 8]):
        with pytest.raises(ValueError):
            exact.from_blobs(blobs, 2)


OTHERS = {"other dimension": (77, "toy", 9), "other embedder": (77, "toys", 8), "other file": (78, "toy", 8)}


def portions(rows: Any, size: int = 500) -> Iterator[tuple[Any, Any, int]]:
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        pieces = numpy.arange(start + 1, start + 1 + len(some))
        yield pieces, some, int(pieces[-1])


def build(path: Path, rows: Any, stop: bool = False, **rest: float) -> bool:
    pytest.importorskip("hnswlib", reason="needs the extra hnswlib")
    questions = unit_rows(20, rows.shape[1], 8)
    dimension, count = rows.shape[1], len(rows)
    return graph.build(
        str(path), 77, "toy", dimension, count, portions(rows), questions, lambda: stop, **rest
    )


@pytest.mark.clause("IX-12")
def test_a_graph_finds_at_least_98_of_100_true_neighbours(tmp_path: Path) -> None:
    rows = unit_rows(3000, 24)
    assert build(tmp_path / "g", rows)
    loaded = graph.load(str(tmp_path / "g"), 77, "toy", 24)
    assert loaded is not None
    assert loaded.card[:6] == (77, "toy", 24, "ip", 3000, 3000)
    hits = 0
    for asked in unit_rows(60, 24, 5):
        true = {piece for piece, _ in matrix_of(rows).nearest(asked, 10, None)}
        hits += len(true & set(loaded.candidates(asked, 45).tolist()))
    assert hits / 600 >= 0.98
    assert numpy.array_equal(loaded.vectors(numpy.array([7, 3])), rows[[6, 2]])
    assert sorted(os.listdir(tmp_path)) == ["g", "g.json"]


@pytest.mark.clause("IX-12")
def test_a_graph_of_equal_vectors_is_searched_all_the_same(tmp_path: Path) -> None:
    rows = numpy.repeat(unit_rows(1, 8), 300, axis=0)
    assert build(tmp_path / "g", rows)
    loaded = graph.load(str(tmp_path / "g"), 77, "toy", 8)
    assert loaded is not None
    assert len(loaded.candidates(rows[0], 100)) in (0, 100)


@pytest.mark.clause("IX-12")
def test_vectors_among_which_a_graph_finds_too_little_get_none(tmp_path: Path) -> None:
    assert build(tmp_path / "g", unit_rows(300, 8))
    assert build(tmp_path / "g", unit_rows(500, 8), least=1.01)
    assert os.listdir(tmp_path) == ["g.json"]
    card = graph.read_card(str(tmp_path / "g"))
    assert card is not None
    assert (card.size, card.effort) == (500, 0)
    assert graph.load(str(tmp_path / "g"), 77, "toy", 8) is None


@pytest.mark.clause("IX-12")
@pytest.mark.parametrize("harm", ["truncated", "flipped", "gone", "no card", "bad card", *OTHERS])
def test_a_graph_file_that_is_not_what_its_card_says_is_not_used(tmp_path: Path, harm: str) -> None:
    path, card = tmp_path / "g", tmp_path / "g.json"
    assert build(path, unit_rows(200, 8))
    data = path.read_bytes()
    if harm == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif harm == "flipped":
        path.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    elif harm == "gone":
        path.unlink()
    elif harm == "no card":
        card.unlink()
    elif harm == "bad card":
        card.write_text(json.dumps({**json.loads(card.read_text()), "size": "many"}))
    assert graph.load(str(path), *OTHERS.get(harm, (77, "toy", 8))) is None


@pytest.mark.clause("IX-12")
def test_a_failed_graph_write_is_reported_and_keeps_the_old_graph(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        build(tmp_path / "no folder" / "g", unit_rows(20, 8))
    assert build(tmp_path / "g", unit_rows(20, 8))
    assert not build(tmp_path / "g", unit_rows(50, 8), stop=True)
    loaded = graph.load(str(tmp_path / "g"), 77, "toy", 8)
    assert loaded is not None
    assert loaded.card.size == 20
    assert sorted(os.listdir(tmp_path)) == ["g", "g.json"]
