"""The official Inspector's lint of schema portability on the real server: no error, not even a warning."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import referees
from stdio_client import PRIVATE, environment


@pytest.mark.slow
@pytest.mark.clause("MCP-40")
def test_the_inspector_finds_every_schema_portable(tmp_path: Path) -> None:
    modules = referees.node_packages(referees.INSPECTOR)
    inspector = (
        modules / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    )
    server = [sys.executable, "-m", "context_pack"]
    given = {"CONTEXT_PACK_LOG": "off"} | {name: environment()[name] for name in ("PYTHONPATH", PRIVATE)}
    settings = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
    words = ["--cli", *server, *settings, "--method", "tools/list", "--strict"]
    done = referees.referee([referees.node((22, 19)), inspector, *words], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""  # where the lint reports, warnings too
    assert {"input", "output"} <= {tool["name"] for tool in json.loads(done.stdout)["tools"]}
