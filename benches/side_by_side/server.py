"""The server beside one on the official SDK: start, first calls, rates, memory; and what a command costs.

python benches/side_by_side/server.py [--quick]
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wire import ENV, OURS, PEER, QUICK, Bounds, Server, measured, request, tool_call

ROUNDS = 3 if QUICK else 11
PEER_SHARE = 5
"""The peer gets this many times fewer calls, to take about as long."""
FIRST = {
    "output": {},
    "read_file": {"path": "a.py"},
    "grep_codebase": {"pattern": "def"},
    "context_record": {"type": "rule", "content": "Never log any tokens"},
    "context_search": {"query": "where is a question cut into words"},
    "documents_list_collections": {},
    "list_contexts": {},
}
"""A call of each family that has something to do in any project."""


def start(folder: Path, bounds: Bounds) -> None:
    """Spawn to the answer of `initialize`, both in turns."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for ours in (True, False):
            server = Server(OURS if ours else PEER, folder)
            times[ours].append(server.started * 1000)
            server.close()
    mine, theirs = (statistics.median(times[ours]) for ours in (True, False))
    print(f"start to the answer of initialize: {mine:.0f} ms, official SDK {theirs:.0f} ms")
    bounds.show("SDK's time as a multiple of ours", theirs / mine, "times", least=6)


def first_calls(folder: Path, bounds: Bounds) -> None:
    """After `tools/list` and a second of silence: a first call beside a second, and the memory of all."""
    (folder / "a.py").write_text("def f():\n    pass\n")
    over: dict[str, list[float]] = {tool: [] for tool in FIRST}
    for _ in range(1 if QUICK else 5):
        for tool, arguments in FIRST.items():
            server = Server(OURS, folder)
            server.ask(request("tools/list"))
            time.sleep(1.0)
            used = []
            for _ in range(2):
                before = server.processor_ms()
                server.result(tool, **arguments)
                used.append(server.processor_ms() - before)
            over[tool].append(used[0] - used[1])
            server.close()
    for tool, times in over.items():
        bounds.show(f"first {tool} over the second, processor", statistics.median(times), "ms", most=60)
    server = Server(OURS, folder)
    for tool, arguments in FIRST.items():
        server.result(tool, **arguments)
    bounds.show("memory after a call of each family", server.resident_mb(), "MB", most=120)
    server.close()


def rates(folder: Path, bounds: Bounds) -> None:
    """Calls a second beside a tool that returns a constant, over no packs and over three."""
    count = 1_000 if QUICK else 4_000
    peer = Server(PEER, folder)
    few = [tool_call("echo", number) for number in range(1, count // PEER_SHARE)]
    for packs in (0, 3):
        with tempfile.TemporaryDirectory() as other:
            ours = Server(OURS, Path(other))
            for number in range(packs):
                ours.result("input", action="create", ttl_minutes=60, title=f"Pack {number}")
            many = [tool_call("output", number) for number in range(1, count)]
            ours.ask(many[0])
            both = [(ours.pipelined(many), peer.pipelined(few)) for _ in range(ROUNDS)]
            ratio = statistics.median(mine / theirs for mine, theirs in both)
            bounds.show(f"pipelined output, {packs} packs, beside SDK", ratio, "times", least=5)
            ratios = []
            for _ in range(ROUNDS):
                single = [_single_ms(ours, many[:200]), _single_ms(peer, few[:200])]
                ratios.append(single[1] / single[0])
            ratio = statistics.median(ratios)
            bounds.show(f"one output at a time, {packs} packs, beside SDK", ratio, "times", least=3)
            ours.close()
    peer.close()


def _single_ms(server: Server, asked: list[bytes]) -> float:
    """The median time of a call with nothing else in flight, in milliseconds."""
    times = []
    for each in asked:
        begun = time.perf_counter()
        server.ask(each)
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


def commands(folder: Path, bounds: Bounds) -> None:
    """The processor time of commands, from the start of the interpreter to its end."""
    for words, most in ((["packs", "list"], 250), (["--help"], 200)):
        times = []
        for _ in range(ROUNDS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([*OURS, *words], cwd=folder, env=ENV, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        bounds.show(f"context-pack {' '.join(words)}", statistics.median(times) * 1000, "ms", most=most)


if __name__ == "__main__":
    sys.exit(measured(start, first_calls, rates, commands))
