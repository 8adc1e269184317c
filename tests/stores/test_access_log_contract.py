"""What every `AccessLog` does: one suite, run on the file and on its twin in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from inmemory import FixedClock, MemoryAccessLog

from context_pack.code.access import AccessLog
from context_pack.kernel.paths import RelativePath
from context_pack_adapters.files.folder import PrivateFolder
from context_pack_adapters.memory.access import AccessFiles

A, B = RelativePath("src/a.py"), RelativePath("src/größe b.py")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(params=["disk", "disk, written at once", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> AccessLog:
    """An empty log of each kind."""
    if request.param == "memory":
        return MemoryAccessLog(clock)
    files = AccessFiles(PrivateFolder(tmp_path), clock)
    return files if request.param == "disk" else Hasty(files)


class Hasty:
    """A log on disk that is written after every read."""

    def __init__(self, files: AccessFiles) -> None:
        self._files = files
        self.items = files.items

    def record(self, path: RelativePath, at: object) -> None:
        self._files.record(path, at)  # type: ignore[arg-type]
        self._files.flush()


@pytest.mark.clause("CD-43")
def test_a_log_begins_empty(log: AccessLog) -> None:
    assert list(log.items()) == []


@pytest.mark.clause("CD-43", "CD-41")
def test_reads_are_counted_and_the_last_one_is_kept(log: AccessLog, clock: FixedClock) -> None:
    start = clock.now()
    log.record(A, start)
    clock.advance(minutes=1)
    log.record(B, clock.now())
    log.record(A, clock.now())
    log.record(A, start)
    found = list(log.items())
    assert [(each.path, each.count, each.last_access) for each in found] == [
        (A, 3, clock.now()),
        (B, 1, clock.now()),
    ]
    assert [each.score for each in found] == [pytest.approx(0.612), pytest.approx(0.604)]


@pytest.mark.clause("CD-41")
def test_scores_are_computed_for_the_current_time(log: AccessLog, clock: FixedClock) -> None:
    log.record(A, clock.now())
    clock.advance(days=15)
    assert log.items()[0].score == pytest.approx(0.304)
    clock.advance(days=100)
    assert log.items()[0].score == pytest.approx(0.004)


@pytest.mark.clause("CD-41")
def test_items_past_the_budget_are_archived_and_keep_their_count(log: AccessLog, clock: FixedClock) -> None:
    if isinstance(log, Hasty):
        return  # a write per read, 501 times: what it would prove is proved by the other two
    log.record(A, clock.now() - timedelta(days=60))
    for number in range(500):
        log.record(RelativePath(f"f{number}"), clock.now())
    old = next(each for each in log.items() if each.path == A)
    assert old.archived
    assert sum(each.archived for each in log.items()) == 1
    log.record(A, clock.now())
    back = next(each for each in log.items() if each.path == A)
    assert (back.count, back.archived) == (2, False)
    assert len(log.items()) == 501


@pytest.mark.clause("CD-43")
def test_threads_lose_no_read(log: AccessLog, clock: FixedClock) -> None:
    rounds = 5 if isinstance(log, Hasty) else 200

    def work(record: Callable[[RelativePath, object], None]) -> None:
        for _ in range(rounds):
            record(A, clock.now())

    threads = [threading.Thread(target=work, args=(log.record,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if isinstance(log, Hasty):
        log._files.flush()
    assert log.items()[0].count == 4 * rounds
