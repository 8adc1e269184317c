"""`grep_codebase` over stdio beside a bare `rg --json` of the same query, on a large tree, in one run.

  python benches/side_by_side/grep.py [--quick] [--tree PATH]

Bounds: over 700 files a repeated search takes at most 120 ms of the server's processor time; a catastrophic
pattern ends in time while `ping` is answered; the first search of 30,000 files is answered within 10 s.
Rounds alternate, so that a busy machine is busy for all; the best round of each counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from wire import OURS, Server, line

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from benches.source_tree import COMMON, NEEDLE, plant  # noqa: E402
from context_pack_adapters.search.ripgrep import find_binary  # noqa: E402

QUERIES: Mapping[str, str] = {
    "rare literal": NEEDLE,
    "common literal": COMMON,
    "two letters": "re",
    "common regex": r"def \w+_value\(",
    "words": r"\bclass\b",
    "choice": "TODO|FIXME",
    "class then text": r"[A-Z]\w+Error",
    "two runs": r"import .* from .*",
    "blanks": r"\s+$",
}
SMALL, LARGE = 700, 30_000
MOST_PROCESSOR_MS, MOST_SECONDS = 120, 10
FIRST = (NEEDLE, COMMON, "TODO|FIXME", r"\s+$")
"""Patterns of first searches; the last has nothing that could be looked for first."""
FLAGS = ("--json", "--ignore-case", "--hidden", "--no-require-git", "--no-config")
GLOBS = ("node_modules", ".git", "dist", "build", ".next", ".context")
TRAP = "(a|aa)+!$"


def call(number: int, pattern: str) -> bytes:
    """A request to search."""
    params = {"name": "grep_codebase", "arguments": {"pattern": pattern}}
    return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def start(tree: Path) -> Server:
    """A server that has not searched yet."""
    settings = {"CONTEXT_PACK_RATE_LIMITS": "off", "CONTEXT_PACK_LOG": "off"}
    path = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    return Server(OURS, tree, {**os.environ, **settings, "PYTHONPATH": path})


def found(server: Server, asked: bytes) -> None:
    """Search, and see that it was one."""
    reply = server.ask(asked)
    if b'\\"matches\\"' not in reply:
        raise SystemExit(f"a search failed: {reply[:300]!r}")


def bare(command: list[str], tree: Path) -> None:
    """`rg` alone, its output read to the end."""
    subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)


def best(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """The best time of each run in milliseconds, taken in turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for number, run in enumerate(runs):
            began = time.perf_counter()
            run()
            times[number].append(1000 * (time.perf_counter() - began))
    return [min(taken) for taken in times]


def stop_in_time(server: Server) -> bool:
    """Whether a catastrophic pattern ends in time, and pings are answered meanwhile."""
    began = time.perf_counter()
    server.stdin.write(call(3, TRAP))
    server.stdin.flush()
    waits = []
    for number in range(20):
        sent = time.perf_counter()
        reply = server.ask(line({"jsonrpc": "2.0", "id": 100 + number, "method": "ping"}))
        if b'"id":3' in reply:
            break
        waits.append(1000 * (time.perf_counter() - sent))
    else:
        server.stdout.readline()
    took = time.perf_counter() - began
    print(f"  catastrophe ended after {took:.2f} s; ping at most {max(waits, default=0):.1f} ms")
    return took < MOST_SECONDS


def first_searches(files: int) -> bool:
    """Whether the first search of a large tree is answered in time, whatever the pattern."""
    held = True
    with tempfile.TemporaryDirectory() as folder:
        print(f"first searches: {plant(Path(folder), files)} lines in {files} files")
        for pattern in FIRST:
            server = start(Path(folder))
            began = time.perf_counter()
            reply = server.ask(call(1, pattern))
            taken = time.perf_counter() - began
            server.close()
            whole = "in part" if b"the time was over" in reply else "whole"
            held = held and b'\\"totalMatches\\"' in reply and taken < MOST_SECONDS
            print(f"  {pattern:24} {whole} after {taken:.2f} s")
    return held


def compare(tree: Path, binary: str | None, rounds: int) -> bool:
    """Every query, side by side with `rg` where there is one."""
    server = start(tree)
    found(server, call(1, "first search"))
    held = True
    print(f"  {'query':16} {'rg --json':>10} {'ours':>10} {'processor':>10}")
    for title, pattern in QUERIES.items():
        words = [binary or "true", *FLAGS, *(f"--glob=!**/{name}/**" for name in GLOBS)]
        asked = call(4, pattern)
        used = server.processor_seconds()
        floor, ours = best(
            rounds, partial(bare, [*words, f"--regexp={pattern}", "."], tree), partial(found, server, asked)
        )
        used = 1000 * (server.processor_seconds() - used) / rounds
        held = held and used <= MOST_PROCESSOR_MS
        mark = "" if used <= MOST_PROCESSOR_MS else "  TOO SLOW"
        print(f"  {title:16} {floor:7.1f} ms {ours:7.1f} ms {used:7.1f} ms{mark}")
    held = stop_in_time(server) and held
    print(f"  memory: {server.resident_mb():.0f} MiB")
    server.close()
    return held


def main() -> int:
    """Measure and print; the exit code of a full run says whether every bound held."""
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(sys.argv[sys.argv.index("--tree") + 1] if "--tree" in sys.argv else folder).resolve()
        if "--tree" not in sys.argv:
            print(f"{plant(tree, SMALL)} lines in {SMALL} files")
            (tree / "trap.txt").write_text(("a" * 90 + "?!\n") * 20)
            time.sleep(2.1)  # what has just changed is read again at every search
        held = compare(tree, find_binary(), 3 if quick else 9)
        held = first_searches(SMALL if quick else LARGE) and held
        return 0 if held or quick else 1


if __name__ == "__main__":
    sys.exit(main())
