"""A system that refuses descriptors or threads costs the calls that need them, and not the server."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {"path": "a.py"}),
    ("grep_codebase", {"pattern": "hello"}),
    ("code_outline", {"path": "a.py"}),
    ("list_contexts", {}),
    ("documents_search", {"query": "words"}),
    ("context_search", {"query": "hello"}),
    ("context_record", {"content": "hello is where it begins", "type": "pattern"}),
    ("input", {"action": "list"}),
    ("export_context", {"targets": [{"entityType": "thing", "entityId": "one"}]}),
)

STREAMS = 3  # with room for these alone no number is free, whatever another thread closes meanwhile

pytestmark = [
    pytest.mark.clause("TR-54"),
    pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are set with prlimit"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with something for each family."""
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "a.py").write_text("import b\n\n\ndef hello():\n    return b.x\n")
    (root / "b.py").write_text("x = 1\n")
    (root / "docs" / "one.md").write_text("# One\n\nsome words\n")
    (root / "context.json").write_text(json.dumps({"collections": {"docs": {"url": "./docs"}}}))
    return root


@contextmanager
def limited(client: StdioClient, kind: int, most: int) -> Iterator[None]:
    """Take from a running server what it has not got yet, and give it back."""
    before = resource.prlimit(client.process.pid, kind)
    resource.prlimit(client.process.pid, kind, (most, before[1]))
    yield
    with suppress(ProcessLookupError):  # it has ended meanwhile
        resource.prlimit(client.process.pid, kind, before)


def outcomes(client: StdioClient) -> dict[str, str]:
    """Call everything; whatever was refused, by tool."""
    refused = {}
    for tool, arguments in CALLS:
        reply = client.request("tools/call", {"name": tool, "arguments": arguments})
        if "error" in reply:
            refused[tool] = reply["error"]["message"]
        elif reply["result"]["isError"]:
            refused[tool] = reply["result"]["content"][0]["text"]
    return refused


def started(spawn: Spawn, project: Path, warm: bool) -> tuple[StdioClient, dict[str, str]]:
    """A server, and what it refuses when all is well: there is no bundle."""
    client = spawn(source_root=project)
    client.initialize()
    if not warm:
        client.request("tools/list")
        return client, {}
    usual = outcomes(client)
    assert set(usual) <= {"export_context"}
    return client, usual


@pytest.mark.parametrize("warm", [True, False])
def test_without_descriptors_calls_say_so_and_later_ones_are_served(
    spawn: Spawn, project: Path, warm: bool
) -> None:
    client, usual = started(spawn, project, warm)
    with limited(client, resource.RLIMIT_NOFILE, STREAMS):
        refused = outcomes(client)
        # None of these may answer as if there were nothing in the project.
        reading = {"read_file", "grep_codebase", "code_outline", "documents_search", "context_search"}
        assert reading <= set(refused)
        if warm:
            assert "too many files are open" in refused["grep_codebase"]
            assert "too many files are open" in refused["documents_search"]
            assert "too many files are open" in refused["list_contexts"]
    assert set(outcomes(client)) <= {"export_context"}
    assert outcomes(client) == usual or not warm
    assert client.end()[0] == 0
