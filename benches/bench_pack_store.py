"""The pack store, its format and the source tree, one operation at a time.

    python -m pytest benches/bench_pack_store.py -o addopts= -o python_files='bench_*.py'

Ratios against floors, which is what the contract speaks of, come from `side_by_side/pack_store_floors.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack.kernel.text import LineRange
from context_pack.packs.model import Pack, Ref, Section, Status
from context_pack_adapters.files.walking import files_below
from context_pack_adapters.packs import pack_format
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.source.tree import DiskSourceTree
from context_pack_adapters.system import SystemClock, SystemIds

Benchmark = Callable[..., Any]
CHECKOUT = Path(__file__).resolve().parents[1]
COUNT = 300


def sample(key: str) -> Pack:
    """A pack of ordinary size."""
    now = SystemClock().now()
    refs = [
        Ref(f"ref{n}", RelativePath(f"src/mod{n}.py"), LineRange(1, 40), "A ref", "Why") for n in range(3)
    ]
    section = Section("flow", "The flow", "First this,\nthen that.", tuple(refs))
    return Pack(
        id=key,
        title="A pack",
        status=Status.DRAFT,
        tags=("a",),
        sections=(section,),
        revision=1,
        created_at=now,
        updated_at=now,
        expires_at=now + timedelta(days=1),
    )


@pytest.fixture
def store(tmp_path: Path) -> FilePackStore:
    """A store with some packs, all of them known."""
    (tmp_path / "packs").mkdir()
    for number in range(COUNT):
        key = f"pk_{number:08}".translate(str.maketrans("0189", "abcd"))
        (tmp_path / "packs" / f"{key}.md").write_bytes(pack_format.encode(sample(key)))
    made = FilePackStore(tmp_path, SystemClock(), SystemIds())
    assert len(made.all()) == COUNT
    return made


def test_get(benchmark: Benchmark, store: FilePackStore) -> None:
    key = store.all()[0].id
    assert benchmark(store.get, key).id == key


def test_list_again(benchmark: Benchmark, store: FilePackStore) -> None:
    assert len(benchmark(store.all)) == COUNT


def test_list_for_the_first_time(benchmark: Benchmark, store: FilePackStore, tmp_path: Path) -> None:
    assert len(store.all()) == COUNT
    assert len(benchmark(lambda: FilePackStore(tmp_path, SystemClock(), SystemIds()).all())) == COUNT


def test_mutate(benchmark: Benchmark, store: FilePackStore) -> None:
    key = store.all()[0].id
    benchmark(store.update, key, lambda pack: attrs.evolve(pack, revision=pack.revision + 1))
    assert store.get(key).revision > 1


def test_create(benchmark: Benchmark, store: FilePackStore) -> None:
    benchmark(store.create, sample, None)
    assert len(store.all()) > COUNT


def test_encode(benchmark: Benchmark) -> None:
    assert benchmark(pack_format.encode, sample("pk_aaaaaaaa"))


def test_decode(benchmark: Benchmark) -> None:
    pack = sample("pk_aaaaaaaa")
    assert benchmark(pack_format.decode, pack_format.encode(pack), pack.id) == pack


def test_read_a_source_file(benchmark: Benchmark) -> None:
    tree = DiskSourceTree(CHECKOUT, PathPolicy())
    path = RelativePath("context_pack/toolkit/registry.py")
    assert benchmark(tree.read, path, 1_000_000).path == path


def test_walk_the_checkout(benchmark: Benchmark) -> None:
    assert len(benchmark(lambda: files_below(CHECKOUT, PathPolicy()))) > 100
