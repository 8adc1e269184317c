"""Patterns that grow when they are compiled stop no tool that takes one, from arguments or from files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bundle_maker import bundle_files, schema, target, write_files
from document_trees import configure, lay
from growing_patterns import GROWING_PATTERNS
from stdio_client import StdioClient

MOST_KB = 400_000
"""Of memory at any moment; the smallest of these patterns takes 2 GB."""


def _plant(root: Path) -> None:
    """A project that has every growing pattern wherever a project can have one."""
    fields = {
        f"f{number}": {"type": "string", "pattern": text} for number, text in enumerate(GROWING_PATTERNS)
    }
    node = schema(id={"type": "string"}, **fields)
    node["patternProperties"] = {text: {"type": "string"} for text in GROWING_PATTERNS}
    entity = {"id": "a", **dict.fromkeys(fields, "a" * 200)}
    write_files(root / "bundle", bundle_files({"Node": [entity]}, {"Node": node}))
    lay(root, {"docs/guide.md": "# Guide\n\nWords.\n", ".gitignore": "\n".join(GROWING_PATTERNS) + "\n"})
    entries = enumerate({"url": "./docs", "include": [text], "sources": [text]} for text in GROWING_PATTERNS)
    configure(root, **{f"c{number}": entry for number, entry in entries})
    lay(root, {"a.py": "aaa = 1\n", "pnpm-workspace.yaml": f"packages:\n  - '{GROWING_PATTERNS[0]}'\n"})


@pytest.mark.clause("KN-36")
def test_growing_patterns_stop_no_tool_that_takes_one(
    tmp_path: Path, spawn: Callable[..., StdioClient]
) -> None:
    _plant(tmp_path)
    client = spawn(env={"CONTEXT_PACK_DENY": ",".join(GROWING_PATTERNS)})
    client.initialize()
    for pattern in GROWING_PATTERNS:
        client.call("grep_codebase", {"pattern": pattern})
        client.call("grep_codebase", {"pattern": "a", "filePattern": pattern})
        client.call("find_usages", {"name": "aaa", "filePattern": pattern})
        assert "result" in client.request("ping")
    client.call("export_context", {"targets": [target("a")]})
    client.call("read_file", {"path": "a.py"})
    client.call("documents_search", {"query": "words"})
    client.call("context_search", {"query": "words"})
    assert "result" in client.request("ping")
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0])
    assert peak < MOST_KB
