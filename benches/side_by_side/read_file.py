"""`read_file` over stdio on a warm server, beside a bare loop that opens, reads and replies in the same run.

  python benches/side_by_side/read_file.py [--quick]

A file of 50 KiB, alone and with its imports (Python and TypeScript), one call in flight. The rounds of both
servers alternate, so that a busy machine slows both; beside it stands what a call costs the processor.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from wire import OURS, Server, line

ROOT = Path(__file__).resolve().parents[2]
BARE = [sys.executable, str(Path(__file__).resolve().parent / "peers" / "bare_reader.py")]
KIBIBYTE = 1024
CASES = (
    ("50 KiB of text", {"path": "notes.txt"}, 1.0),
    ("50 KiB of Python", {"path": "shop/app.py"}, 1.0),
    ("50 KiB of Python, with imports", {"path": "shop/app.py", "includeDeps": True}, 5.0),
    ("50 KiB of TypeScript, with imports", {"path": "web/app.tsx", "includeDeps": True}, 5.0),
)


def grow(root: Path) -> None:
    """A small project whose two large files import twelve others each."""
    names = [f"part_{number}" for number in range(12)]
    python = [
        "import os, json, typing, collections",
        "import numpy as np",
        "from shop import " + ", ".join(names),
    ]
    script = ['import React from "react";', *(f'import {{ x }} from "./{name}";' for name in names)]
    body = "def f(x):\n    return [y for y in x if y]  # größe\n"
    jsx = 'export const A = () => <p className="a">It\'s {x ? `y ${z}` : /[a-z]/.test("w")}</p>;\n'
    for folder in ("shop", "web"):
        (root / folder).mkdir()
    for name in names:
        (root / "shop" / f"{name}.py").write_text(body * 60, "utf-8")
        (root / "web" / f"{name}.ts").write_text("export const x = 1;\n" * 150, "utf-8")
    (root / "shop" / "__init__.py").write_text("")
    (root / "shop" / "app.py").write_text(_filled(python, body), "utf-8")
    (root / "web" / "app.tsx").write_text(_filled(script, jsx), "utf-8")
    (root / "notes.txt").write_text(_filled([], 'It says "this" and that, a line like another.\n'), "utf-8")


def _filled(head: list[str], body: str) -> str:
    text = "\n".join(head) + "\n"
    return text + body * ((50 * KIBIBYTE - len(text.encode())) // len(body.encode()))


def processor_seconds(server: Server) -> float:
    """What the server has cost so far, however long it had to wait for a processor."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(server: Server, request: bytes, count: int) -> list[float]:
    """Milliseconds of each of `count` calls, one after the other."""
    spent: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        reply = server.ask(request)
        spent.append((time.perf_counter() - start) * 1000)
        if b'"isError":false' not in reply.replace(b'": ', b'":') or not reply:
            raise SystemExit(f"a call failed: {reply[:200]!r}")
    return spent


def main() -> None:
    """Measure and print."""
    count, rounds = (20, 2) if "--quick" in sys.argv else (100, 10)
    settings = {"CONTEXT_PACK_LOG": "off", "CONTEXT_PACK_RATE_LIMITS": "off"}
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")]), **settings}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        grow(root)
        ours, bare = Server(OURS, root, env), Server(BARE, root, env)
        for title, arguments, most in CASES:
            params = {"name": "read_file", "arguments": arguments}
            request = line({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            timed(ours, request, 3), timed(bare, request, 3)
            mine: list[float] = []
            floor: list[float] = []
            before = processor_seconds(ours)
            for _ in range(rounds):
                mine += timed(ours, request, count)
                floor += timed(bare, request, count)
            a, b, tail = (
                statistics.median(mine),
                statistics.median(floor),
                sorted(mine)[len(mine) * 99 // 100],
            )
            shown = f"{title:36} p50 {a:6.3f} ms   p99 {tail:6.3f} ms   bare open+read+reply {b:6.3f} ms"
            cost = (processor_seconds(ours) - before) / len(mine) * 1000
            costs = f"processor {cost:5.2f} ms a call   ratio {a / b:5.2f}"
            print(f"{shown}   {costs}   (p50 must be under {most:g} ms)")
        ours.close()
        bare.close()


if __name__ == "__main__":
    main()
