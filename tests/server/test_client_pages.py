"""Answers that fit what the client shows: by its name, by the environment, by the argument."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import HELLO, StdioClient

from context_pack.toolkit.budget import room_of

Spawn = Callable[..., StdioClient]
META = "io.modelcontextprotocol/"
PAGES = [
    ("claude-code", 20_000),
    ("gemini-cli-mcp-client", 7_500),
    ("codex-mcp-client", 10_000),
    ("Cline", 3_200),
    ("github-copilot-developer", 8_000),
    ("qwen-code-mcp-client", 8_000),
    ("opencode", 10_000),
    ("somebody else", 5_000),
    ("", 5_000),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A long file of code, and one line that occurs often."""
    lines = (
        f"def function_{number}(value):  # grep me\n    return value * {number}\n" for number in range(4000)
    )
    (tmp_path / "long.py").write_text("".join(lines))
    return tmp_path


def greet(client: StdioClient, name: str) -> None:
    """Say hello under a name."""
    hello = {**HELLO, "clientInfo": {"name": name, "version": "1"}}
    client.request("initialize", hello)


def text_of(client: StdioClient, tool: str, arguments: dict[str, Any], **more: Any) -> str:
    """The text of an answer."""
    result = client.request("tools/call", {"name": tool, "arguments": arguments, **more})["result"]
    assert result["isError"] is False, result
    text: str = result["content"][0]["text"]
    return text


def pack_of_thirty(client: StdioClient) -> str:
    """A pack with thirty refs of forty lines each."""
    made = client.payload("input", {"action": "create", "ttl_minutes": 60})["payload"]["id"]
    operations: list[dict[str, Any]] = [
        {"action": "upsert_section", "section_key": "all", "section_title": "All"}
    ]
    for number in range(30):
        operations.append(
            {
                "action": "upsert_ref", "section_key": "all", "ref_key": f"ref-{number}", "path": "long.py",
                "line_start": 1 + number * 80, "line_end": 40 + number * 80,
            }
        )  # fmt: skip
    client.payload("input", {"action": "batch", "id": made, "expected_revision": 1, "operations": operations})
    return str(made)


@pytest.mark.clause("MCP-93", "CD-29")
@pytest.mark.parametrize(("name", "tokens"), PAGES)
def test_answer_sizes_follow_the_client_named_in_the_handshake(
    project: Path, spawn: Spawn, name: str, tokens: int
) -> None:
    client = spawn()
    greet(client, name)
    read = text_of(client, "read_file", {"path": "long.py"})
    assert 0.8 * room_of(tokens) < len(read.encode()) <= room_of(tokens)
    page = json.loads(read)
    assert page["next"]["startLine"] == page["file"]["range"]["endLine"] + 1
    assert len(text_of(client, "grep_codebase", {"pattern": "grep me", "limit": 100})) <= room_of(tokens)
    modern = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}
    modern[f"{META}clientInfo"] = {"name": "Cline", "version": "1"}
    assert len(text_of(client, "read_file", {"path": "long.py"}, _meta=modern)) <= 8_000


@pytest.mark.clause("MCP-93", "PK-54")
@pytest.mark.parametrize(("name", "tokens"), PAGES[:5])
def test_a_pack_of_thirty_refs_is_read_to_its_end_by_following_the_continuation(
    project: Path, spawn: Spawn, name: str, tokens: int
) -> None:
    client = spawn()
    greet(client, name)
    arguments: dict[str, Any] = {"id": pack_of_thirty(client)}
    seen: list[str] = []
    while arguments:
        text = text_of(client, "output", arguments)
        assert len(text.encode()) <= room_of(tokens)
        seen += [line for line in text.split("\n") if line.startswith("#### ") and "(continued)" not in line]
        ended = [line for line in text.split("\n") if line.startswith("> truncated: ")]
        assert len(ended) in (0, 2)
        assert len(set(ended)) <= 1
        assert not ended or len(text.encode()) >= 0.8 * room_of(tokens)
        arguments = json.loads(ended[0].partition("continue with output ")[2]) if ended else {}
    assert len(seen) == 30


@pytest.mark.clause("MCP-93", "ENV-05")
def test_the_environment_overrides_the_client_and_the_argument_both(project: Path, spawn: Spawn) -> None:
    client = spawn(env={"CONTEXT_PACK_PAGE_TOKENS": "1000"})
    greet(client, "claude-code")
    assert len(text_of(client, "read_file", {"path": "long.py"})) <= 2_500
    assert len(text_of(client, "read_file", {"path": "long.py", "max_tokens": 5_000})) > 10_000


@pytest.mark.clause("MCP-95")
@pytest.mark.parametrize("name", ["github-copilot-developer", "qwen-code-mcp-client", "claude-code"])
def test_clients_that_show_text_and_object_get_the_text_alone(project: Path, spawn: Spawn, name: str) -> None:
    client = spawn()
    greet(client, name)
    both = name == "claude-code"
    tools = {tool["name"]: tool for tool in client.request("tools/list", {})["result"]["tools"]}
    assert ("outputSchema" in tools["read_file"]) is both
    result = client.request("tools/call", {"name": "read_file", "arguments": {"path": "long.py"}})["result"]
    assert ("structuredContent" in result) is both
    assert json.loads(result["content"][0]["text"])["file"]["path"] == "long.py"


@pytest.mark.clause("MCP-96")
def test_the_instructions_begin_with_the_root_and_what_is_served(project: Path, spawn: Spawn) -> None:
    told = spawn().request("initialize", HELLO)["result"]["instructions"]
    first = told.partition(". ")[0]
    assert str(project) in first
    assert all(word in first for word in ("packs", "search", "memory", "documents"))


@pytest.mark.clause("MCP-96")
@pytest.mark.parametrize("tools", ["auto", "packs", "code,memory"])
def test_the_instructions_name_only_tools_that_are_listed(project: Path, spawn: Spawn, tools: str) -> None:
    every = {tool["name"] for tool in _listed(spawn())}
    client = spawn(env={"CONTEXT_PACK_TOOLS": tools})
    told = client.request("initialize", HELLO)["result"]["instructions"]
    listed = {tool["name"] for tool in client.request("tools/list", {})["result"]["tools"]}
    assert listed < every
    assert not {name for name in every - listed if f"`{name}`" in told or f"`{name} " in told}


def _listed(client: StdioClient) -> list[dict[str, Any]]:
    client.request("initialize", HELLO)
    tools: list[dict[str, Any]] = client.request("tools/list", {})["result"]["tools"]
    return tools


@pytest.mark.clause("TK-26")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "{root}/src/a.py"}),
        ("code_outline", {"path": "{root}/src/a.py"}),
        (
            "input",
            {"action": "upsert_ref", "section_key": "all", "ref_key": "one", "path": "{root}/src/a.py"},
        ),
    ],
)
def test_an_absolute_path_inside_the_root_is_refused_with_the_relative_one(
    project: Path, spawn: Spawn, tool: str, arguments: dict[str, Any]
) -> None:
    client = spawn()
    greet(client, "claude-code")
    given = {name: value.format(root=project) for name, value in arguments.items()}
    if tool == "input":
        pack = client.payload("input", {"action": "create", "ttl_minutes": 60})["payload"]["id"]
        given |= {"id": pack, "expected_revision": 1, "line_start": 1, "line_end": 2}
    result = client.request("tools/call", {"name": tool, "arguments": given})["result"]
    assert result["isError"] is True
    assert "use 'src/a.py'" in result["content"][0]["text"]


@pytest.mark.clause("MCP-94", "MCP-21")
def test_json_answers_are_read_line_by_line_and_structured_content_is_no_larger(
    project: Path, client: StdioClient
) -> None:
    call = {"name": "grep_codebase", "arguments": {"pattern": "grep me"}}
    result = client.request("tools/call", call)["result"]
    text = result["content"][0]["text"]
    assert text.count("\n") >= 50
    assert json.loads(text) == result["structuredContent"]
    assert len(json.dumps(result["structuredContent"], separators=(",", ":"))) <= len(text)
