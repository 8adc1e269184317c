"""Quick reads pass slow searches: they have threads of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
CATASTROPHIC = r"(?=(a+)+$)a+[cd]"


@pytest.mark.clause("TR-53")
def test_a_file_is_read_while_more_searches_run_than_there_are_threads(spawn: Spawn, tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text(("a" * 400 + "b\n") * 200)
    (tmp_path / "small.txt").write_text("quick\n")
    client = spawn()
    client.initialize()
    client.payload("read_file", {"path": "small.txt"})  # the tools are loaded, and wait for nobody
    client.payload("grep_codebase", {"pattern": "quick"})
    for number in range(12):
        call = {"name": "grep_codebase", "arguments": {"pattern": CATASTROPHIC + "x" * number}}
        client.send({"jsonrpc": "2.0", "id": f"slow{number}", "method": "tools/call", "params": call})
    assert client.payload("read_file", {"path": "small.txt"})["file"]["content"] == "quick\n"
    assert len(client.notifications) < 12  # the read did not wait for every search
