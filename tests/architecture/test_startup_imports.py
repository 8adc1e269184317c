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
    "attr",
    "attrs",
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


FIRST_CALL = """
import json, sys
from context_pack.toolkit.call import QuietCall
from context_pack_adapters.bootstrap import Connection
from context_pack_adapters.logs import Log
from context_pack_adapters.settings import current_settings
registry = Connection(current_settings(), Log("off")).load()
answer = registry.call(sys.argv[1], json.loads(sys.argv[2]), QuietCall())
assert not answer.is_error, answer.text
print(json.dumps(sorted(sys.modules)))
"""


NEVER_IN_A_FIRST_CALL = {
    *("attr", "attrs", "cattrs", "filelock", "hnswlib", "jsonschema", "numpy", "yaml"),
    "context_pack.toolkit.offers",
    "context_pack.toolkit.stats",
}
PACK_LIST = {"packs.cases", "packs.commands", "packs.listing"}
PACK_CHANGE = {
    *("packs.cases", "packs.commands", "packs.write", "packs.naming", "packs.plans"),
    *("packs.pointing", "packs.resolving", "packs.tree_search"),
}


@pytest.mark.parametrize(
    "tool, arguments, usecases, not_loaded",
    [
        ("input", {"action": "list"}, PACK_LIST, {"subprocess", "context_pack.packs.domain.states"}),
        ("output", {}, PACK_LIST, {"subprocess", "context_pack.packs.domain.render"}),
        ("input", {"action": "create", "ttl_minutes": 5}, PACK_CHANGE, {"subprocess", "difflib"}),
        ("read_file", {"path": "a.py"}, {"code.read_file"}, {"sqlite3"}),
        ("grep_codebase", {"pattern": "x"}, {"code.grep"}, {"sqlite3"}),
        (
            "list_contexts",
            {},
            {"contexts.commands", "contexts.query", "contexts.reading"},
            {"sqlite3"},
        ),
        (
            "context_record",
            {"type": "rule", "content": "Never log any tokens"},
            {"memory.record"},
            {"subprocess", "sqlite3", "context_pack.packs"},
        ),
        (
            "context_search",
            {"query": "where is x"},
            {"memory.search", "memory.refresh", "memory.indexing"},
            set(),
        ),
    ],
)
def test_a_first_call_loads_nothing_but_what_it_needs(
    tmp_path: Path,
    clean_env: dict[str, str],
    tool: str,
    arguments: dict[str, object],
    usecases: set[str],
    not_loaded: set[str],
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL, tool, json.dumps(arguments)],
        cwd=tmp_path,
        env={**clean_env, "PYTHONPATH": ":".join(sys.path), "CONTEXT_PACK_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout))
    parts = [name.split(".") for name in loaded if name.startswith("context_pack.") and ".usecases." in name]
    assert {f"{feature}.{name}" for _, feature, _, name in parts} == usecases
    assert loaded & (NEVER_IN_A_FIRST_CALL | not_loaded) == set()
