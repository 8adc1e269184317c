"""`read_file` over a real connection, in both transports: the whole answer, the log of reads, the limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from import_projects import plant
from private_folders import places_of

NO_LIMITS = {"CONTEXT_PACK_RATE_LIMITS": "off"}


def counts(root: Path) -> dict[str, int]:
    record = json.loads((places_of(root).state / "access" / "items.json").read_text("utf-8"))
    return {each["path"]: each["count"] for each in record["items"]}


@pytest.mark.clause("CD-43")
def test_reads_are_counted_over_connections_and_only_once_the_reply_has_gone(
    tmp_path: Path, spawn: Any, mode: Any
) -> None:
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("")
    for _ in range(2):
        client = spawn(mode)
        client.initialize()
        for _ in range(3):
            client.payload("read_file", {"path": "a.py", "includeDeps": True})
        client.payload("read_file", {"path": "./b.py", "startLine": 1})
        client.error("read_file", {"path": "c.py"})
        assert client.end()[0] == 0
    assert counts(tmp_path) == {"a.py": 6, "b.py": 2}


@pytest.mark.clause("CD-09")
def test_a_ping_is_answered_while_a_file_with_many_imports_is_read(tmp_path: Path, spawn: Any) -> None:
    names = [f"module_{number}" for number in range(300)]
    plant({f"{name}.py": "x = 1\n" * 2000 for name in names}, tmp_path)
    (tmp_path / "all.py").write_text("".join(f"import {name}\n" for name in names))
    client = spawn(env=NO_LIMITS)
    client.initialize()
    client.payload("read_file", {"path": "module_1.py"})
    params = {"name": "read_file", "arguments": {"path": "all.py", "includeDeps": True}}
    client.send({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": params})
    client.send({"jsonrpc": "2.0", "id": "ping", "method": "ping"})
    assert [client.read()["id"] for _ in range(2)] == ["ping", "slow"]
