"""Which folders are entered and worth a context, which files count, and the two fingerprints, to the bit."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from context_trees import disk_contexts
from hypothesis import given
from hypothesis import strategies as st

from context_pack.contexts.fingerprint import (
    compared,
    fingerprint,
    stat_row,
)
from context_pack.contexts.ports import Project, ProjectFolder, Scan
from context_pack.contexts.scan import (
    ScanRules,
    is_entered,
    is_source,
    read_rules,
)
from context_pack.kernel.ports import Reason

PROJECT = disk_contexts(Path(__file__).parent).open(None)
assert not isinstance(PROJECT, Reason)
NOWHERE: Project = PROJECT


def folder(scope: str, size: int | None = None) -> ProjectFolder:
    return ProjectFolder(scope, [] if size is None else [("a.py", size, 0, 0, 0)], NOWHERE)


def scopes(folders: list[ProjectFolder], min_tokens: float) -> tuple[list[str], int]:
    chosen, skipped = Scan(folders, ScanRules(min_tokens), 0).kept()
    return [each.scope for each in chosen], skipped


@pytest.mark.clause("CX-10")
@pytest.mark.parametrize(
    "name", ["node_modules", "dist", "venv", "target", "vendor", "tmp", ".git", ".hidden"]
)
def test_folders_of_these_names_are_not_entered(name: str) -> None:
    assert not is_entered(name)


@pytest.mark.clause("CX-12")
@pytest.mark.parametrize("name", ["a.ts", "A.PY", "a.md", "a.dockerfile", "Dockerfile", "Makefile", "go.mod"])
def test_sources_are_known_by_their_extension_or_name(name: str) -> None:
    assert is_source(name)
    assert not is_source(name.rpartition(".")[2].lower())


def brute_force(tree: list[ProjectFolder], least: float) -> tuple[list[str], int]:
    """The rule as the contract words it."""
    large = {f.scope for f in tree if f.sources and (least <= 0 or -(-f.source_bytes // 4) >= least)}
    chosen = {"."} | large
    chosen |= {f.scope for f in tree if any(other.startswith(f.scope + "/") for other in large)}
    return sorted(chosen), sum(1 for f in tree if f.sources and f.scope not in chosen)


@pytest.mark.clause("CX-12")
@given(
    st.dictionaries(st.text("ab/", max_size=7), st.none() | st.integers(0, 40), max_size=12),
    st.integers(-1, 12),
)
def test_chosen_folders_agree_with_a_literal_reading_of_the_rule(
    sizes: dict[str, int | None], least: int
) -> None:
    tree: dict[str, ProjectFolder] = {".": folder(".")}
    for path, size in sizes.items():
        parts = [part for part in path.split("/") if part]
        for depth in range(1, len(parts)):
            tree.setdefault("/".join(parts[:depth]), folder("/".join(parts[:depth])))
        if parts:
            tree["/".join(parts)] = folder("/".join(parts), size)
    assert scopes(list(tree.values()), least) == brute_force(list(tree.values()), least)


@pytest.mark.clause("CX-10")
@pytest.mark.parametrize(
    ("config", "rules", "faults"),
    [
        (None, ScanRules(), 0),
        ({}, ScanRules(), 0),
        ({"min_tokens": 0}, ScanRules(min_tokens=0), 0),
        ({"ignore": ["a", "!b"]}, ScanRules(ignore=("a", "!b")), 0),
        (
            {"min_tokens": 1.5, "provider": "anthropic", "model": "m", "mode": "full"},
            ScanRules(min_tokens=1.5),
            0,
        ),
        ({"min_tokens": "0", "max_depth": 3}, ScanRules(max_depth=3), 1),
        ({"min_tokens": True, "max_depth": [], "ignore": "a"}, ScanRules(), 3),
        ({"ignore": ["a", 1]}, ScanRules(), 1),
        ("text", ScanRules(), 1),
    ],
)
def test_scan_settings_are_read_one_by_one(config: Any, rules: ScanRules, faults: int) -> None:
    assert read_rules(config) == (rules, faults)


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
        (-1_000_000_000, -1000),
        (999_999, 0),
        (1_000_000, 1),
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
