"""Searches over an index: a question over 10,000 pieces, and an edit that the next question sees.

python benches/side_by_side/searches.py [--quick]
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from wire import ENV, OURS, QUICK, Bounds, Server, measured, plant, took

PIECES = 1_000 if QUICK else 10_000
QUESTIONS = 10 if QUICK else 60
SIGHT = "def zebra_crossing_policy():\n    return 'of the sighted kind'\n"


def questions(folder: Path, bounds: Bounds) -> None:
    """Documents of about 10,000 pieces, asked again and again."""
    chance = random.Random(3)
    words = [f"{first}{last}" for first in ["ledger", "route", "parse", "window"] for last in range(2_000)]
    docs = folder / "docs"
    docs.mkdir()
    for number in range(PIECES // 10):
        parts = [f"# {' '.join(chance.choices(words, k=4))}"]
        parts += [f"## {chance.choice(words)}\n\n{' '.join(chance.choices(words, k=180))}" for _ in range(10)]
        (docs / f"doc{number}.md").write_text("\n\n".join(parts) + "\n")
    (folder / "context.json").write_text(json.dumps({"collections": {"docs": {"url": "./docs"}}}))
    env = {**ENV, "CONTEXT_PACK_CACHE": str(folder / "private")}
    subprocess.run([*OURS, "docs", "sync"], cwd=folder, env=env, check=True, capture_output=True)
    server = Server(OURS, folder)
    while json.loads(server.result("documents_search", query=words[0])["content"][0]["text"]).get("stale"):
        time.sleep(0.2)
    asked = [" ".join(chance.choices(words, k=4)) for _ in range(QUESTIONS)]
    times = [took(lambda: server.result("documents_search", query=each)) for each in asked]  # noqa: B023
    bounds.show(f"a question over {PIECES} pieces, warm", statistics.median(times), "ms", most=60)
    server.close()


def edited(folder: Path, bounds: Bounds) -> None:
    """`context_search` over code: nothing changed, and a changed file."""
    plant(folder, 200 if QUICK else 2_000)
    server = Server(OURS, folder)
    while "indexing" in server.result("context_search", query="ledger")["structuredContent"]:
        time.sleep(0.2)
    again = [took(lambda: server.result("context_search", query="ledger period")) for _ in range(7)]
    bounds.show("context_search, nothing changed", statistics.median(again), "ms")
    next(folder.rglob("*.py")).write_text(SIGHT)
    after = server.result("context_search", query="zebra crossing policy")["structuredContent"]["results"]
    seen = bool(after) and after[0].get("symbol") == "zebra_crossing_policy"
    bounds.show("a changed file is in the next answer (1: yes)", float(seen), "", least=1)
    server.close()


if __name__ == "__main__":
    sys.exit(measured(questions, edited))
