"""One conversation per family with a server process: its tools over real files, as a client sees them.

What each tool promises is tested in `tests/features`; here is what the way through a process could break.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bundle_maker import SAMPLE, ids_of, target
from context_trees import context
from document_trees import PASTA, environ, handbook
from file_trees import lay
from stdio_client import Mode, StdioClient

Spawn = Callable[..., StdioClient]
LIST_CHANGED = "notifications/resources/list_changed"


def structured(client: StdioClient, tool: str, **arguments: Any) -> Any:
    """The structured content of a successful call, which its text agrees with."""
    result = client.call(tool, arguments)
    assert not result["isError"], result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


@pytest.mark.clause("MCP-21", "MCP-22")
def test_packs_are_built_read_verified_and_kept_for_the_next_server(
    spawn: Spawn, mode: Mode, tmp_path: Path
) -> None:
    lay(tmp_path, {"src/greet.py": "def greet():\n    return 'hello'\n"})
    client = spawn(mode)
    client.initialize()
    pack = structured(client, "input", action="create", name="demo", ttl_minutes=60)["payload"]
    common = {"id": pack["id"], "section_key": "main"}
    structured(client, "input", action="upsert_section", section_title="Main", expected_revision=1, **common)
    ref = {"action": "upsert_ref", "ref_key": "greet", "path": "src/greet.py", "symbol": "greet"}
    structured(client, "input", expected_revision=2, **ref, **common)
    assert client.error("input", {**ref, **common, "expected_revision": 2})["code"] == "revision_conflict"
    assert client.end()[0] == 0
    lay(tmp_path, {"src/greet.py": "def greet():\n    return 'good day'\n"})
    again = spawn(mode)
    again.initialize()
    shown = again.call("output", {"name": "demo"})
    assert "good day" in shown["content"][0]["text"]
    assert "structuredContent" not in shown
    verified = structured(again, "input", action="verify", id=pack["id"])["payload"]
    assert "changed" in json.dumps(verified)
    (listed,) = [
        each["uri"]
        for each in again.request("resources/list")["result"]["resources"]
        if each["uri"].startswith("context://pack/")
    ]
    assert listed == f"context://pack/{pack['id']}"


@pytest.mark.clause("CD-43")
def test_code_is_read_and_searched_and_a_cancelled_search_is_not_answered(
    spawn: Spawn, tmp_path: Path
) -> None:
    lay(tmp_path, {"a.py": "import b\n", "b.py": "x = 1\n", "trap.txt": "a" * 90 + "?!\n"})
    client = spawn()
    client.initialize()
    body = structured(client, "read_file", path="a.py", includeDeps=True)
    assert (body["file"]["content"], [each["path"] for each in body["dependencies"]]) == (
        "import b\n",
        ["b.py"],
    )
    trap = {"name": "grep_codebase", "arguments": {"pattern": "(a|aa)+!$(?!x)"}}
    client.send({"jsonrpc": "2.0", "id": "trap", "method": "tools/call", "params": trap})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "trap"}})
    assert structured(client, "grep_codebase", pattern="import")["totalMatches"] == 1
    assert client.error("read_file", {"path": "../b.py"})["error"] == "Path traversal not allowed"
    assert client.request("ping")["result"] == {}
    assert all(message.get("id") != "trap" for message in client.notifications)


@pytest.mark.slow
@pytest.mark.clause("DC-44", "MCP-86")
def test_documents_are_searched_and_told_of_once_they_are_indexed(spawn: Spawn, tmp_path: Path) -> None:
    """So many that the first list cannot wait for them."""
    handbook(tmp_path)
    lay(tmp_path, {f"docs/n{number}.md": f"# Number {number}\n" for number in range(1010)})
    client = spawn(env=environ(tmp_path))
    client.initialize()
    client.request("resources/list")
    while not any(note.get("method") == LIST_CHANGED for note in client.notifications):
        client.notifications.append(client.read())
    (hit,) = structured(client, "documents_search", query="pasta", limit=1)["results"]
    assert hit["documentId"] == "food/pasta.md"
    uri = "context://document/handbook/food/pasta.md"
    assert client.request("resources/read", {"uri": uri})["result"]["contents"][0]["text"] == PASTA


@pytest.mark.clause("CX-51")
def test_contexts_answer_in_the_shapes_and_texts_of_their_specification(spawn: Spawn, tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            ".context.config.yaml": "min_tokens: 0\n",
            "src/core/lib.rs": "fn a() {}\n",
            "src/core/.context.yaml": context("src/core"),
            "broken/a.py": "",
            "broken/.context.yaml": "version: 1\nversion: 1\n",
        },
    )
    client = spawn()
    client.initialize()
    listed = structured(client, "list_contexts")
    assert list(listed) == [
        "root", "total_directories", "skipped_directories", "tracked", "warnings", "entries"
    ]  # fmt: skip
    assert (listed["root"], listed["tracked"]) == (str(tmp_path), 1)
    fresh = structured(client, "check_freshness", scope="src/core")
    assert list(fresh) == ["scope", "state", "fingerprint", "last_updated"]
    assert structured(client, "query_context", scope="src/core")["found"] is True
    for scope, text in {
        "src/unknown": 'No .context.yaml found at scope "src/unknown". This scope may be below the '
        "min_tokens threshold; use list_contexts to see eligible scopes.",
        "../../etc": "Invalid scope: path traversal detected",
        "broken": 'Invalid or corrupt .context.yaml at scope "broken"',
    }.items():
        refused = client.error("query_context", {"scope": scope})
        assert (refused["found"], refused["scope"], refused["error"]) == (False, scope, text)
    denied = f'Path not allowed: "{tmp_path.parent}"'
    assert client.error("list_contexts", {"path": str(tmp_path.parent)})["error"] == denied


@pytest.mark.clause("BD-16", "BD-53")
def test_the_sample_bundle_is_exported_as_its_files_are_now(spawn: Spawn, tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "lantern")
    client = spawn()
    client.initialize()
    ride = target("ride-start", "Feature")
    body = structured(client, "export_context", targets=[ride], dependencyDepth=1)
    assert ids_of(body["data"]["targets"]) == ["ride-start"]
    assert len(body["data"]["dependencies"]) == 8
    assert body["diagnostics"] == []
    every = [
        target(path.stem, folder.name.title()[:-1])
        for folder in sorted((tmp_path / "lantern/bundle").iterdir())
        for path in sorted(folder.glob("*.yaml"))
    ]
    whole = structured(client, "export_context", targets=every, dependencyDepth=5)
    assert whole["meta"]["targetCount"] == len(every) >= 40
    assert whole["meta"]["schemaCount"] == 5
    assert client.call("export_context", {"targets": [target("nobody", "Feature")]})["isError"] is True
    path = tmp_path / "lantern/bundle/requirements/REQ-003.yaml"
    for priority in (1, 2, 3):
        path.write_text(f"id: REQ-003\ntitle: Show\nownerActorId: ACT-rider\npriority: {priority}\n")
        one = structured(client, "get_context", entityType="Requirement", id="REQ-003", depth=0)
        assert one["data"]["target"]["data"]["priority"] == priority


@pytest.mark.clause("ME-01", "ME-02", "ME-10", "ME-31")
def test_what_one_server_records_and_does_is_found_by_the_next(spawn: Spawn, tmp_path: Path) -> None:
    lay(tmp_path, {"zebra.py": "x = 1\n"})
    first = spawn()
    first.initialize()
    first.payload("read_file", {"path": "zebra.py"})
    pack = first.payload("input", {"action": "create", "ttl_minutes": 5})["payload"]["id"]
    kept = first.payload("context_record", {"type": "rule", "content": "Never log tokens", "module": "auth"})
    again = {"type": "rule", "content": "never LOG tokens!"}
    assert first.payload("context_record", again) == {"id": kept["id"], "merged": True}
    first.end()
    second = spawn()
    second.initialize()
    found = structured(second, "context_search", query="log tokens", type="rule")["results"]
    assert [(each["id"], each["module"], each["source"]) for each in found] == [
        (kept["id"], "auth", "discovery")
    ]
    found = structured(second, "context_search", query="session zebra.py", limit=20)["results"]
    (session,) = [each for each in found if each["source"] == "session"]
    assert "context_record 2, input 1, read_file 1" in session["content"]
    assert "Files read: zebra.py." in session["content"]
    assert pack in session["content"]
