"""Waiting for what must come, and whether a process is still there: for tests of processes and workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 60.0


def until(holds: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for what must come; a test that waits in vain fails."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a dead child that nobody waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
