"""Families hung on purpose: the others answer meanwhile, and what hangs is told so in the end."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

from context_pack_adapters.files.locking import PathLock

Spawn = Callable[..., StdioClient]
Call = tuple[str, dict[str, Any]]
MANY = 9
"""More than a pool has threads for."""
QUICK: dict[str, Call] = {
    "packs": ("input", {"action": "list"}),
    "code": ("read_file", {"path": "a.py"}),
    "documents": ("documents_list_collections", {}),
    "contexts": ("list_contexts", {}),
    "bundles": ("export_context", {"targets": [{"entityType": "thing", "entityId": "one"}]}),
    "memory": ("context_record", {"content": "hello is where it begins", "type": "pattern"}),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with something for each family."""
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "a.py").write_text("def hello():\n    return 1\n")
    (root / "trap.txt").write_text(("a" * 400 + "b\n") * 200)
    (root / "docs" / "one.md").write_text("# One\n\nsome words\n")
    (root / "context.json").write_text(json.dumps({"collections": {"docs": {"url": "./docs"}}}))
    return root


@contextmanager
def writing_to(file: Path) -> Iterator[None]:
    """Another process's transaction that does not end."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


class Hang:
    """Ways to make the calls of a family hang; each gives the calls, and ends with the stack."""

    def __init__(self, client: StdioClient, project: Path, cache: Path, stack: ExitStack) -> None:
        self.client, self.project, self.cache, self.stack = client, project, cache, stack

    def packs(self) -> Iterator[Call]:
        """Somebody else holds the lock of a pack."""
        pack = self.client.payload("input", {"action": "create", "name": "hung", "ttl_minutes": 5})["payload"]
        (file,) = (self.project / ".agents").rglob(f"{pack['id']}.md")
        self.stack.enter_context(PathLock(str(file.with_suffix(".lock")), 5))
        for number in range(2):  # they wait for one another
            change = {"action": "set_meta", "id": pack["id"], "title": f"title {number}"}
            yield "input", {**change, "expected_revision": pack["revision"]}

    def memory(self) -> Iterator[Call]:
        """Somebody else writes to the index for ever, and a file was changed."""
        self.client.call("context_search", {"query": "hello"})
        self.stack.enter_context(writing_to(*self.cache.rglob("memory.sqlite3")))
        (self.project / "a.py").write_text("def hello_again():\n    return 2\n")
        for number in range(MANY):
            yield "context_search", {"query": f"hello {number}"}

    def code(self) -> Iterator[Call]:
        """A pattern that never ends."""
        for number in range(MANY):
            yield "grep_codebase", {"pattern": f"(?=(a+)+$)a{{{number},}}[cd]"}


@pytest.mark.slow
@pytest.mark.clause("TR-53", "TR-52")
@pytest.mark.parametrize("family", ["packs", "memory", "code"])
def test_a_hanging_tool_family_blocks_no_other(
    spawn: Spawn, project: Path, tmp_path: Path, family: str
) -> None:
    cache = tmp_path / "cache"
    client = spawn(
        source_root=project,
        env={
            "CONTEXT_PACK_CACHE": str(cache),
            "CONTEXT_PACK_CALL_SECONDS": "2" if family == "code" else "8",
            "CONTEXT_PACK_RATE_LIMITS": "off",
            "CONTEXT_PACK_EMBEDDER": "fast",
        },
    )
    client.initialize()
    for tool, arguments in QUICK.values():  # everything is loaded
        client.call(tool, arguments)
    with ExitStack() as stack:
        calls = list(getattr(Hang(client, project, cache, stack), family)())
        for number, (tool, arguments) in enumerate(calls):
            params = {"name": tool, "arguments": arguments}
            client.send({"jsonrpc": "2.0", "id": f"hung {number}", "method": "tools/call", "params": params})
        for other, (tool, arguments) in QUICK.items():
            if other != family:
                client.call(tool, arguments)
        waiting = {f"hung {number}" for number in range(len(calls))}
        answers = [each for each in client.notifications if each.get("id") in waiting]
        while len(answers) < len(calls):  # each of them is answered, sooner or later
            if (answer := client.read()).get("id") in waiting:
                answers.append(answer)
        assert {each["id"] for each in answers} == waiting
        if family != "code":  # that one may answer with what it had found
            assert all(each["result"]["isError"] for each in answers)
    client.call(*QUICK[family])
    assert client.end()[0] == 0
