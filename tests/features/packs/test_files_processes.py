"""Many processes on one store: nothing is lost, nothing is torn, no lock outlives its holder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from sample_packs import maker

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.packs.store import FilePackStore
from context_pack_adapters.system import SystemClock

WORKER = Path(__file__).with_name("pack_store_worker.py")
PROCESSES = 8
MUTATIONS = 100
WRITERS = 200
OUR_PATH = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts workers; those still running after the test are killed."""
    running: list[subprocess.Popen[str]] = []

    def begin(*words: object) -> subprocess.Popen[str]:
        command = [sys.executable, str(WORKER), *map(str, words)]
        pipe = subprocess.PIPE
        running.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=OUR_PATH))
        return running[-1]

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def answer(process: subprocess.Popen[str], patience: float = 120) -> Any:
    """What a worker printed when it was done."""
    out, err = process.communicate(timeout=patience)
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.fixture
def store(tmp_path: Path) -> FilePackStore:
    """A store over the test's own folder."""
    return FilePackStore(tmp_path, SystemClock(), os.urandom, lock_timeout=5.0)


def fill(store: FilePackStore, count: int) -> list[str]:
    """Fresh packs, by id."""
    return [store.create(maker(SystemClock().now()), None).id for _ in range(count)]


@pytest.mark.slow
@pytest.mark.clause("ST-16")
@pytest.mark.parametrize("packs", [1, 100])
def test_many_processes_lose_no_mutation(
    store: FilePackStore, tmp_path: Path, start: Start, packs: int
) -> None:
    ids = fill(store, packs)
    refusals = Counter[str]()
    for process in [start("mutate", tmp_path, MUTATIONS, *ids) for _ in range(PROCESSES)]:
        refusals.update(answer(process))
    assert set(refusals) <= {Code.REVISION_CONFLICT, Code.LOCK_TIMEOUT}
    each = PROCESSES * MUTATIONS // packs
    assert {pack_id: store.get(pack_id).revision for pack_id in ids} == dict.fromkeys(ids, 1 + each)
    assert [path.name for path in (tmp_path / "packs").iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.slow
@pytest.mark.clause("ST-12", "ST-19")
def test_writers_killed_at_any_moment_leave_whole_packs_and_free_locks(
    store: FilePackStore, tmp_path: Path, start: Start
) -> None:
    ids = fill(store, 6)
    assert answer(start("killed", tmp_path, WRITERS, 1, *ids)) == WRITERS
    packs = {pack.id: pack for pack in store.all()}
    assert set(ids) <= set(packs)
    for pack_id in ids:
        pack = packs[pack_id]
        if pack.revision > 1:
            (section,) = pack.sections
            assert pack.title == f"revision {pack.revision}"
            assert set((section.description or "").split("\n")) == {f"revision {pack.revision}"}
    assert sum(packs[pack_id].revision for pack_id in ids) > len(ids), "some writes came through"
    # A lock that a dead writer still held would be waited for in vain.
    for pack_id in packs:
        store.update(pack_id, lambda pack: attrs.evolve(pack, revision=pack.revision + 1))
    store.create(maker(SystemClock().now(), name="after all"), "after all")


@pytest.mark.clause("ST-19")
def test_a_lock_is_held_until_its_process_dies_and_not_longer(
    store: FilePackStore, tmp_path: Path, start: Start
) -> None:
    (pack_id,) = fill(store, 1)
    hasty = FilePackStore(tmp_path, SystemClock(), os.urandom, lock_timeout=0.1)
    holder = start("hold", tmp_path, f"{pack_id}.lock")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Failure) as told:
        hasty.update(pack_id, lambda pack: attrs.evolve(pack, revision=2))
    assert told.value.code is Code.LOCK_TIMEOUT
    assert hasty.get(pack_id).revision == 1
    holder.kill()
    holder.wait()
    assert hasty.update(pack_id, lambda pack: attrs.evolve(pack, revision=2)).revision == 2
