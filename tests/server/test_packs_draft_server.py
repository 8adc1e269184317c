"""`input` action `draft` and `context-pack packs draft`: code, documents and memory in one pack."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine
from stdio_client import StdioClient

from context_pack.toolkit.budget import tokens_of as estimate_tokens

Spawn = Callable[..., StdioClient]
FAST = {"CONTEXT_PACK_EMBEDDER": "fast"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "zebras.md").write_text("# Zebras\n\nA zebra eats hay every morning.\n")
    (tmp_path / "context.json").write_text(json.dumps({"collections": {"docs": {"url": "./docs"}}}))
    (tmp_path / "zoo.py").write_text('def feed_zebra():\n    """Give hay to the zebra."""\n    return 1\n')
    return tmp_path


@pytest.mark.clause("ME-50", "ME-51")
def test_a_question_becomes_a_pack_of_code_documents_and_memory(spawn: Spawn, project: Path) -> None:
    client = spawn(env=FAST)
    client.initialize()
    client.payload("context_record", {"type": "rule", "content": "The zebra never eats hay at night"})
    asked = {"action": "draft", "query": "when does the zebra eat hay", "ttl_minutes": 30, "max_tokens": 900}
    answer = client.payload("input", {**asked, "name": "zebra"})
    assert answer["action"] == "draft"
    pack = answer["payload"]
    assert (pack["status"], pack["revision"], pack["name"]) == ("draft", 1, "zebra")
    sections = {section["key"]: section for section in pack["sections"]}
    assert [ref["path"] for ref in sections["code"]["refs"]] == ["zoo.py"]
    assert [ref["path"] for ref in sections["documents"]["refs"]] == ["docs/zebras.md"]
    assert "never eats hay at night" in sections["memory"]["description"]
    text = client.call("output", {"id": pack["id"]})["content"][0]["text"]
    assert estimate_tokens(text) <= 900
    assert "Give hay to the zebra" in text
    assert "A zebra eats hay every morning." in text
    refused = client.error("input", {**asked, "query": "xylophone quartz"})
    assert refused["code"] == "not_found"
    assert client.error("input", {"action": "draft", "query": "zebra"})["code"] == "ttl_required"


@pytest.mark.clause("ME-50")
def test_the_command_line_drafts_and_prints(project: Path) -> None:
    run = CommandLine(project)
    done = run("packs", "draft", "how is a zebra fed", "--json", "--max-tokens", "700", **FAST)
    assert done.code == 0
    assert done.json["tokens"] <= 700
    shown = run("packs", "draft", "how is a zebra fed", **FAST)
    assert "def feed_zebra():" in shown.out
    nothing = run("packs", "draft", "xylophone quartz", **FAST)
    assert nothing.code == 1
    assert "nothing was found for that question" in nothing.err
