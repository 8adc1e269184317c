"""What a change costs: the same calls to this checkout and to an older copy of it, in one run.

  python benches/side_by_side/before_after.py --base FOLDER [--rounds N]

Both serve copies of one generated project (2 000 folders, 10 000 files, every folder with a context), one
call in flight, in alternating rounds, so that a busy machine slows both. Printed are the median times of a
call and their ratio, and the ratio of the processor time that the calls took, which others disturb less; over
1.00 means slower than the base.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from wire import OURS, Server, line

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from benches import context_tree  # noqa: E402

STORE = ".agents/mcp/context_pack"
CASES: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("list_contexts", {}, 3),
    ("grep_codebase", {"pattern": "Handles the ledger"}, 10),
    ("documents_search", {"query": "the route of a window"}, 10),
    ("read_file", {"path": "{file}"}, 100),
    ("read_file", {"path": "{file}", "includeDeps": True}, 100),
)


def call(tool: str, arguments: dict[str, Any]) -> bytes:
    """One request."""
    return line(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    )


def timed(server: Server, request: bytes, count: int) -> list[float]:
    """Milliseconds of each of `count` calls."""
    spent: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        reply = server.ask(request)
        spent.append((time.perf_counter() - start) * 1000)
        if b'"isError":false' not in reply.replace(b'": ', b'":'):
            raise SystemExit(f"a call failed: {reply[:300]!r}")
    return spent


def warmed(server: Server, request: bytes) -> None:
    """Call until it succeeds: on a busy machine a first search may take longer than it has."""
    while b'"isError":true' in server.ask(request).replace(b'": ', b'":'):
        pass
    timed(server, request, 2)


def processor_ns(server: Server) -> int:
    """What the server has cost so far, in nanoseconds of its threads and of children that have ended.

    The children are ripgrep's: one checkout may start it where the other searches by itself.
    """
    place = Path(f"/proc/{server.process.pid}")
    threads = sum(int((task / "schedstat").read_text().split()[0]) for task in (place / "task").iterdir())
    ticks = map(int, (place / "stat").read_text().rpartition(")")[2].split()[13:15])
    return threads + sum(ticks) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def started(tree: Path, project: Path, home: Path) -> Server:
    """A server of that checkout over a copy of the project, with a home of its own."""
    shutil.copytree(project, home / "project")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tree), str(tree / "adapters")]),
        "CONTEXT_PACK_LOG": "off",
        "CONTEXT_PACK_RATE_LIMITS": "off",
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }
    server = Server(OURS, home / "project", env)
    server.ask(call("documents_sync", {}))
    return server


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, help="the older copy")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="as CI calls it, without an older copy")
    options = parser.parse_args()
    if options.base is None:
        if not options.quick:
            parser.error("--base is required: the older copy to compare with")
        print("no older copy to compare with; give it with --base")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        project = Path(folder, "project")
        made = context_tree.plant(project)
        context_tree.make_contexts(project, Path(folder, "store"), "content")
        (project / "context.json").write_text('{"collections": {"all": {"url": "."}}}')
        deep = max(made, key=lambda one: len(one.relative_to(project).parts))
        file = next(deep.glob("*.py")).relative_to(project).as_posix()
        (Path(folder, "new")).mkdir()
        (Path(folder, "old")).mkdir()
        new = started(ROOT, project, Path(folder, "new"))
        old = started(options.base.resolve(), project, Path(folder, "old"))
        for tool, arguments, count in CASES:
            request = call(
                tool, {key: file if value == "{file}" else value for key, value in arguments.items()}
            )
            times: dict[Server, list[float]] = {new: [], old: []}
            costs = {new: 0, old: 0}
            for server in times:
                warmed(server, request)
            for turn in range(options.rounds):
                for server in (new, old) if turn % 2 else (old, new):
                    begun = processor_ns(server)
                    times[server] += timed(server, request, count)
                    costs[server] += processor_ns(server) - begun
            after, before = statistics.median(times[new]), statistics.median(times[old])
            title = f"{tool} {' '.join(key for key in arguments if key == 'includeDeps')}".strip()
            shown = f"{title:24} before {before:8.3f} ms   after {after:8.3f} ms"
            cost = costs[new] / costs[old]
            print(f"{shown}   ratio {after / before:5.3f}   of processor time {cost:5.3f}", flush=True)
        new.close()
        old.close()


if __name__ == "__main__":
    main()
