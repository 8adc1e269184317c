"""`grep_codebase` over 700 files and over 30,000, beside `rg --json` where it is installed.

python benches/side_by_side/code.py [--quick]
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from wire import COMMON, NEEDLE, OURS, QUICK, Bounds, Server, measured, plant, took, tool_call

SMALL, LARGE = 700, 700 if QUICK else 30_000
PATTERNS = {
    "rare word": NEEDLE,
    "common word": COMMON,
    "common regex": r"def \w+_value\(",
    "choice": "TODO|FIXME",
    "repeated groups": r"(\w+)\.(\w+)\(\1",
    "blanks": r"\s+$",
}
TRAP = "(a|aa)+!$"


def repeated(tree: Path, bounds: Bounds) -> None:
    """Every pattern again and again in one server; a pattern that explodes ends in time."""
    rounds, rg = 3 if QUICK else 9, shutil.which("rg")
    plant(tree, SMALL)
    (tree / "trap.txt").write_text(("a" * 90 + "?!\n") * 20)
    time.sleep(2.1)  # what has just changed is read again at every search
    server = Server(OURS, tree)
    server.result("grep_codebase", pattern="first search")
    for title, pattern in PATTERNS.items():
        server.result("grep_codebase", pattern=pattern)
        before = server.processor_ms()
        for _ in range(rounds):
            server.result("grep_codebase", pattern=pattern)
        used = (server.processor_ms() - before) / rounds
        bounds.show(f"{title}, again, processor", used, "ms", most=120)
        if rg is not None:
            bare = [rg, "--json", "--ignore-case", f"--regexp={pattern}", "."]
            times = [took(lambda: subprocess.run(bare, cwd=tree, capture_output=True)) for _ in range(rounds)]  # noqa: B023
            bounds.show("  rg --json", statistics.median(times), "ms")
    seconds, ping = server.longest_ping_while(tool_call("grep_codebase", pattern=TRAP))
    bounds.show("a pattern that explodes", seconds, "s", most=10)
    bounds.show("  longest ping meanwhile", ping * 1000, "ms")
    server.close()


def first(tree: Path, bounds: Bounds) -> None:
    """The first search of a server in a large tree, whatever the pattern."""
    plant(tree, LARGE)
    for title in ("rare word", "common word", "choice", "blanks"):
        server = Server(OURS, tree)
        began = time.perf_counter()
        server.result("grep_codebase", pattern=PATTERNS[title])
        bounds.show(f"{title}, first search", time.perf_counter() - began, "s", most=10)
        server.close()


if __name__ == "__main__":
    sys.exit(measured(repeated, first))
