"""What a parsed file is, and its parts; which folders count; the two fingerprints, to the bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from context_trees import MINIMAL, Asked, context, disk_contexts
from file_trees import lay
from jsonschema import Draft202012Validator

from context_pack.contexts.fingerprint import compared, fingerprint, stat_row
from context_pack.contexts.model import (
    CONTEXT_SCHEMA,
    FIELDS,
    REQUIRED,
    Context,
    Corrupt,
    Unsupported,
    validated,
)
from context_pack.contexts.ports import Scan
from context_pack.contexts.scan import ScanRules, read_rules
from context_pack.kernel.ports import Reason
from context_pack.kernel.yaml_documents import load

BASE: Mapping[str, Any] = load(MINIMAL)
FULL: Mapping[str, Any] = {
    **BASE,
    "files": [{"name": "a.py", "purpose": "A", "test_file": "test_a.py"}],
    "interfaces": [{"name": "run", "description": "Runs"}],
    "decisions": [{"what": "w", "why": "y", "tradeoff": "t"}, {"what": "w", "why": "y"}],
    **{name: ["one", "two"] for name in ("constraints", "environment", "testing", "todos", "data_models")},
    **{name: ["one"] for name in ("events", "config", "exports", "derived_fields")},
    "dependencies": {"internal": ["./a"], "external": ["attrs"]},
    "current_state": {"working": ["a"], "broken": [], "in_progress": ["b"]},
    "subdirectories": [{"name": "core/", "summary": "Core"}],
    "project": {
        "name": "p",
        "description": "d",
        "language": "python",
        "framework": "f",
        "package_manager": "m",
    },
    "structure": [{"path": "src", "summary": "Source"}],
    "evidence": {
        "collected_at": "2026-02-13T10:00:00Z",
        "commit_sha": "abc",
        "test_status": "passing",
        "test_count": 12,
        "failing_tests": ["a"],
        "test_tool": "pytest",
        "typecheck": "clean",
        "typecheck_tool": "mypy",
        "lint_status": "unknown",
        "lint_tool": "ruff",
        "coverage_percent": 97.5,
    },
}


def valid(value: Any) -> Context:
    verdict = validated(value)
    assert isinstance(verdict, Context), verdict
    return verdict


@pytest.mark.clause("CX-01")
def test_every_field_of_the_format_is_read_and_shown_in_schema_order() -> None:
    assert dict(valid(dict(reversed(list(FULL.items())))).record) == dict(FULL)
    assert tuple(valid(FULL).record) == FIELDS
    assert tuple(valid(BASE).record) == REQUIRED


@pytest.mark.clause("CX-01")
@pytest.mark.parametrize("name", REQUIRED)
def test_a_file_without_a_required_field_is_corrupt(name: str) -> None:
    verdict = validated({key: value for key, value in FULL.items() if key != name})
    assert isinstance(verdict, Corrupt)
    assert name in verdict.reason


@pytest.mark.clause("CX-01")
@pytest.mark.parametrize("name", [field for field in FIELDS if field != "version"])
@pytest.mark.parametrize("wrong", [None, 7, True, {"a": 1}, [1], [None]])
def test_a_field_of_the_wrong_type_or_null_makes_the_file_corrupt(name: str, wrong: Any) -> None:
    if name in ("dependencies", "current_state") and wrong == {"a": 1}:
        assert valid({**FULL, name: wrong}).record[name] == {}
        return
    assert isinstance(validated({**FULL, name: wrong}), Corrupt)


@pytest.mark.clause("CX-01")
@pytest.mark.parametrize("extra", ["extra", "<<", "1", ""])
def test_unknown_top_level_and_evidence_keys_are_refused_others_dropped(extra: str) -> None:
    assert isinstance(validated({**FULL, extra: "x"}), Corrupt)
    assert isinstance(validated({**FULL, "evidence": {**FULL["evidence"], extra: "x"}}), Corrupt)
    nested = {
        "files": [{**FULL["files"][0], extra: {"deep": [1]}}],
        "dependencies": {**FULL["dependencies"], extra: None},
        "project": {**FULL["project"], extra: 1},
    }
    assert dict(valid({**FULL, **nested}).record) == dict(FULL)


@pytest.mark.clause("CX-03")
@pytest.mark.parametrize(
    ("version", "shown"),
    [
        (2, "2"),
        (2.0, "2"),
        (1.5, "1.5"),
        (float("inf"), "inf"),
        (1.0000001, "1.0000001"),
    ],
)
def test_a_number_above_one_is_a_later_version_whatever_else_the_file_holds(
    version: float, shown: str
) -> None:
    assert validated({"version": version, "anything": None}) == Unsupported(shown)


@pytest.mark.clause("CX-03")
@pytest.mark.parametrize(
    "version", [0, -1, 0.5, "1", "2", True, False, None, [1], float("nan"), float("-inf")]
)
def test_any_other_wrong_version_is_corrupt(version: Any) -> None:
    verdict = validated({**BASE, "version": version})
    assert isinstance(verdict, Corrupt)
    assert "version" in verdict.reason


@pytest.mark.clause("CX-01")
def test_the_published_schema_is_a_schema_and_agrees_with_the_reader() -> None:
    Draft202012Validator.check_schema(CONTEXT_SCHEMA)
    judge = Draft202012Validator(CONTEXT_SCHEMA)
    assert json.loads(json.dumps(CONTEXT_SCHEMA)) == CONTEXT_SCHEMA
    assert tuple(CONTEXT_SCHEMA["properties"]) == FIELDS
    for value in (BASE, FULL):
        assert judge.is_valid(value)
    for value in ({**BASE, "version": 2}, {**BASE, "x": 1}, {**BASE, "files": [{"name": "a"}]}, {}):
        assert not judge.is_valid(value)


FILES: dict[str, str | bytes] = {
    ".context.config.yaml": "min_tokens: 0\n",
    ".gitignore": "gen/\nlogs\n",
    ".contextignore": "!logs\nold-*\n",
    "a.py": "x = 1\n",
    "picture.png": b"\x89PNG\xff",
    "src/core/lib.rs": "fn a() {}\n",
    "src/core/.context.yaml": context("src/core"),
    "src/core/.hidden": "counts in fingerprints\n",
    "src/main.py": "pass\n",
    "empty-of-sources/blob.bin": b"\x00",
    **dict.fromkeys(("gen/a.py", "logs/a.py", "old-1/a.py", ".secretive/a.py"), ""),
    **{f"{name}/m/a.js": "" for name in ("node_modules", "dist", "venv", "target", "vendor", "tmp")},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return lay(tmp_path, FILES)


def scan_of(root: Path) -> Scan:
    project = disk_contexts(root).open(None)
    assert not isinstance(project, Reason)
    found = project.scan()
    assert found is not None
    return found


@pytest.mark.clause("CX-10")
def test_a_scan_finds_every_folder_not_excluded_by_name_or_ignore_lines(root: Path) -> None:
    scan = scan_of(root)
    assert sorted(folder.scope for folder in scan.folders) == [
        ".",
        "empty-of-sources",
        "logs",
        "src",
        "src/core",
    ]
    assert (scan.rules.min_tokens, scan.rules.max_depth, scan.warnings) == (0, 10, 0)


@pytest.mark.clause("CX-10")
def test_configured_ignore_lines_override_folders_and_hide_no_files(root: Path) -> None:
    lay(root, {".context.config.yaml": 'min_tokens: 0\nignore: ["!gen/", "src/core", "*.py"]\n'})
    folders = {folder.scope: folder for folder in scan_of(root).folders}
    assert folders.keys() == {".", "empty-of-sources", "gen", "logs", "src"}
    assert "a.py" in folders["."].sources


@pytest.mark.clause("CX-10")
@pytest.mark.parametrize(("depth", "deepest"), [(None, 10), (0, 0), (1, 1), (12, 11)])
def test_a_scan_is_ten_folders_deep_unless_configured(root: Path, depth: int | None, deepest: int) -> None:
    config = "min_tokens: 0\n" + ("" if depth is None else f"max_depth: {depth}\n")
    lay(root, {".context.config.yaml": config, "/".join(["d"] * 11) + "/a.py": ""})
    scopes = [folder.scope for folder in scan_of(root).folders]
    assert max(0 if scope == "." else scope.count("/") + 1 for scope in scopes) == deepest


@pytest.mark.clause("CX-10")
@pytest.mark.parametrize(
    ("config", "rules", "faults"),
    [
        (None, ScanRules(), 0),
        ({"min_tokens": 1.5, "ignore": ["a", "!b"], "mode": "full"}, ScanRules(1.5, ignore=("a", "!b")), 0),
        ({"min_tokens": "0", "max_depth": 3}, ScanRules(max_depth=3), 1),
        ({"min_tokens": True, "max_depth": [], "ignore": "a"}, ScanRules(), 3),
        ({"ignore": ["a", 1]}, ScanRules(), 1),
        ("text", ScanRules(), 1),
    ],
)
def test_scan_settings_are_read_one_by_one(config: Any, rules: ScanRules, faults: int) -> None:
    assert read_rules(config) == (rules, faults)


@pytest.mark.clause("CX-12")
def test_kept_are_the_root_large_folders_of_sources_and_those_above_them(tmp_path: Path) -> None:
    names = ["a.ts", "b.PY", "c.md", "d.dockerfile", "Dockerfile", "Makefile", "go.mod"]
    sources = {f"known/{name}/{name}": "x" * 37 for name in names}
    lay(tmp_path, {"small/a.py": "x" * 36, "ts/ts": "x" * 37, "picture/a.png": "x" * 99, **sources})
    lay(tmp_path, {".context.config.yaml": "min_tokens: 10\n"})
    listed = Asked(disk_contexts(tmp_path)).ok("list_contexts")
    kept = [entry["scope"] for entry in listed["entries"]]
    assert kept == sorted([".", "known", *(f"known/{name}" for name in names)])
    assert (listed["skipped_directories"], listed["total_directories"]) == (1, 9)


@pytest.mark.clause("CX-05")
@pytest.mark.parametrize(
    ("modified_ns", "milliseconds"),
    [
        (0, 0),
        (1_760_000_000_123_456_789, 1_760_000_000_123),
        (1_760_000_000_999_999_999, 1_760_000_001_000),
        (1_760_000_000_122_999_999, 1_760_000_000_123),
        (1_760_000_000_122_999_000, 1_760_000_000_122),
        (-1, -1),
    ],
)
def test_milliseconds_are_those_of_a_double(modified_ns: int, milliseconds: int) -> None:
    assert stat_row("a", modified_ns, 3) == f"a:{milliseconds}:3"


@pytest.mark.clause("CX-05")
def test_rows_are_sorted_by_utf_16_code_units_and_not_by_characters() -> None:
    rows = ["\U0001f600:1:1", "\uff5e:1:1", "a:1:1"]
    wanted = "\n".join([rows[2], rows[0], rows[1]])
    assert sorted(rows) != wanted.split("\n")
    assert fingerprint(rows) == hashlib.sha256(wanted.encode()).hexdigest()[:8]


@pytest.mark.clause("CX-07")
def test_contents_are_hashed_only_if_the_stat_fingerprint_differs() -> None:
    asked: list[str] = []

    def content() -> str | None:
        asked.append("content")
        return "cccccccc"

    def outcome(stored: str) -> tuple[str, str, str]:
        found = compared(stored, "aaaaaaaa", content)
        return found.state.value, found.computed, found.method.value

    assert (outcome("aaaaaaaa"), asked) == (("fresh", "aaaaaaaa", "stat"), [])
    assert (outcome("cccccccc"), asked) == (("fresh", "cccccccc", "content"), ["content"])
    assert outcome("bbbbbbbb") == ("stale", "aaaaaaaa", "stat")
