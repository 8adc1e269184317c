"""Calls per second over stdio, beside the official SDK: `ping` and a cached `tools/call`.

  python benches/side_by_side/throughput.py [--quick]

Our tool call is `output` (the list of packs, of none and of three), checked, dispatched, answered from the
store's cache; the peer's tool returns a constant. Rounds alternate between the two, so that a noisy moment
hits both; processor time per call is told besides, for a busy machine makes every call wait.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from wire import OURS, PEER, Server, line

ROOT = Path(__file__).resolve().parents[2]
PEER_SHARE = 5
"""The peer gets this many times fewer calls, to take about as long."""
TURN = 200
"""How many single calls one server gets before it is the other's turn."""

Make = Callable[[int], bytes]


def ping(number: int) -> bytes:
    """A ping request."""
    return line({"jsonrpc": "2.0", "id": number, "method": "ping"})


def tool_call(name: str, number: int, **arguments: object) -> bytes:
    """A tools/call request."""
    params = {"name": name, "arguments": arguments}
    return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def ours_call(number: int) -> bytes:
    """The list of packs."""
    return tool_call("output", number)


def peers_call(number: int) -> bytes:
    """A constant."""
    return tool_call("echo", number)


def requests(make: Make, count: int) -> list[bytes]:
    """So many of them."""
    return [make(number) for number in range(1, count + 1)]


def pipelined(
    title: str, ours: Server, peer: Server, mine: Make, theirs: Make, count: int, rounds: int
) -> None:
    """Print both rates and their ratio."""
    many, few = requests(mine, count), requests(theirs, count // PEER_SHARE)
    fast: list[float] = []
    slow: list[float] = []
    for _ in range(rounds):
        fast.append(ours.pipelined(many))
        slow.append(peer.pipelined(few))
    a, b = statistics.median(fast), statistics.median(slow)
    rates = f"context-pack {a:9.0f}/s   official SDK {b:7.0f}/s"
    print(f"{title:24} {rates}   ratio {a / b:5.1f}   (must be at least 5)")


def one_by_one(title: str, ours: Server, peer: Server, mine: Make, theirs: Make, count: int) -> None:
    """Print the median time of a call with nothing else in flight, and the ratio; of processor time, too."""
    many, few = requests(mine, TURN), requests(theirs, TURN // PEER_SHARE)
    fast: list[float] = []
    slow: list[float] = []
    before = ours.processor_seconds(), peer.processor_seconds()
    for _ in range(count // TURN):
        fast += single_ms(ours, many)
        slow += single_ms(peer, few)
    a, b = statistics.median(fast), statistics.median(slow)
    rates = f"context-pack {a:9.3f} ms  official SDK {b:7.3f} ms"
    print(f"{title:24} {rates}   ratio {b / a:5.1f}   (must be at least 3)")
    a = (ours.processor_seconds() - before[0]) / len(fast) * 1000
    b = (peer.processor_seconds() - before[1]) / len(slow) * 1000
    rates = f"context-pack {a:9.3f} ms  official SDK {b:7.3f} ms"
    print(f"{'    processor time':24} {rates}   ratio {b / a:5.1f}")


def single_ms(server: Server, asked: list[bytes]) -> list[float]:
    """How long each call takes in milliseconds, one after the other."""
    times: list[float] = []
    for request in asked:
        start = time.perf_counter()
        server.ask(request)
        times.append((time.perf_counter() - start) * 1000)
    return times


def main() -> None:
    """Measure and print."""
    count, rounds = (2_000, 1) if "--quick" in sys.argv else (8_000, 7)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    env = {**os.environ, "PYTHONPATH": paths, "CONTEXT_PACK_LOG": "off"}
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as filled:
        ours, full = Server(OURS, Path(empty), env), Server(OURS, Path(filled), env)
        peer = Server(PEER, Path(empty), env)
        for number in range(3):
            full.ask(tool_call("input", number, action="create", ttl_minutes=60, title=f"Pack {number}"))
            full.stdout.readline()  # the reply, or the news of the list
        ours.ask(ours_call(0))
        peer.ask(peers_call(0))
        print("pipelined")
        pipelined("  ping", ours, peer, ping, ping, count, rounds)
        pipelined("  tools/call, no packs", ours, peer, ours_call, peers_call, count, rounds)
        pipelined("  tools/call, three packs", full, peer, ours_call, peers_call, count, rounds)
        print("one in flight, median")
        one_by_one("  ping", ours, peer, ping, ping, count // 2)
        one_by_one("  tools/call, no packs", ours, peer, ours_call, peers_call, count // 2)
        one_by_one("  tools/call, three packs", full, peer, ours_call, peers_call, count // 2)
        for server in (ours, full, peer):
            server.close()


if __name__ == "__main__":
    main()
