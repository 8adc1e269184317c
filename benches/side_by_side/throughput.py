"""Pipelined calls per second over stdio: `ping` and a cached `tools/call`, beside the official SDK.

  python benches/side_by_side/throughput.py [--quick]

Our tool call is `output` (the list of packs), checked, dispatched, answered from the store's cache; the peer's tool
returns a constant.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from wire import OURS, PEER, Server, line

ROOT = Path(__file__).resolve().parents[2]


def ping(number: int) -> bytes:
    """A ping request."""
    return line({"jsonrpc": "2.0", "id": number, "method": "ping"})


def tool_call(name: str, number: int) -> bytes:
    """A tools/call request."""
    return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": {}}})


def main() -> None:
    """Measure and print."""
    count, rounds = (2_000, 1) if "--quick" in sys.argv else (20_000, 5)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")]), "CONTEXT_PACK_LOG": "off"}
    with tempfile.TemporaryDirectory() as folder:
        ours, peer = Server(OURS, Path(folder), env), Server(PEER, Path(folder), env)
        ours.ask(tool_call("output", 1))
        peer.ask(tool_call("echo", 1))
        for title, mine, theirs in (
            ("ping", [ping(n) for n in range(1, count + 1)], [ping(n) for n in range(1, count // 5 + 1)]),
            (
                "tools/call",
                [tool_call("output", n) for n in range(1, count + 1)],
                [tool_call("echo", n) for n in range(1, count // 5 + 1)],
            ),
        ):
            fast: list[float] = []
            slow: list[float] = []
            for _ in range(rounds):
                fast.append(ours.pipelined(mine))
                slow.append(peer.pipelined(theirs))
            a, b = statistics.median(fast), statistics.median(slow)
            print(f"{title:12} context-pack {a:9.0f}/s   official SDK {b:7.0f}/s   ratio {a / b:5.1f}   (must be at least 10)")
        ours.close()
        peer.close()


if __name__ == "__main__":
    main()
