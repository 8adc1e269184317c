"""`context-pack contexts …` as people and CI jobs run it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from context_trees import PROJECT, context
from file_trees import lay

from context_pack.kernel.yaml_documents import load


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return lay(tmp_path / "shop", dict(PROJECT))


@pytest.fixture
def contexts(project: Path) -> CommandLine:
    return CommandLine(project)


def record(path: Path) -> dict[str, Any]:
    """What a context file says."""
    value: dict[str, Any] = load(path.read_bytes())
    return value


@pytest.mark.clause("CX-30", "CX-31", "CX-41", "CX-44")
def test_refresh_makes_fresh_contexts_and_keeps_hand_written_text(
    project: Path, contexts: CommandLine
) -> None:
    first = contexts("contexts", "status")
    assert (first.code, first.out.splitlines()[-1]) == (1, "0 fresh, 0 stale, 5 missing")
    made = contexts("contexts", "init")
    assert (made.code, made.out.splitlines()[-1]) == (0, "5 made, 0 updated, 0 unchanged")
    assert contexts("contexts", "status").code == 0
    assert record(project / "billing/.context.yaml")["summary"] == "Billing of the shop."
    written = (project / "billing/.context.yaml").read_text()
    assert re.search(r"^fingerprint: '?[0-9a-f]{8}'?$", written, re.MULTILINE)
    assert re.search(r"^last_updated: '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ'$", written, re.MULTILINE)
    assert not (project / "AGENTS.md").exists()

    mine = (
        written.replace("Billing of the shop.", "Money in, money out.", 1)
        + "decisions:\n- what: a\n  why: b\n"
    )
    (project / "billing/.context.yaml").write_text(mine)
    lay(project, {"billing/refund.py": '"""Refunds."""\n'})
    stale = contexts("contexts", "status", "--quiet")
    assert (stale.code, stale.out.splitlines()[0].split()[:2]) == (1, ["stale", "billing"])
    again = contexts("contexts", "init")
    assert (again.code, again.out.splitlines()[-1]) == (0, "0 made, 0 updated, 5 unchanged")
    refreshed = contexts("contexts", "refresh", "billing")
    assert (refreshed.code, refreshed.out.splitlines()[-1]) == (0, "0 made, 1 updated, 0 unchanged")
    now = record(project / "billing/.context.yaml")
    assert now["summary"] == "Money in, money out."
    assert now["decisions"] == [{"what": "a", "why": "b"}]
    assert "refund.py" in [entry["name"] for entry in now["files"]]
    assert contexts("contexts", "refresh").code == 0
    assert contexts("contexts", "status", "--json").json["ok"] is True


@pytest.mark.clause("CX-41")
def test_status_fails_with_what_is_wrong(project: Path, contexts: CommandLine) -> None:
    contexts("contexts", "refresh")
    lay(project, {"src/.context.yaml": "version: 1\nversion: 1\n", "docs/.context.yaml": "version: 3\n"})
    status = contexts("contexts", "status", "--json")
    assert status.code == 1
    assert {entry["scope"] for entry in status.json["entries"] if "reason" in entry} == {"src", "docs"}
    told = contexts("contexts", "status").out
    assert re.search(r"^corrupt +docs +unsupported schema version 3$", told, re.MULTILINE)
    assert contexts("contexts", "status", "--schema").json["title"] == ".context.yaml"
    left = contexts("contexts", "refresh")
    assert left.code == 0
    assert re.search(r"^left +src ", left.out, re.MULTILINE)
    assert (project / "src/.context.yaml").read_text() == "version: 1\nversion: 1\n"


@pytest.mark.clause("CX-44")
def test_show_prints_the_file_as_it_is(project: Path, contexts: CommandLine) -> None:
    text = "# mine\n" + context("src") + "todos: [a,   b]\n"
    lay(project, {"src/.context.yaml": text})
    shown = contexts("contexts", "show", "src")
    assert (shown.code, shown.out) == (0, text)
    told = contexts("contexts", "show", "src", "--json").json
    assert (told["scope"], told["state"], told["context"]["todos"]) == ("src", "stale", ["a", "b"])
    lay(project, {"src/.context.yaml": "version: 9\n"})
    assert contexts("contexts", "show", "src").out == "version: 9\n"
    for scope, words in (("nowhere", "No .context.yaml found"), ("../..", "path traversal")):
        refused = contexts("contexts", "show", scope)
        assert refused.code == 1
        assert words in refused.err


@pytest.mark.clause("CX-42")
def test_agents_md_is_written_only_on_request_and_the_root_stays_fresh(
    project: Path, contexts: CommandLine
) -> None:
    file = project / "AGENTS.md"
    assert contexts("contexts", "init").code == 0
    assert not file.exists()
    file.write_text("# Ours\n\nBe kind.\n")
    assert contexts("contexts", "init", "--agents").out.startswith("updated   AGENTS.md\n")
    text = file.read_text()
    assert text.startswith("# Ours\n\nBe kind.\n\n<!-- context-pack:contexts -->\n## Directory contexts\n")
    assert contexts("contexts", "status").code == 0
    file.write_text(text.replace("Be kind.", "Be quick.").replace("decisions", "choices") + "\nAfter.\n")
    assert contexts("contexts", "refresh", "--agents").code == 0
    assert file.read_text() == text.replace("Be kind.", "Be quick.") + "\nAfter.\n"
    assert "AGENTS.md" not in contexts("contexts", "refresh", "--agents").out
    file.unlink()
    file.symlink_to("README.md")
    assert "left      AGENTS.md  it is a link" in contexts("contexts", "refresh", "--agents").out


@pytest.mark.clause("CX-32", "CX-30", "CX-42", "CX-44")
def test_options_choose_the_fingerprint_and_the_block_for_agents(
    project: Path, contexts: CommandLine
) -> None:
    assert contexts("contexts", "refresh", "--fingerprint", "stat", "--agents").code == 0
    assert "context-pack:contexts" in (project / "AGENTS.md").read_text()
    checked = contexts("call", "check_freshness", "scope=src").json
    assert (checked["state"], checked["fingerprint"]["method"]) == ("fresh", "stat")
    assert contexts("contexts", "refresh", "--fingerprint", "content", "--agents").code == 0
    checked = contexts("call", "check_freshness", "scope=src").json
    assert (checked["state"], checked["fingerprint"]["method"]) == ("fresh", "content")
    for words, code in (
        (("nowhere",), 1),
        (("../..",), 1),
        (("src", "--agents"), 2),
        (("--fingerprint", "x"), 2),
    ):
        assert contexts("contexts", "refresh", *words).code == code, words
