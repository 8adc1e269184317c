"""`context_search` over a large tree: what a look for changes costs, and what indexing costs whoever reads.

  python benches/side_by_side/memory.py [--quick]

A tree of 7 000 files. Judged: `read_file` takes at most twice as long while the first build runs as while it
stands still (the child is stopped and let go in turns, so that a busy machine slows both); a search before
which nothing had changed takes less than a second, and is compared with a bare walk and stat of those files;
an edited file is found by the next call. Then, what the stores of discoveries and of past sessions save by
keeping what they have parsed: every search looks at all of both.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests" / "support")]

from stdio_client import StdioClient  # noqa: E402

from benches.source_tree import FILES, plant  # noqa: E402
from context_pack.memory.domain.discovery import uuid_of  # noqa: E402
from context_pack_adapters.disk.private import PrivateFolder  # noqa: E402
from context_pack_adapters.stores.discovery_files import DiscoveryFiles  # noqa: E402
from context_pack_adapters.stores.session_files import SessionFiles  # noqa: E402
from context_pack_adapters.system import SystemClock  # noqa: E402
from context_pack_adapters.workspace import open_workspace  # noqa: E402

QUICK_FILES = 700
STORED = 300
ROUND = 20
MOST_RATIO = 2.0
MOST_SECONDS = 1.0
ENV = {"CONTEXT_PACK_EMBEDDER": "fast", "CONTEXT_PACK_RATE_LIMITS": "off", "CONTEXT_PACK_LOG": "off"}
SIGHT = "def zebra_crossing_policy():\n    return 'of the sighted kind'\n"


def timed(client: StdioClient, tool: str, arguments: dict[str, Any]) -> tuple[float, Any]:
    """Seconds that a call took, and its answer."""
    start = time.perf_counter()
    answer = client.payload(tool, arguments)
    return time.perf_counter() - start, answer


def read_median(client: StdioClient, paths: list[str]) -> float:
    """The median of reading these files, in milliseconds."""
    return statistics.median(timed(client, "read_file", {"path": path})[0] for path in paths) * 1000


def children(pid: int) -> list[int]:
    """The processes that a server has started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def beside_indexing(client: StdioClient, paths: list[str]) -> tuple[float, float]:
    """The median of reading files while the child stands still, and while it works, in milliseconds."""
    still, busy = [], []
    for start in range(0, len(paths), ROUND):
        some = paths[start : start + ROUND]
        workers = children(client.process.pid)
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
        still.append(read_median(client, some))
        for worker in workers:
            os.kill(worker, signal.SIGCONT)
        busy.append(read_median(client, some))
    return statistics.median(still), statistics.median(busy)


def bare_walk(root: Path) -> float:
    """Seconds for the least that a look for changes can be: list every folder, stat every file."""
    start = time.perf_counter()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".agents")]
        for name in names:
            os.stat(os.path.join(folder, name), follow_symlinks=False)
    return time.perf_counter() - start


def look_again(store: Callable[[], Callable[[], object]]) -> tuple[float, float]:
    """Milliseconds of processor time of a first look at a store, and of one at what it has looked at."""
    first: list[float] = []
    again: list[float] = []
    for _ in range(7):
        look = store()
        for times in (first, again):
            begun = time.process_time()
            look()
            times.append((time.process_time() - begun) * 1000)
    return statistics.median(first), statistics.median(again)


def stores(folder: Path) -> list[tuple[str, str, str]]:
    """What a look at many discoveries and sessions costs, and costs again."""
    memory = open_workspace(folder, storage=folder / "storage", cache=folder / "cache").memory
    state = PrivateFolder(folder / "state")
    for number in range(STORED):
        memory.record("rule", f"Rule number {number} is kept by all of the ledger", module="ledger")
        session = SessionFiles(state, SystemClock(), uuid_of(number.to_bytes(16)))
        session.called("read_file")
        session.end()
    rows = []
    for what, store in {
        "discoveries": lambda: DiscoveryFiles(folder / "storage").all,
        "sessions": lambda: SessionFiles(state, SystemClock(), uuid_of(b"x" * 16)).past,
    }.items():
        first, again = look_again(store)
        rows.append((f"a look at {STORED} {what}", f"{first:.1f} ms", f"{again:.1f} ms the next time"))
    return rows


def main() -> int:
    """Build, read meanwhile, search, edit, search."""
    quick = "--quick" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as private:
        root = Path(folder)
        plant(root, QUICK_FILES if quick else FILES)
        paths = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.py"))][:300]
        client = StdioClient(root, env={**ENV, "CONTEXT_PACK_CACHE": private})
        client.initialize()
        read_median(client, paths[:50])
        begun = time.perf_counter()
        _, first = timed(client, "context_search", {"query": "quarterlyReconciliation"})
        idle, busy = beside_indexing(client, paths)
        while "indexing" in first:
            time.sleep(1.0)
            _, first = timed(client, "context_search", {"query": "quarterlyReconciliation"})
        built = time.perf_counter() - begun
        searches = [timed(client, "context_search", {"query": "ledger period"})[0] for _ in range(7)]
        walks = [bare_walk(root) for _ in range(7)]
        (root / paths[0]).write_text(SIGHT)
        edited, found = timed(client, "context_search", {"query": "zebra crossing policy"})
        client.kill()
        kept = stores(Path(private))
    seen = bool(found["results"]) and found["results"][0].get("symbol") == "zebra_crossing_policy"
    refresh, walk, ratio = statistics.median(searches), statistics.median(walks), busy / idle
    rows = [
        ("first build, in the background", f"{built:.1f} s", ""),
        ("read_file, child stopped", f"{idle:.2f} ms", ""),
        ("read_file, child indexing", f"{busy:.2f} ms", f"{ratio:.2f} times that"),
        ("search, nothing changed", f"{refresh * 1000:.0f} ms", f"{refresh / walk:.1f} times a bare walk"),
        ("search after an edit", f"{edited * 1000:.0f} ms", f"edited file first: {seen}"),
        *kept,
    ]
    for what, spent, beside in rows:
        print(f"{what:<32}{spent:>12}  {beside}")
    good = seen and ratio <= MOST_RATIO and refresh < MOST_SECONDS
    return 0 if quick or good else 1


if __name__ == "__main__":
    sys.exit(main())
