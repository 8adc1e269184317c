"""What the way to the `initialize` answer may not load: start-up is fast because it does almost nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

NOT_BEFORE_INITIALIZE = {
    "argparse",
    "asyncio",
    "cattrs",
    "filelock",
    "hnswlib",
    "jsonschema",
    "numpy",
    "regex",
    "subprocess",
    "yaml",
}


def loaded_before_the_answer(
    request: str, checkout: Path, here: Path, env: dict[str, str]
) -> tuple[set[str], str]:
    """Modules imported before the first reply, and that reply.

    Both streams of the process share one pipe, so that the order of imports and answer is the true one.
    """
    command = [sys.executable, "-X", "importtime", "-m", "context_pack"]
    env = {**env, "PYTHONPATH": str(checkout), "CONTEXT_PACK_LOG": "off"}
    with subprocess.Popen(
        command, cwd=here, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request.encode("utf-8") + b"\n")
        process.stdin.flush()
        names: set[str] = set()
        answer = ""
        for raw in process.stdout:
            line = raw.decode("utf-8")
            if line.startswith("import time:"):
                names.add(line.rsplit("|", 1)[1].strip())
            elif line.startswith("{"):
                answer = line
                break
        process.stdin.close()
        process.stdout.read()
        assert process.wait(PATIENCE) == 0
    return names, answer


@pytest.mark.clause("PG-05")
@pytest.mark.parametrize("era", ["initialize", "server/discover"])
def test_nothing_heavy_is_loaded_before_the_first_answer(
    checkout: Path, tmp_path: Path, clean_env: dict[str, str], era: str
) -> None:
    modern = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    legacy = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    params = legacy if era == "initialize" else {"_meta": modern}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": era, "params": params})
    names, answer = loaded_before_the_answer(request, checkout, tmp_path, clean_env)
    assert "result" in json.loads(answer), answer
    assert "context_pack" in {name.split(".")[0] for name in names}
    assert {name.split(".")[0] for name in names} & NOT_BEFORE_INITIALIZE == set()
