"""Locks between threads and processes, and lock files that go away."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from waiting import PATIENCE

from context_pack_adapters.files.locking import PathLock, attempt_lock


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a.lock")


@pytest.mark.clause("ST-16")
def test_a_held_lock_excludes_threads_and_the_holder_itself(path: str) -> None:
    with PathLock(path, 1.0):
        assert attempt_lock(path) is None
        others: list[PathLock | None] = []
        thread = threading.Thread(target=lambda: others.append(attempt_lock(path)))
        thread.start()
        thread.join()
        assert others == [None]
    free = attempt_lock(path)
    assert free is not None
    free.release()


@pytest.mark.clause("ST-19")
def test_a_retired_lock_file_never_splits_waiters(path: str) -> None:
    """Many take, retire and give back one lock: two are never inside at once."""
    inside = 0
    most = 0
    rounds = 0
    guard = threading.Lock()

    def work() -> None:
        nonlocal inside, most, rounds
        for turn in range(25):
            with PathLock(path, PATIENCE) as lock:
                with guard:
                    inside += 1
                    most = max(most, inside)
                    rounds += 1
                time.sleep(0)
                with guard:
                    inside -= 1
                # The last thing a holder does: from here on, a new file of that name is another lock.
                if turn % 2:
                    lock.retire()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, rounds) == (1, 200)


@pytest.mark.clause("ST-14")
def test_a_lock_that_cannot_be_opened_fails_waiters_but_not_attempts(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nothing" / "a.lock")
    assert attempt_lock(nowhere) is None
    with pytest.raises(FileNotFoundError):
        PathLock(nowhere, 1.0).acquire()
    (tmp_path / "link.lock").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic"):
        PathLock(str(tmp_path / "link.lock"), 1.0).acquire()
    assert not (tmp_path / "target").exists()


@pytest.mark.clause("ST-19")
def test_a_forked_child_does_not_keep_a_released_lock(path: str) -> None:
    code = (
        "import os, sys, time\n"
        "from context_pack_adapters.files.locking import PathLock, attempt_lock\n"
        f"lock = PathLock({path!r}, 1.0); lock.acquire()\n"
        "child = os.fork()\n"
        "if not child: time.sleep(60); os._exit(0)\n"
        "lock.release()\n"
        f"free = attempt_lock({path!r}) is not None\n"
        "os.kill(child, 9); os.waitpid(child, 0)\n"
        "sys.exit(0 if free else 1)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
