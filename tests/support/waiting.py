"""Waiting for what must come, and whether a process is still there: for tests of processes and workers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0
"""How long a test waits for something that must come; never how long it takes."""


def until(holds: Callable[[], T], seconds: float = PATIENCE) -> T:
    """What was waited for, as soon as it is something; a test that waits in vain fails."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; a dead child that nobody waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
