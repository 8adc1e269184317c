"""`read_file` over a real connection, in both transports: the whole answer, the log of reads, the limits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from import_projects import plant, project
from jsonschema import Draft202012Validator
from private_folders import places_of
from stdio_client import StdioClient

NO_LIMITS = {"CONTEXT_PACK_RATE_LIMITS": "off"}


def counts(root: Path) -> dict[str, int]:
    record = json.loads((places_of(root).state / "access" / "items.json").read_text("utf-8"))
    return {each["path"]: each["count"] for each in record["items"]}


@pytest.mark.clause("CD-01", "CD-10")
def test_a_file_with_its_imports_comes_as_text_and_as_structure(client: StdioClient, tmp_path: Path) -> None:
    plant(project("javascript"), tmp_path)
    result = client.call("read_file", {"path": "src/types.ts", "includeDeps": True})
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])
    assert result["isError"] is False
    assert [each["path"] for each in result["structuredContent"]["dependencies"]] == ["src/main.tsx"]
    (tool,) = [
        each for each in client.request("tools/list")["result"]["tools"] if each["name"] == "read_file"
    ]
    Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])
    assert tool["annotations"]["readOnlyHint"] is True
    assert set(tool["inputSchema"]["properties"]) == {
        "path",
        "includeDeps",
        "maxDepth",
        "startLine",
        "symbol",
        "numbered",
        "endLine",
        "maxTokens",
    }
    assert tool["inputSchema"]["required"] == ["path"]


@pytest.mark.clause("CD-01")
def test_the_modification_time_has_whole_seconds(client: StdioClient, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    for stamp, told in [(1_736_931_600.9, "2025-01-15T09:00:00Z"), (-1.5, "1969-12-31T23:59:58Z")]:
        os.utime(tmp_path / "a.txt", (stamp, stamp))
        read = client.payload("read_file", {"path": "a.txt"})
        assert read["metadata"] == {"module": ".", "role": "core", "lastModified": told}


@pytest.mark.clause("CD-01")
def test_every_character_of_a_text_arrives(client: StdioClient, tmp_path: Path) -> None:
    text = (
        "".join(map(chr, [*range(1, 0xD800, 7), *range(0xE000, 0x11000, 11), 0x1F600, 0x10FFFF]))
        + "\r\n\x85\u2028"
    )
    (tmp_path / "all.txt").write_bytes(text.encode())
    read = client.payload("read_file", {"path": "all.txt", "maxTokens": 100_000})
    assert read["file"]["content"] == text


@pytest.mark.clause("CD-03")
def test_a_file_of_a_mebibyte_arrives_whole(client: StdioClient, tmp_path: Path) -> None:
    (tmp_path / "most.txt").write_bytes(b'"\n' * 524_288)
    (tmp_path / "more.txt").write_bytes(b"x" * 1_048_577)
    file = client.payload("read_file", {"path": "most.txt", "maxTokens": 1_048_576})["file"]
    assert (file["size"], file["lines"], file["content"]) == (1_048_576, 524_288, '"\n' * 524_288)
    assert client.error("read_file", {"path": "more.txt"})["error"] == "File too large"


@pytest.mark.clause("CD-03", "CD-06", "CD-26")
def test_refusals_are_answers_with_an_error_and_nothing_structured(
    client: StdioClient, tmp_path: Path
) -> None:
    (tmp_path / "bad.py").write_text("def f(:\n")
    asked: list[tuple[dict[str, Any], str]] = [
        ({"path": "nothing"}, "File not found"),
        ({"path": "/etc/passwd"}, "Absolute paths not allowed"),
        ({"path": "../x"}, "Path traversal not allowed"),
        ({"path": ".env"}, "Permission denied"),
        ({"path": "bad.py", "includeDeps": True}, "Failed to parse imports"),
        ({}, "Invalid parameters"),
    ]
    for arguments, text in asked:
        result = client.call("read_file", arguments)
        assert result["isError"] is True
        assert "structuredContent" not in result
        assert json.loads(result["content"][0]["text"])["error"] == text


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


@pytest.mark.clause("CD-43")
def test_a_storage_root_that_cannot_be_written_does_not_touch_the_reads(tmp_path: Path, spawn: Any) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "blocked").write_text("a file in the place of the storage root")
    client = spawn(env={"CONTEXT_PACK_ROOT": "blocked"})
    client.initialize()
    assert client.payload("read_file", {"path": "a.py"})["file"]["lines"] == 1
    code, errors = client.end()
    assert code == 0
    assert "Traceback" not in errors


@pytest.mark.clause("CD-06")
def test_the_hundred_and_first_call_of_a_minute_is_refused(tmp_path: Path, spawn: Any) -> None:
    (tmp_path / "a").write_text("x")
    client = spawn()
    client.initialize()
    for _ in range(100):
        client.payload("read_file", {"path": "a"})
    body = client.error("read_file", {"path": "a"})
    assert body["error"] == "Rate limit exceeded for read_file"
    assert 0 < body["retryAfterMs"] <= 60_000
    other = spawn()
    other.initialize()
    assert other.payload("read_file", {"path": "a"})["file"]["content"] == "x"


@pytest.mark.clause("CD-06")
def test_the_limit_can_be_changed_and_lifted(tmp_path: Path, spawn: Any) -> None:
    (tmp_path / "a").write_text("x")
    strict = spawn(env={"CONTEXT_PACK_RATE_LIMITS": "read_file=1"})
    strict.payload("read_file", {"path": "a"})
    assert "Rate limit" in strict.error("read_file", {"path": "a"})["error"]
    free = spawn(env=NO_LIMITS)
    for _ in range(150):
        free.payload("read_file", {"path": "a"})


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


@pytest.mark.clause("CD-10", "CD-12")
def test_many_dependencies_are_all_listed(tmp_path: Path, spawn: Any) -> None:
    names = sorted(f"module_{number}" for number in range(500))
    plant({f"{name}.py": "x = 1\n" * 100 for name in names}, tmp_path)
    (tmp_path / "all.py").write_text("".join(f"import {name}\n" for name in reversed(names)))
    client = spawn()
    asked = {"path": "all.py", "includeDeps": True, "maxTokens": 1_048_576}
    found = client.payload("read_file", asked)["dependencies"]
    assert [each["path"] for each in found] == [f"{name}.py" for name in names]
    shown = [each["content"] for each in found if each["content"] is not None]
    assert sum(map(len, shown)) == 79_800
    assert all(each["lines"] == 100 and each["size"] == 600 for each in found)
