"""Which folders of a project count, by its settings and their sources; the two fingerprints, to the bit."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from context_trees import Asked, context, disk_contexts
from file_trees import lay

from context_pack.contexts.fingerprint import compared, fingerprint, stat_row
from context_pack.contexts.ports import Scan
from context_pack.contexts.scan import ScanRules, read_rules
from context_pack.kernel.ports import Reason

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
