"""What the environment means to a running server: places, limits, and the log on stderr."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
Start = Callable[..., StdioClient]
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (ERROR|WARN|INFO|DEBUG) context_pack: .+")


@pytest.fixture
def start(spawn: Spawn) -> Start:
    """Start an initialized server with these variables."""

    def started(**variables: str) -> StdioClient:
        env = {f"CONTEXT_PACK_{name}": value for name, value in variables.items()}
        client = spawn("unframed", env=env)
        client.initialize()
        return client

    return started


@pytest.mark.clause("ENV-05")
def test_a_rate_limit_holds_for_its_tool_and_its_connection(start: Start) -> None:
    one, other = start(RATE_LIMITS="output=2"), start(RATE_LIMITS="output=2")
    assert [one.call("output").get("isError", False) for _ in range(3)] == [False, False, True]
    assert one.error("output")["code"] == "rate_limited"
    assert not one.call("input").get("isError")
    assert not other.call("output").get("isError")
    free = start(RATE_LIMITS="off")
    assert not any(free.call("output").get("isError") for _ in range(5))


@pytest.mark.clause("ENV-09")
def test_each_call_is_one_line_without_its_arguments(start: Start) -> None:
    client = start()
    client.call("output", {"query": "my-secret"})
    client.call("input", {"action": "get", "id": "my-secret"})
    _, log = client.end()
    lines = log.splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    called = [line for line in lines if " call " in line]
    assert len(called) == 2
    assert re.search(r"call tool=output ok=true ms=\d+\.\d bytes=23$", called[0])
    assert re.search(r"call tool=input ok=false ms=\d+\.\d bytes=\d+$", called[1])
    assert "my-secret" not in log


@pytest.mark.clause("ENV-09")
@pytest.mark.parametrize("closing", ["2>&-", "2>/dev/full"])
def test_a_closed_or_full_stderr_blocks_no_call(spawn: Spawn, closing: str) -> None:
    if closing.endswith("full") and not os.path.exists("/dev/full"):
        pytest.skip("needs a device that is always full")
    command = ["sh", "-c", f'exec "$@" {closing}', "sh", sys.executable, "-m", "context_pack"]
    client = spawn("unframed", command=command, env={"CONTEXT_PACK_RATE_LIMITS": "nonsense"})
    assert client.call("output")["content"][0]["text"] == "No context packs found."
    assert client.end() == (0, "")


@pytest.mark.clause("ST-14")
def test_a_project_that_cannot_be_written_is_read_and_searched(spawn: Spawn, tmp_path: Path) -> None:
    root, private = tmp_path / "project", {"CONTEXT_PACK_CACHE": str(tmp_path / "cache")}
    (root / "docs").mkdir(parents=True)
    (root / "a.py").write_text("def hello():\n    return 1\n")
    (root / "docs" / "one.md").write_text("# One\n\nsome words\n")
    (root / "context.json").write_text('{"collections": {"docs": {"url": "./docs"}}}')
    before = spawn(source_root=root, env=private)
    before.initialize()
    before.payload("input", {"action": "create", "name": "kept", "ttl_minutes": 5})
    before.call("context_record", {"content": "hello is where it begins", "type": "pattern"})
    before.end()
    command: tuple[str, ...] = (sys.executable, "-m", "context_pack")
    if os.geteuid() == 0:  # whom permissions do not bind
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv here, and root may write everywhere")
        command = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", *command)
    closed = [path for path in (root, *root.rglob("*")) if path.is_dir()]
    for folder in closed:
        folder.chmod(0o555)
    try:
        client = spawn(source_root=root, command=command, env=private)
        client.initialize()
        assert client.payload("input", {"action": "get", "name": "kept"})["payload"]["name"] == "kept"
        for query, found in (("hello function", "code"), ("where it begins", "pattern")):
            types = [hit["type"] for hit in client.payload("context_search", {"query": query})["results"]]
            assert found in types
        reads: tuple[tuple[str, dict[str, object]], ...] = (
            ("output", {"name": "kept"}),
            ("documents_search", {"query": "words"}),
            ("list_contexts", {}),
            ("read_file", {"path": "a.py"}),
            ("grep_codebase", {"pattern": "hello"}),
        )
        for tool, arguments in reads:
            assert not client.call(tool, arguments)["isError"], tool
        writes: tuple[tuple[str, dict[str, object]], ...] = (
            ("input", {"action": "create", "ttl_minutes": 5}),
            ("context_record", {"content": "it cannot be kept", "type": "pattern"}),
        )
        for tool, arguments in writes:
            refused = client.call(tool, arguments)
            assert refused["isError"]
            assert "permission denied" in refused["content"][0]["text"]
        assert client.end()[0] == 0
    finally:
        for folder in closed:
            folder.chmod(0o755)
