"""The real clock, and this interpreter in other processes."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path


class SystemClock:
    """The system clock."""

    def now(self) -> datetime:
        """The current instant, in UTC."""
        return datetime.now(UTC)

    monotonic = staticmethod(time.monotonic)
    """Seconds on a clock that never goes back."""


def python_command(program: str, *arguments: str) -> list[str]:
    """How to run a program of ours with this interpreter."""
    # -P: the working directory is the user's project, whose modules must not pass for ours.
    return [sys.executable, "-P", "-c", program, *arguments]


def python_environment() -> dict[str, str]:
    """The environment of such a program: ours, with our own packages importable."""
    ours = [import_module(name).__path__[0] for name in ("context_pack", "context_pack_adapters")]
    places = [*(str(Path(place).parent) for place in ours), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, dict.fromkeys(places)))}
