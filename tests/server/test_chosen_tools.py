"""Which tools are listed: all, the chosen families, or those with something to serve here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from context_trees import MINIMAL
from local_client import LocalClient

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CHANGED = "notifications/tools/list_changed"


def listed(client: LocalClient, **params: Any) -> list[dict[str, Any]]:
    """The tools that the server lists."""
    found: list[dict[str, Any]] = client.request("tools/list", params)["result"]["tools"]
    return found


def names(client: LocalClient) -> set[str]:
    """Their names."""
    return {tool["name"] for tool in listed(client)}


@pytest.mark.clause("MCP-45", "ENV-05")
def test_only_the_chosen_families_are_listed_and_the_others_can_be_called(tmp_path: Path) -> None:
    client = LocalClient(tmp_path, CONTEXT_PACK_TOOLS="packs,memory")
    assert names(client) == {"input", "output", "context_search", "context_record"}
    (tmp_path / "a.txt").write_text("here\n")
    assert client.payload("read_file", {"path": "a.txt"})["file"]["content"] == "here\n"


@pytest.mark.clause("MCP-45", "PG-01")
def test_auto_lists_families_in_use_and_notifies_when_more_appear(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("A = 1\n")
    off = {"CONTEXT_PACK_RATE_LIMITS": "off", "XDG_CONFIG_HOME": str(tmp_path / "none")}
    client = LocalClient(tmp_path, CONTEXT_PACK_TOOLS="auto", **off)
    assert client.greeting["capabilities"]["tools"] == {"listChanged": True}
    plain = listed(client)
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in plain]
    assert len(json.dumps({"tools": read}, ensure_ascii=False, separators=(",", ":"))) / 4 < 3_500
    assert {tool["_meta"]["context-pack/family"] for tool in plain} == {"packs", "code", "memory"}
    client.payload("grep_codebase", {"pattern": "A"})
    assert not [one for one in client.notifications if one["method"] == CHANGED]
    (tmp_path / "src/.context.yaml").write_text(MINIMAL)
    while not [one for one in client.notifications if one["method"] == CHANGED]:
        client.payload("grep_codebase", {"pattern": "A"})
    assert "query_context" in names(client)
    assert "export_context" not in names(client)
    modern = client.request("tools/list", {"_meta": ENVELOPE})["result"]
    assert modern["ttlMs"] == 0


@pytest.mark.clause("MCP-45")
@pytest.mark.parametrize("in_project", [True, False])
def test_a_configuration_whose_last_collection_was_removed_lists_no_tools(
    tmp_path: Path, in_project: bool
) -> None:
    (project := tmp_path / "project").mkdir()
    settings = tmp_path / "own/context-pack"
    settings.mkdir(parents=True)
    config = (project if in_project else settings) / "context.json"
    for text, is_listed in (
        ('{"collections": {}}', False),
        ('{"allowed": {}}', False),
        ('{"collections": {"notes": {"url": "./notes"}}}', True),
        ("{", True),
    ):
        config.write_text(text)
        client = LocalClient(project, CONTEXT_PACK_TOOLS="auto", XDG_CONFIG_HOME=str(tmp_path / "own"))
        assert ("documents_search" in names(client)) is is_listed, text


@pytest.mark.clause("MCP-45")
def test_tools_stand_in_the_order_of_the_instructions_and_can_be_looked_up(tmp_path: Path) -> None:
    client = LocalClient(tmp_path)
    instructions = client.greeting["instructions"]
    tools = listed(client)
    named = [tool["name"] for tool in tools if f"`{tool['name']}" in instructions]
    assert named == sorted(named, key=lambda name: instructions.index(f"`{name}"))
    assert [tool["name"] for tool in tools[:4]] == ["context_search", "context_record", "output", "input"]
    hints = {tool["name"]: tool["_meta"].get("anthropic/searchHint", "") for tool in tools}
    for words, name in (
        ("grep the codebase", "grep_codebase"),
        ("project memory", "context_search"),
        ("is the context stale", "check_freshness"),
    ):
        assert words in hints[name]
    assert "context pack" in hints["input"]
    assert "hand over" in hints["input"]
