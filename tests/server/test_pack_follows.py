"""Packs over a changing project, as the command line serves it: its own excerpts are never taken for code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

CODE = "".join(f"def step_{number}():\n    return {number} * {number + 1}\n\n\n" for number in range(9))


def asked(cli: CommandLine, **arguments: Any) -> dict[str, Any]:
    payload: dict[str, Any] = cli("call", "input", json.dumps(arguments)).json["payload"]
    return payload


@pytest.mark.parametrize("edited", ["renamed", "changed"])
def test_a_stored_excerpt_is_never_found_as_the_code_of_a_ref(tmp_path: Path, edited: str) -> None:
    cli = CommandLine(tmp_path)
    (tmp_path / "steps.py").write_text(CODE)
    pack = asked(cli, action="create", name="demo", ttl_minutes=60)
    common = {"id": pack["id"], "section_key": "main"}
    asked(cli, action="upsert_section", section_title="Main", expected_revision=1, **common)
    ref = {"action": "upsert_ref", "ref_key": "step", "path": "steps.py", "symbol": "step_3"}
    assert asked(cli, **ref, expected_revision=2, **common)["changed"]["state"] == "exact"
    assert list((tmp_path / ".agents/mcp/context_pack/excerpts").iterdir())
    if edited == "renamed":
        (tmp_path / "steps.py").rename(tmp_path / "paces.py")
        told = "- path: paces.py (moved from steps.py)"
    else:
        (tmp_path / "steps.py").write_text(CODE.replace("return 3 * 4", "return 3 * 4 + 1"))
        told = "- refs: 1 (1 changed)"
    shown = cli("packs", "show", "demo").out
    assert told in shown
    assert "excerpts" not in shown
    found = cli("grep", "def step_3").out
    assert ("paces.py" if edited == "renamed" else "steps.py") in found
    assert "excerpts" not in found
