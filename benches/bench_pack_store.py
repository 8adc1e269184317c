"""The pack store and its format, one operation at a time.

    python -m pytest benches/bench_pack_store.py -o addopts= -o python_files='bench_*.py'

How they stand beside their floors is printed by `side_by_side/packs.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.append(str(CHECKOUT / "benches/side_by_side"))

from packs import filled, sample  # noqa: E402

from context_pack_adapters.packs import pack_format  # noqa: E402
from context_pack_adapters.packs.store import FilePackStore  # noqa: E402
from context_pack_adapters.system import SystemClock  # noqa: E402

Benchmark = Callable[..., Any]
COUNT = 300


@pytest.fixture
def store(tmp_path: Path) -> FilePackStore:
    """A store with some packs, all of them known."""
    filled(tmp_path, COUNT)
    made = FilePackStore(tmp_path, SystemClock(), os.urandom)
    assert len(made.all()) == COUNT
    return made


def test_get(benchmark: Benchmark, store: FilePackStore) -> None:
    key = store.all()[0].id
    assert benchmark(store.get, key).id == key


def test_list_again(benchmark: Benchmark, store: FilePackStore) -> None:
    assert len(benchmark(store.all)) == COUNT


def test_mutate(benchmark: Benchmark, store: FilePackStore) -> None:
    key = store.all()[0].id
    benchmark(store.update, key, lambda pack: attrs.evolve(pack, revision=pack.revision + 1))
    assert store.get(key).revision > 1


def test_create(benchmark: Benchmark, store: FilePackStore) -> None:
    benchmark(store.create, sample, None)
    assert len(store.all()) > COUNT


def test_decode(benchmark: Benchmark) -> None:
    pack = sample("pk_aaaaaaaa")
    assert benchmark(pack_format.decode, pack_format.encode(pack), pack.id) == pack
