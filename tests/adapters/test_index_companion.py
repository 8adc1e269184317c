"""The second process of a great deal of indexing: the same products, whatever becomes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from index_entries import ToyEmbedder, make_entry
from waiting import is_alive, until

from context_pack.retrieval.model import Scope
from context_pack_adapters.embed.hashed import HashedEmbedder
from context_pack_adapters.index.companion import Companion
from context_pack_adapters.index.preparing import Task, carry_out
from context_pack_adapters.index.sqlite_index import SqliteIndex

TASKS = [Task("scope", f"Name {n}", f"text number {n} ünï", "Title > part", n % 3 > 0) for n in range(150)]
PARENT = """
import sys
sys.path[:] = {path!r}
from context_pack_adapters.embed.hashed import HashedEmbedder
from context_pack_adapters.index.companion import Companion
from context_pack_adapters.index.preparing import Task
companion = Companion(HashedEmbedder(), started_after=0)
companion.carry_out([Task("s", "n", f"text {{n}}", "c", True) for n in range(100)])
print(companion.process, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def companion() -> Iterator[Companion]:
    """A companion that is asked for at once."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one core only")
    with closing(Companion(HashedEmbedder(), started_after=0)) as made:
        yield made


@pytest.mark.clause("IX-19")
def test_two_processes_compute_what_one_does(companion: Companion) -> None:
    alone = carry_out(TASKS, HashedEmbedder())
    assert companion.carry_out(TASKS) == alone
    process = companion.process
    assert process is not None
    assert companion.carry_out(TASKS) == alone
    assert companion.process == process, "it is kept"
    companion.close()
    until(lambda: not is_alive(process))


@pytest.mark.clause("IX-19")
def test_a_companion_that_was_killed_is_done_without(companion: Companion) -> None:
    companion.carry_out(TASKS)
    process = companion.process
    assert process is not None
    os.kill(process, signal.SIGKILL)
    assert companion.carry_out(TASKS) == carry_out(TASKS, HashedEmbedder())


@pytest.mark.clause("IX-19")
def test_small_changes_and_other_embedders_need_no_companion(tmp_path: Path) -> None:
    with closing(Companion(HashedEmbedder())) as careful, closing(Companion(ToyEmbedder(), 0)) as other:
        assert len(careful.carry_out(TASKS)) == len(other.carry_out(TASKS)) == len(TASKS)
        assert careful.process is None
        assert other.process is None


@pytest.mark.clause("IX-19")
def test_a_companion_is_gone_when_its_parent_was_killed(companion: Companion) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(path=sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        assert is_alive(process)
        parent.send_signal(signal.SIGKILL)
    until(lambda: not is_alive(process))


@pytest.mark.clause("IX-19")
def test_an_index_filled_by_two_processes_is_whole(tmp_path: Path) -> None:
    entries = [make_entry(f"e{n}", *(f"word{n} text {at}" for at in range(100))) for n in range(40)]
    with closing(SqliteIndex(tmp_path / "x.sqlite3", HashedEmbedder(), chunker="c")) as index:
        index.replace(entries)
        with index.reading() as snapshot:
            assert snapshot.entry("docs", "e39") == entries[39]
            (hit,) = snapshot.keyword(["word39"], Scope(), 1)
            assert snapshot.found([hit.piece])[0].key == "e39"
