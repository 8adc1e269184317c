"""The three context tools over stdio, in both transports, in the very shapes of their specification."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from context_trees import context, plant
from stdio_client import Mode, StdioClient

Spawn = Callable[..., StdioClient]
CORE: dict[str, Any] = {
    "decisions": [{"what": "Fingerprint uses stat() only", "why": "Performance"}],
    "todos": ["Write more"],
}
FILES: dict[str, str | bytes] = {
    ".context.config.yaml": "min_tokens: 0\n",
    "a.py": "x = 1\n",
    "src/core/lib.rs": "fn a() {}\n",
    "src/core/.context.yaml": context("src/core", **CORE),
    "later/a.py": "",
    "later/.context.yaml": "version: 2\n",
    "broken/a.py": "",
    "broken/.context.yaml": "version: 1\nversion: 1\n",
}
MISSING = (
    'No .context.yaml found at scope "{}". This scope may be below the min_tokens threshold; '
    "use list_contexts to see eligible scopes."
)
EMPTY: dict[str, Any] = {"total_directories": 0, "skipped_directories": 0, "tracked": 0, "entries": []}


@pytest.fixture
def served(tmp_path: Path, spawn: Spawn, mode: Mode) -> StdioClient:
    """A server over a small project, and one more folder that it may be asked about."""
    plant(tmp_path / "project", FILES)
    plant(tmp_path / "allowed", {"lib/c.py": "", "lib/.context.yaml": context("lib")})
    client = spawn(
        mode,
        source_root=tmp_path / "project",
        env={"CONTEXT_PACK_ALLOWED_ROOTS": os.pathsep.join(["/nowhere", str(tmp_path / "allowed")])},
    )
    client.initialize()
    return client


def keys(value: dict[str, Any]) -> list[str]:
    """The names of the fields as they come."""
    return list(value)


@pytest.mark.clause("CX-15", "CX-24", "CX-51")
def test_a_list_has_the_specified_shape(served: StdioClient, tmp_path: Path) -> None:
    result = served.call("list_contexts")
    assert result.get("isError", False) is False
    listed = served.payload("list_contexts", {})
    assert result["structuredContent"] == listed
    assert keys(listed) == [
        "root",
        "total_directories",
        "skipped_directories",
        "tracked",
        "warnings",
        "entries",
    ]
    assert listed["root"] == str(tmp_path / "project")
    assert [listed[name] for name in keys(listed)[1:5]] == [5, 0, 1, 0]
    corrupt = next(entry for entry in listed["entries"] if entry["scope"] == "broken")
    assert corrupt.pop("reason").startswith("corrupt: ")
    assert listed["entries"] == [
        {"scope": ".", "state": "missing", "has_context": False},
        {"scope": "broken", "state": "missing", "has_context": False},
        {
            "scope": "later",
            "state": "missing",
            "has_context": False,
            "reason": "unsupported schema version 2",
        },
        {"scope": "src", "state": "missing", "has_context": False},
        {
            "scope": "src/core",
            "state": "stale",
            "has_context": True,
            "last_updated": "2026-02-13T10:00:00Z",
            "summary": "A folder.",
        },
    ]


@pytest.mark.clause("CX-16", "CX-21", "CX-22", "CX-24", "CX-25", "CX-51")
def test_refusals_have_the_specified_shapes_and_texts(served: StdioClient, tmp_path: Path) -> None:
    root = tmp_path / "project"
    corrupt = 'Invalid or corrupt .context.yaml at scope "broken"'
    later = (
        "Unsupported schema version 2 (this tool supports version 1). Upgrade dotcontext to read this file."
    )
    texts = {
        "src/unknown": MISSING.format("src/unknown"),
        "../../etc": "Invalid scope: path traversal detected",
        "/etc": "Invalid scope: path traversal detected",
        "later": later,
        "broken": corrupt,
    }
    for scope, text in texts.items():
        for tool, shape in (("query_context", {"found": False}), ("check_freshness", {"state": "missing"})):
            refused = served.error(tool, {"scope": scope})
            refused.pop("reason", None)
            assert refused == {**shape, "scope": scope, "error": text}
    nowhere = f'Failed to scan project at "{root}/nowhere"'
    assert served.error("list_contexts", {"path": "nowhere"}) == {
        "root": f"{root}/nowhere",
        **EMPTY,
        "error": nowhere,
    }
    denied = f'Path not allowed: "{tmp_path}"'
    assert served.error("list_contexts", {"path": str(tmp_path)}) == {
        "root": str(tmp_path),
        **EMPTY,
        "error": denied,
    }
    assert served.error("check_freshness", {"scope": "x", "path": str(tmp_path)}) == {
        "scope": "x",
        "state": "missing",
        "error": denied,
    }
    for arguments in ({}, {"scope": 1}, {"scope": ".", "filter": "summary"}, {"scope": ".", "path": 3}):
        refused = served.error("query_context", arguments)
        assert (refused["found"], refused["error"].startswith("Invalid arguments: ")) == (False, True)
    assert served.payload("query_context", {"scope": "src/core", "bogus": 1})["found"] is True


@pytest.mark.clause("CX-22", "CX-51")
def test_another_root_is_served_where_it_is_allowed(served: StdioClient, tmp_path: Path) -> None:
    allowed = str(tmp_path / "allowed")
    listed = served.payload("list_contexts", {"path": allowed})
    assert (listed["root"], [entry["scope"] for entry in listed["entries"]]) == (allowed, ["."])
    assert listed["skipped_directories"] == 1
    asked = {"scope": "lib", "path": allowed}
    assert served.payload("query_context", asked)["context"]["scope"] == "lib"
    assert served.payload("check_freshness", asked)["state"] == "stale"
    inside = served.payload("list_contexts", {"path": "src"})
    assert inside["root"] == str(tmp_path / "project/src")
