"""Spawn to the answers of `initialize` and `tools/list`: this server with all its tools, a one-tool server on
the official SDK, and a bare interpreter.

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

from wire import OURS, PEER, Server, line

ROOT = Path(__file__).resolve().parents[2]
LIST = line({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})


def main() -> None:
    """Measure and print."""
    rounds = 3 if "--quick" in sys.argv else 15
    paths = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    env = {**os.environ, "PYTHONPATH": paths, "CONTEXT_PACK_LOG": "off"}
    ours: list[tuple[float, float]] = []
    peer: list[tuple[float, float]] = []
    bare: list[float] = []
    memory = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            for command, times in ((OURS, ours), (PEER, peer)):
                server = Server(command, Path(folder), env)
                if command is OURS:
                    memory = max(memory, server.resident_mb())
                asked = time.perf_counter()
                if b'"tools"' not in server.ask(LIST):
                    raise SystemExit("the tools were not listed")
                times.append((server.started, server.started + time.perf_counter() - asked))
                server.close()
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], check=True, env=env)
            bare.append(time.perf_counter() - start)
    floor = statistics.median(bare[1:]) * 1000
    print(f"median of {rounds}; bare interpreter {floor:.1f} ms; resident {memory:.1f} MB")
    for number, name in enumerate(("initialize", "tools/list")):
        mine, theirs = (statistics.median([at[number] for at in each[1:]]) * 1000 for each in (ours, peer))
        print(f"start to {name} answer")
        print(f"  context-pack          {mine:8.1f} ms")
        print(f"  official SDK, one tool{theirs:8.1f} ms")
        print(f"  ratio SDK / ours      {theirs / mine:8.1f}   (must be at least 6 for initialize)")
        print(f"  ratio ours / bare     {mine / floor:8.1f}")


if __name__ == "__main__":
    main()
