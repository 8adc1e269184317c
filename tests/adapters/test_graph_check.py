"""Graph files whose digest fits and whose numbers do not: hnswlib must never see them."""

from __future__ import annotations

import hashlib
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from context_pack_adapters.vectors import graph

pytest.importorskip("hnswlib", reason="needs the extra hnswlib")

DIMENSION, SIZE = 8, 900
HEADER = 96
RECORD = 260 + 4 * DIMENSION + 8
UPPER = HEADER + SIZE * RECORD


def unit_rows(count: int, seed: int = 3) -> Any:
    rows = numpy.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "g"
    portion = (numpy.arange(1, SIZE + 1), unit_rows(SIZE), SIZE)
    assert graph.build(str(path), 77, "toy", DIMENSION, SIZE, [portion], unit_rows(5, 9), lambda: False)
    return path


def planted(made: Path, folder: Path, data: bytes, **card: Any) -> graph.Graph | None:
    """What is loaded when somebody put these bytes there, with a card that fits them."""
    digest = hashlib.sha256(data).hexdigest()
    (folder / "g").write_bytes(data)
    before = json.loads(made.with_name("g.json").read_text())
    (folder / "g.json").write_text(json.dumps({**before, "sha256": digest, **card}))
    return graph.load(str(folder / "g"), 77, "toy", DIMENSION)


def put(data: bytes, at: int, form: str, value: float) -> bytes:
    changed = bytearray(data)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "room for fewer than it holds": lambda data: put(data, 8, "<Q", SIZE - 1),
    "more elements than there are": lambda data: put(data, 16, "<Q", SIZE + 1),
    "elements beyond counting": lambda data: put(data, 16, "<Q", 2**63),
    "smaller records": lambda data: put(data, 24, "<Q", 16),
    "a label elsewhere": lambda data: put(data, 32, "<Q", 2**40),
    "vectors elsewhere": lambda data: put(data, 40, "<Q", 2**40),
    "more levels": lambda data: put(data, 48, "<i", 9),
    "no level": lambda data: put(data, 48, "<i", -1),
    "a start outside": lambda data: put(data, 52, "<I", SIZE),
    "longer lists above": lambda data: put(data, 56, "<Q", 2**20),
    "longer lists below": lambda data: put(data, 64, "<Q", 2**20),
    "too many links": lambda data: put(data, HEADER, "<H", 65535),
    "a link outside": lambda data: put(data, HEADER + 4, "<I", 2**31),
    "a deleted element": lambda data: put(data, HEADER + 2, "<B", 1),
    "one label twice": lambda data: put(data, HEADER + RECORD - 8, "<Q", 5),
    "a length that is no list": lambda data: put(data, UPPER, "<I", 7),
    "a length beyond the file": lambda data: put(data, UPPER, "<I", 132 * 2**20),
    "bytes behind": lambda data: data + bytes(4),
    "bytes missing": lambda data: data[:-4],
    "a header alone": lambda data: data[:HEADER],
    "half a header": lambda data: data[:50],
    "nothing": lambda data: b"",
}


@pytest.mark.clause("IX-21")
@pytest.mark.parametrize("harm", HARMS)
def test_a_graph_with_wrong_numbers_and_a_digest_that_fits_is_not_loaded(
    made: Path, tmp_path: Path, harm: str
) -> None:
    assert planted(made, tmp_path, made.read_bytes()) is not None, "the same file unharmed is"
    assert planted(made, tmp_path, HARMS[harm](made.read_bytes())) is None


@pytest.mark.clause("IX-21")
def test_a_link_to_an_element_without_that_level_is_not_followed(made: Path, tmp_path: Path) -> None:
    data = made.read_bytes()
    words = struct.unpack(f"<{(len(data) - UPPER) // 4}I", data[UPPER:])
    at = next(number for number, word in enumerate(words) if word)  # the first element with an upper list
    low = next(number for number in range(at) if words[number] == 0)
    assert planted(made, tmp_path, put(data, UPPER + 4 * (at + 2), "<I", low)) is None
    assert planted(made, tmp_path, put(data, UPPER + 4 * (at + 2), "<I", SIZE)) is None
    assert planted(made, tmp_path, put(data, UPPER + 4 * (at + 1), "<I", 33)) is None


@pytest.mark.clause("IX-21")
@pytest.mark.parametrize("card", [{"size": SIZE * 10**9}, {"size": 1}, {"size": 2**70}])
def test_a_graph_whose_metadata_names_another_size_is_not_loaded(
    made: Path, tmp_path: Path, card: dict[str, Any]
) -> None:
    assert planted(made, tmp_path, made.read_bytes(), **card) is None


@pytest.mark.clause("IX-21")
def test_damaged_graphs_are_refused_or_searched_without_a_crash(made: Path, tmp_path: Path) -> None:
    data, chance = made.read_bytes(), random.Random(11)
    refused = 0
    for _ in range(1000):
        region = chance.choice([range(0, HEADER, 4), range(HEADER, UPPER, 4), range(UPPER, len(data), 4)])
        value = chance.choice([0, 1, 33, SIZE, 2**16, 2**31, 2**32 - 1, chance.randrange(2**32)])
        loaded = planted(made, tmp_path, put(data, chance.choice(region), "<I", value))
        if loaded is None:
            refused += 1
        else:
            loaded.candidates(unit_rows(1, 1)[0], 20)
    assert refused > 200
