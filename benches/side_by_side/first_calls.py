"""Processor time of the first call of a fresh server, for tools of each family.

  python benches/side_by_side/first_calls.py [--quick] [--project FOLDER]

Each call is made by a new server: over a project of one file of which nothing is indexed, and for
`context_search` over an indexed project as well (a copy of this one's core, or of the folder that is named).
The best and the median of the rounds are printed, without what start-up took: another process takes the
processor's caches away, so that the best says most. A call must take at most 150 ms.
"""

from __future__ import annotations

import argparse
import json
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
MOST = 150
CALLS: dict[str, dict[str, Any]] = {
    "output": {},
    "input": {"action": "list"},
    "read_file": {"path": "a.py"},
    "grep_codebase": {"pattern": "def"},
    "context_record": {"type": "rule", "content": "Never log any tokens"},
    "context_search": {"query": "where is the text of a question cut into words"},
}


def called(server: Server, tool: str) -> dict[str, Any]:
    """The answer to a call."""
    params = {"name": tool, "arguments": CALLS[tool]}
    reply = server.ask(line({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
    while (answer := json.loads(reply)).get("id") != 1:
        reply = server.stdout.readline()
    if "error" in answer or answer["result"].get("isError"):
        raise SystemExit(f"{tool} failed: {str(answer)[:300]}")
    found: dict[str, Any] = answer["result"]
    return found


def processor_ms(process: int) -> float:
    """The processor time of a process so far, of all its threads."""
    return time.clock_gettime((~process << 3) | 2) * 1000  # the clock of that process, as Linux numbers it


def measured(tool: str, project: Path, env: dict[str, str]) -> float:
    """The milliseconds of a fresh server's first call."""
    server = Server(OURS, project, env)
    server.ask(line({"jsonrpc": "2.0", "id": 2, "method": "ping"}))
    before = processor_ms(server.process.pid)
    called(server, tool)
    took = processor_ms(server.process.pid) - before
    server.close()
    return took


def indexed(project: Path, env: dict[str, str]) -> None:
    """Search until all of a project is indexed."""
    server = Server(OURS, project, env)
    while "indexing" in called(server, "context_search")["structuredContent"]:
        time.sleep(0.2)
    server.close()


def show(name: str, times: list[float]) -> None:
    """One line of the table."""
    print(f"  {name:<32}{min(times):8.0f}{statistics.median(times):8.0f}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two rounds over little code")
    parser.add_argument("--project", type=Path, help="the indexed project")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("the processor time of another process is measured on Linux alone")
        return
    source = options.project or ROOT / ("context_pack/retrieval" if options.quick else "context_pack")
    rounds = 2 if options.quick else 9
    paths = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    env = {**os.environ, "PYTHONPATH": paths, "CONTEXT_PACK_LOG": "off", "CONTEXT_PACK_EMBEDDER": "fast"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        print(f"first call, ms of processor time (must be at most {MOST}): best and median of {rounds}")
        for tool in CALLS:
            times = []
            for number in range(rounds + 1):  # the first compiles what it loads
                project = Path(folder, f"{tool}{number}")
                project.mkdir()
                (project / "a.py").write_text("def f():\n    pass\n", encoding="utf-8")
                times.append(measured(tool, project, env))
            show(tool, times[1:])
        project = Path(folder, "indexed")
        shutil.copytree(source, project, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        indexed(project, env)
        show(
            "context_search, indexed project",
            [measured("context_search", project, env) for _ in range(rounds)],
        )


if __name__ == "__main__":
    main()
