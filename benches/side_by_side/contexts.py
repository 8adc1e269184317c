"""`list_contexts` over 1,000 folders, the first time and the next.

python benches/side_by_side/contexts.py [--quick]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from wire import ENV, OURS, QUICK, Bounds, Server, measured, took

FOLDERS = 100 if QUICK else 1_000


def contexts(folder: Path, bounds: Bounds) -> None:
    """A project in which every folder has a context; the first list of a server, and the next."""
    text = (
        '"""Handles the ledger of a window."""\n\n\ndef ledger(count: int) -> int:\n    return count\n'
        + "# x\n" * 900
    )
    for number in range(FOLDERS):
        place = folder / f"area{number % 30}" / f"part{number}"
        place.mkdir(parents=True)
        for name in ("a.py", "b.py", "c.py", "d.py", "e.py"):
            (place / name).write_text(text)
    made = [*OURS, "contexts", "refresh"]
    subprocess.run(made, cwd=folder, env=ENV, check=True, capture_output=True)
    server = Server(OURS, folder)
    server.result("output")  # the tools are loaded
    first = took(lambda: server.result("list_contexts"))
    again = took(lambda: server.result("list_contexts"))
    bounds.show(f"first list of {FOLDERS} folders", first / 1000, "s", most=1)
    bounds.show("the next list", again / 1000, "s")
    server.close()


if __name__ == "__main__":
    sys.exit(measured(contexts))
