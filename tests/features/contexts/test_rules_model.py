"""What a parsed file is: a context, one of a later version, or corrupt; and the parts a caller gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from context_trees import MINIMAL
from jsonschema import Draft202012Validator

from context_pack.contexts.model import (
    CONTEXT_SCHEMA,
    FIELDS,
    REQUIRED,
    Context,
    Corrupt,
    Unsupported,
    validated,
)
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
