"""The three tools' answers and refusals, word by word, over a project."""

from __future__ import annotations

import json
from typing import Any

import pytest
from context_trees import Asked, Files, context, disk_contexts

from context_pack.contexts.fingerprint import Method
from context_pack.contexts.ports import Projects
from context_pack.contexts.queries import ContextQueries
from context_pack.contexts.tools import PREFIX, resources

MISSING = (
    'No .context.yaml found at scope "{}". This scope may be below the min_tokens threshold; '
    "use list_contexts to see eligible scopes."
)
FILES: dict[str, str | bytes] = {
    ".context.config.yaml": "min_tokens: 0\n",
    "a.py": "x = 1\n",
    "src/core/lib.rs": "fn a() {}\n",
    "src/core/.context.yaml": context("src/core", decisions=[{"what": "w", "why": "y"}], todos=["t"]),
    "later/a.py": "",
    "later/.context.yaml": "version: 2\n",
    "broken/a.py": "",
    "broken/.context.yaml": "version: 1\nversion: 1\n",
    "..foo/a.py": "",
    "..foo/.context.yaml": context("..foo"),
}


@pytest.fixture
def files() -> Files:
    return Files(FILES)


@pytest.fixture
def ports(files: Files) -> Projects:
    return disk_contexts(files.root)


@pytest.fixture
def asked(ports: Projects) -> Asked:
    return Asked(ports)


@pytest.mark.clause("CX-14")
def test_a_list_has_the_promised_fields_with_reasons_and_warnings(asked: Asked) -> None:
    listed = asked.ok("list_contexts")
    assert list(listed) == [
        "root",
        "total_directories",
        "skipped_directories",
        "tracked",
        "warnings",
        "entries",
    ]
    assert (listed["total_directories"], listed["tracked"], listed["warnings"]) == (5, 1, 0)
    entries = {entry["scope"]: entry for entry in listed["entries"]}
    assert list(entries) == sorted(entries)
    assert entries["src"] == {"scope": "src", "state": "missing", "has_context": False}
    assert entries["src/core"] == {
        "scope": "src/core",
        "state": "stale",
        "has_context": True,
        "last_updated": "2026-02-13T10:00:00Z",
        "summary": "A folder.",
    }
    assert entries["later"] == {
        "scope": "later",
        "state": "missing",
        "has_context": False,
        "reason": "unsupported schema version 2",
    }
    assert entries["broken"]["reason"].startswith("corrupt: ")
    assert entries["broken"]["state"] == "missing"


@pytest.mark.clause("CX-07")
def test_a_freshness_check_returns_both_fingerprints_and_the_method(
    asked: Asked, ports: Projects, files: Files
) -> None:
    stale = asked.ok("check_freshness", scope="src/core")
    assert list(stale) == ["scope", "state", "fingerprint", "last_updated"]
    assert stale["state"] == "stale"
    assert stale["fingerprint"]["stored"] == "00000000"
    assert stale["fingerprint"]["method"] == "stat"
    for method in ("stat", "content"):
        project = ports.open(None)
        folder = project.find("src/core")
        value = folder.fingerprint(Method(method))  # type: ignore[union-attr]
        files["src/core/.context.yaml"] = context("src/core", value)  # type: ignore[arg-type]
        fresh = asked.ok("check_freshness", scope="src/core")
        assert fresh["state"] == "fresh"
        assert fresh["fingerprint"] == {"stored": value, "computed": value, "method": method}


@pytest.mark.clause("CX-20")
@pytest.mark.parametrize(
    "scope",
    [
        "src/core",
        "src\\core",
        "src/core/",
        "./src/core",
        "src//core",
        "src/../src/core",
        "{root}/src/core",
        "nope/../src/core",
    ],
)
def test_a_scope_is_echoed_as_given_and_found_as_meant(asked: Asked, files: Files, scope: str) -> None:
    scope = scope.format(root=files.root)
    found = asked.ok("query_context", scope=scope, filter=["todos"])
    assert (found["found"], found["scope"]) == (True, scope)
    assert found["context"]["scope"] == "src/core"
    assert asked.ok("check_freshness", scope=scope)["scope"] == scope


@pytest.mark.clause("CX-20")
@pytest.mark.parametrize("scope", ["..", "../x", "..\\..\\etc", "/etc", "src/../../x", "../../etc"])
def test_a_scope_that_leads_out_is_a_traversal(asked: Asked, scope: str) -> None:
    words = "Invalid scope: path traversal detected"
    assert asked.error("query_context", scope=scope) == {"found": False, "scope": scope, "error": words}
    assert asked.error("check_freshness", scope=scope) == {"scope": scope, "state": "missing", "error": words}


@pytest.mark.clause("CX-24")
def test_missing_unsupported_and_corrupt_contexts_have_fixed_messages(asked: Asked) -> None:
    unsupported = (
        "Unsupported schema version 2 (this tool supports version 1). Upgrade dotcontext to read this file."
    )
    for scope, words in (
        ("src/unknown", MISSING.format("src/unknown")),
        ("a.py", MISSING.format("a.py")),
        ("later", unsupported),
        ("broken", 'Invalid or corrupt .context.yaml at scope "broken"'),
    ):
        query, check = asked.error("query_context", scope=scope), asked.error("check_freshness", scope=scope)
        assert {key: query[key] for key in ("found", "scope", "error")} == {
            "found": False,
            "scope": scope,
            "error": words,
        }
        assert {key: check[key] for key in ("scope", "state", "error")} == {
            "scope": scope,
            "state": "missing",
            "error": words,
        }
    assert asked.error("query_context", scope="broken")["reason"].startswith("corrupt: ")


@pytest.mark.clause("CX-23")
def test_a_filter_selects_fields_and_lists_unknown_names(asked: Asked) -> None:
    found = asked.ok(
        "query_context", scope="src/core", filter=["todos", "nope", "evidence", "scope", "summary"]
    )
    assert list(found["context"]) == ["version", "scope", "fingerprint", "last_updated", "todos", "summary"]
    assert found["unknown_fields"] == ["nope", "evidence"]
    whole = asked.ok("query_context", scope="src/core", filter=[])
    assert whole == asked.ok("query_context", scope="src/core")
    assert list(whole["context"]) == [
        "version",
        "last_updated",
        "fingerprint",
        "scope",
        "summary",
        "maintenance",
        "decisions",
        "todos",
    ]
    assert "unknown_fields" not in whole


@pytest.mark.clause("CX-24")
def test_a_root_that_is_no_folder_is_a_scan_error(asked: Asked, files: Files) -> None:
    nowhere = f"{files.root}/nope"
    words = f'Failed to scan project at "{nowhere}"'
    assert asked.error("list_contexts", path="nope") == {
        "root": nowhere, "total_directories": 0, "skipped_directories": 0, "tracked": 0, "entries": [],
        "error": words,
    }  # fmt: skip
    assert asked.error("query_context", scope=".", path="nope")["error"] == words
    assert asked.error("check_freshness", scope=".", path=nowhere)["error"] == words


@pytest.mark.clause("CX-25")
@pytest.mark.parametrize(
    ("tool", "arguments", "shape"),
    [
        ("query_context", {}, {"found": False, "scope": ""}),
        ("query_context", {"scope": ".", "filter": "summary"}, {"found": False, "scope": "."}),
        ("query_context", {"scope": ".", "path": None}, {"found": False, "scope": "."}),
        ("check_freshness", {}, {"scope": "", "state": "missing"}),
        ("list_contexts", {"path": 1}, {"root": "", "tracked": 0, "entries": []}),
    ],
)
def test_bad_arguments_are_refused_in_the_tools_own_shape(
    asked: Asked, tool: str, arguments: Any, shape: Any
) -> None:
    body, is_error = asked.raw(tool, **arguments)
    assert is_error
    assert shape.items() <= body.items()
    assert body["error"].startswith("Invalid arguments: ")
    assert body["details"][0]["path"].startswith("$")


@pytest.mark.clause("CX-25")
def test_arguments_that_a_tool_does_not_know_are_ignored(asked: Asked) -> None:
    assert asked.ok("query_context", scope="src/core", bogus=1) == asked.ok("query_context", scope="src/core")
    assert asked.ok("list_contexts", bogus=1) == asked.ok("list_contexts")


@pytest.mark.clause("CX-27")
def test_a_scope_is_a_resource_with_its_state(ports: Projects, files: Files) -> None:
    family = resources(ContextQueries(ports))
    for uri in (f"{PREFIX}src/core", f"{PREFIX}src%2Fcore"):
        read = family.read(uri)
        assert read is not None
        assert read.mime_type == "application/json"
        body = json.loads(read.text)
        assert (body["state"], body["context"]["todos"]) == ("stale", ["t"])
    for scope in ("nope", "later", "broken", "..%2F..%2Fetc", "%2Fetc", ""):
        assert family.read(PREFIX + scope) is None
    assert family.entries() == []
    files.update({".context.yaml": context("."), "src/.context.yaml": context("src"), "src/b.py": ""})
    assert [(entry.uri, entry.description) for entry in family.entries()] == [
        (f"{PREFIX}.", "A folder."),
        (f"{PREFIX}src", "A folder."),
    ]
