"""One table of (tool, hostile text): each call ends within its deadline, and the next one is answered."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from bundle_maker import bundle_files, schema, target, write_files
from growing_patterns import GROWING_PATTERNS
from hanging import never_hanging
from stdio_client import StdioClient

from context_pack.contexts.edits import revise
from context_pack.packs.following import similar_block

SECONDS = "2"
MOST_KB = 400_000
"""Of memory at any moment; the smallest of the growing patterns takes 2 GB."""
DOUBLING = {
    "$ref": "#/$defs/d0",
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}},
}
LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 40))
DEEP = "[" * 100_000
PACK = ".agents/mcp/context_pack/packs/pk_aaaaaaaa.md"
DISCOVERY = ".agents/mcp/context_pack/memory/discoveries/00000000-0000-4000-8000-000000000000.md"
TRAP = "a" * 90 + "?!\n"

Call = tuple[str, dict[str, Any]]
EXPORT: Call = ("export_context", {"targets": [target("n")]})
QUERY: Call = ("query_context", {"scope": "."})
LIST: Call = ("input", {"action": "list"})
SEARCH: Call = ("documents_search", {"query": "words"})
REFUSED: dict[str, tuple[Call, str, str]] = {
    "a schema that doubles": (EXPORT, "schemas/Node.json", json.dumps(DOUBLING)),
    "an entity of aliases": (EXPORT, "bundle/node/0000.yaml", LAUGHS),
    "a deep entity": (EXPORT, "bundle/node/0000.yaml", DEEP),
    "a deep manifest": (EXPORT, "sdd-bundle.yaml", DEEP),
    "a context of aliases": (QUERY, ".context.yaml", LAUGHS),
    "a deep context": (QUERY, ".context.yaml", DEEP),
    "a pack of aliases": (LIST, PACK, f"---\n{LAUGHS}---\n"),
    "a deep pack": (LIST, PACK, f"---\n{DEEP}\n---\n"),
    "a pattern that never ends": (("grep_codebase", {"pattern": "(a|aa)+!$(?!x)"}), "trap.txt", TRAP),
    "a discovery of aliases": (("context_search", {"query": "words"}), DISCOVERY, f"---\n{LAUGHS}---\n"),
}
ENDED: dict[str, tuple[Call, str, str]] = {
    "a deep list of collections": (SEARCH, "context.json", DEEP),
    "deep code": (("code_outline", {"path": "deep.py"}), "deep.py", DEEP),
    "deep imports": (("read_file", {"path": "deep.ts", "includeDeps": True}), "deep.ts", DEEP),
    "a deep tsconfig": (("read_file", {"path": "x.ts", "includeDeps": True}), "tsconfig.json", DEEP),
    "one long line": (("find_usages", {"name": "aaa"}), "long.py", "aaa " * 500_000),
    "growing globs": (SEARCH, ".gitignore", "\n".join(GROWING_PATTERNS)),
}
"""Where something is told: what could not be read is named beside an answer, or is no part of it."""


@pytest.mark.clause("BD-11", "BD-15", "CX-24", "TR-52")
@pytest.mark.parametrize("case", [*REFUSED, *ENDED])
def test_a_hostile_file_ends_with_its_call_and_harms_no_other(tmp_path: Path, case: str) -> None:
    (tool, arguments), path, text = (REFUSED | ENDED)[case]
    files = bundle_files({"Node": [{"id": "n", "x": 5}]})
    write_files(tmp_path, {**files, "a.py": "A = 1\n", "x.ts": 'import "y";\n', path: text})
    with StdioClient(tmp_path, env={"CONTEXT_PACK_CALL_SECONDS": SECONDS}) as client:
        client.initialize()
        assert client.call(tool, arguments)["isError"] or case in ENDED
        assert "A = 1" in str(client.call("read_file", {"path": "a.py"}))
        assert client.end()[0] == 0


@pytest.mark.clause("KN-36")
def test_patterns_that_grow_when_they_are_compiled_take_no_memory(tmp_path: Path) -> None:
    fields = {f"f{n}": {"type": "string", "pattern": text} for n, text in enumerate(GROWING_PATTERNS)}
    node = schema(id={"type": "string"}, **fields)
    entity = {"id": "n", **dict.fromkeys(fields, "a" * 200)}
    write_files(tmp_path, {**bundle_files({"Node": [entity]}, {"Node": node}), "a.py": "aaa = 1\n"})
    with StdioClient(tmp_path, env={"CONTEXT_PACK_DENY": ",".join(GROWING_PATTERNS)}) as client:
        client.initialize()
        for pattern in GROWING_PATTERNS:
            client.call("grep_codebase", {"pattern": pattern})
            client.call("find_usages", {"name": "aaa", "filePattern": pattern})
        client.call(*EXPORT)
        status = Path(f"/proc/{client.process.pid}/status").read_text()
        assert int(status.partition("VmHWM:")[2].split()[0]) < MOST_KB
        assert client.end()[0] == 0


@pytest.mark.clause("AN-07")
def test_a_large_file_whose_lines_repeat_just_below_one_in_a_hundred_is_compared() -> None:
    chance = random.Random(3)
    words = [f"a{number:03}" for number in range(101)]
    kept = [line for number in range(1000) for line in (chance.choice(words), f"o{number}")]
    lines = [chance.choice(words) if number % 2 else f"u{number}" for number in range(300_000)]
    with never_hanging():
        assert similar_block(kept, [*lines[:200_000], *kept, *lines[200_000:]]) is not None


@pytest.mark.clause("CX-32")
def test_a_field_with_very_many_blank_lines_is_edited() -> None:
    text = "summary: old\nmaintenance: |\n" + "\n" * 200_000 + "  end\nlast_updated: now\n"
    with never_hanging():
        changed = revise(text.encode(), {"summary": "new"})
    assert changed is not None
    assert changed.decode() == text.replace("old", "new")
