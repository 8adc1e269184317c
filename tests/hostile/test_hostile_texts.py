"""One table of (tool, hostile text): each call ends within its deadline, and the next one is answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bundle_maker import bundle_files, target, write_files
from command_line import CommandLine
from stdio_client import StdioClient

SECONDS = "2"
DOUBLING = {
    "$ref": "#/$defs/d0",
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}},
}
LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 40))
DEEP = "[" * 100_000
PACK = ".agents/mcp/context_pack/packs/pk_aaaaaaaa.md"
EXPORT = ("export_context", {"targets": [target("n")]})
QUERY = ("query_context", {"scope": "."})
LIST = ("input", {"action": "list"})
TABLE: dict[str, tuple[tuple[str, dict[str, Any]], str, str]] = {
    "a schema that doubles": (EXPORT, "schemas/Node.json", json.dumps(DOUBLING)),
    "an entity of aliases": (EXPORT, "bundle/node/0000.yaml", LAUGHS),
    "a deep entity": (EXPORT, "bundle/node/0000.yaml", DEEP),
    "a deep manifest": (EXPORT, "sdd-bundle.yaml", DEEP),
    "a context of aliases": (QUERY, ".context.yaml", LAUGHS),
    "a deep context": (QUERY, ".context.yaml", DEEP),
    "a pack of aliases": (LIST, PACK, f"---\n{LAUGHS}---\n"),
    "a deep pack": (LIST, PACK, f"---\n{DEEP}\n---\n"),
}


def laid(folder: Path, case: str) -> tuple[str, dict[str, Any]]:
    """A project with the hostile file of a case; the call that reads it."""
    call, path, text = TABLE[case]
    write_files(folder, {**bundle_files({"Node": [{"id": "n", "x": 5}]}), "a.py": "A = 1\n", path: text})
    return call


@pytest.mark.clause("BD-11", "BD-15", "CX-24", "TR-52")
@pytest.mark.parametrize("case", TABLE)
def test_a_hostile_file_ends_with_its_call_and_harms_no_other(tmp_path: Path, case: str) -> None:
    tool, arguments = laid(tmp_path, case)
    client = StdioClient(tmp_path, env={"CONTEXT_PACK_CALL_SECONDS": SECONDS})
    try:
        client.initialize()
        assert client.call(tool, arguments)["isError"]
        assert "A = 1" in str(client.call("read_file", {"path": "a.py"}))
        assert client.end()[0] == 0
    finally:
        client.kill()


@pytest.mark.clause("BD-15")
def test_checking_a_bundle_on_the_command_line_has_a_deadline(tmp_path: Path) -> None:
    laid(tmp_path, "a schema that doubles")
    done = CommandLine(tmp_path)("bundles", "check", CONTEXT_PACK_CALL_SECONDS=SECONDS)
    assert done.code == 1
    assert "longer than 2 s" in done.err
