"""Spawn to `initialize` answer: this server, a one-tool server on the official SDK, a bare interpreter.

  python benches/side_by_side/startup.py [--quick]

Rounds alternate between the three, so that a noisy moment hits all of them; medians and their ratios are
printed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wire import OURS, PEER, Server

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Measure and print."""
    rounds = 3 if "--quick" in sys.argv else 15
    paths = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    env = {**os.environ, "PYTHONPATH": paths, "CONTEXT_PACK_LOG": "off"}
    ours: list[float] = []
    peer: list[float] = []
    bare: list[float] = []
    memory = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            for command, times in ((OURS, ours), (PEER, peer)):
                server = Server(command, Path(folder), env)
                times.append(server.started)
                if command is OURS:
                    memory = max(memory, server.resident_mb())
                server.close()
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], check=True, env=env)
            bare.append(time.perf_counter() - start)
    mine, theirs, floor = (statistics.median(times[1:]) * 1000 for times in (ours, peer, bare))
    print(f"start to initialize answer, median of {rounds}")
    print(f"  context-pack          {mine:8.1f} ms   resident {memory:.1f} MB")
    print(f"  official SDK, one tool{theirs:8.1f} ms")
    print(f"  bare interpreter      {floor:8.1f} ms")
    print(f"  ratio SDK / ours      {theirs / mine:8.1f}   (must be at least 4)")
    print(f"  ratio ours / bare     {mine / floor:8.1f}")


if __name__ == "__main__":
    main()
