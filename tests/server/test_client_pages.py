"""Answers that fit what the client shows: by its name, by the environment, by the argument."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from local_client import LocalClient

from context_pack.toolkit.budget import room_of

META = "io.modelcontextprotocol/"
PAGES = [
    ("claude-code", 20_000), ("gemini-cli-mcp-client", 7_500), ("codex-mcp-client", 10_000),
    ("Cline", 3_200), ("github-copilot-developer", 8_000), ("qwen-code-mcp-client", 8_000),
    ("opencode", 10_000), ("somebody else", 5_000), ("", 5_000),
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A long file of code, and one line that occurs often."""
    lines = (
        f"def function_{number}(value):  # grep me\n    return value * {number}\n" for number in range(4000)
    )
    (tmp_path / "long.py").write_text("".join(lines))
    return tmp_path


def text_of(client: LocalClient, tool: str, arguments: dict[str, Any], **more: Any) -> str:
    """The text of an answer."""
    result = client.request("tools/call", {"name": tool, "arguments": arguments, **more})["result"]
    assert result["isError"] is False, result
    text: str = result["content"][0]["text"]
    return text


@pytest.mark.clause("MCP-93", "CD-29")
@pytest.mark.parametrize(("name", "tokens"), PAGES)
def test_answer_sizes_follow_the_client_named_in_the_handshake(project: Path, name: str, tokens: int) -> None:
    client = LocalClient(project, name)
    read = text_of(client, "read_file", {"path": "long.py"})
    assert 0.8 * room_of(tokens) < len(read.encode()) <= room_of(tokens)
    page = json.loads(read)
    assert page["next"]["startLine"] == page["file"]["range"]["endLine"] + 1
    assert len(text_of(client, "grep_codebase", {"pattern": "grep me", "limit": 100})) <= room_of(tokens)
    modern = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}
    modern[f"{META}clientInfo"] = {"name": "Cline", "version": "1"}
    assert len(text_of(client, "read_file", {"path": "long.py"}, _meta=modern)) <= 8_000


@pytest.mark.clause("MCP-93", "ENV-05")
def test_the_environment_overrides_the_client_and_the_argument_both(project: Path) -> None:
    client = LocalClient(project, "claude-code", CONTEXT_PACK_PAGE_TOKENS="1000")
    assert len(text_of(client, "read_file", {"path": "long.py"})) <= 2_500
    assert len(text_of(client, "read_file", {"path": "long.py", "max_tokens": 5_000})) > 10_000


@pytest.mark.clause("MCP-95")
@pytest.mark.parametrize("name", ["github-copilot-developer", "qwen-code-mcp-client", "claude-code"])
def test_clients_that_show_text_and_object_get_the_text_alone(project: Path, name: str) -> None:
    client = LocalClient(project, name)
    both = name == "claude-code"
    tools = {tool["name"]: tool for tool in client.request("tools/list", {})["result"]["tools"]}
    assert ("outputSchema" in tools["read_file"]) is both
    result = client.request("tools/call", {"name": "read_file", "arguments": {"path": "long.py"}})["result"]
    assert ("structuredContent" in result) is both
    assert json.loads(result["content"][0]["text"])["file"]["path"] == "long.py"


@pytest.mark.clause("MCP-96")
def test_the_instructions_begin_with_the_root_and_what_is_served(project: Path) -> None:
    told = LocalClient(project).greeting["instructions"]
    first = told.partition(". ")[0]
    assert str(project) in first
    assert all(word in first for word in ("packs", "search", "memory", "documents"))


@pytest.mark.clause("MCP-96")
@pytest.mark.parametrize("tools", ["auto", "packs", "code,memory"])
def test_the_instructions_name_only_tools_that_are_listed(project: Path, tools: str) -> None:
    client = LocalClient(project, CONTEXT_PACK_TOOLS=tools)
    every, listed = _listed(LocalClient(project)), _listed(client)
    told = client.greeting["instructions"]
    assert listed < every
    assert not {name for name in every - listed if f"`{name}`" in told or f"`{name} " in told}


def _listed(client: LocalClient) -> set[str]:
    return {tool["name"] for tool in client.request("tools/list", {})["result"]["tools"]}


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
    project: Path, tool: str, arguments: dict[str, Any]
) -> None:
    client = LocalClient(project, "claude-code")
    given = {name: value.format(root=project) for name, value in arguments.items()}
    if tool == "input":
        pack = client.payload("input", {"action": "create", "ttl_minutes": 60})["payload"]["id"]
        given |= {"id": pack, "expected_revision": 1, "line_start": 1, "line_end": 2}
    result = client.request("tools/call", {"name": tool, "arguments": given})["result"]
    assert result["isError"] is True
    assert "use 'src/a.py'" in result["content"][0]["text"]


@pytest.mark.clause("MCP-21")
def test_json_answers_are_read_line_by_line_and_structured_content_is_no_larger(
    project: Path,
) -> None:
    client = LocalClient(project)
    call = {"name": "grep_codebase", "arguments": {"pattern": "grep me"}}
    result = client.request("tools/call", call)["result"]
    text = result["content"][0]["text"]
    assert text.count("\n") >= 50
    assert json.loads(text) == result["structuredContent"]
    assert len(json.dumps(result["structuredContent"], separators=(",", ":"))) <= len(text)
