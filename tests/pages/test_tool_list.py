"""What every client needs of `tools/list`: small, well named, schemas in the subset that all accept."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

MOST_TOKENS = 5_200
MOST_WITH_ALL = 8_000
ALTERNATIVES = ("anyOf", "oneOf", "allOf", "not", "if")
COMPILE = "for (const p of JSON.parse(require('fs').readFileSync(0, 'utf8'))) new RegExp(p, 'u')"
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def subschemas(schema: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and every schema inside it, each with its path."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from subschemas(inner, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        yield from subschemas(schema.get(key), f"{path}.{key}")
    for key in ALTERNATIVES:
        inner = schema.get(key)
        for number, branch in enumerate(inner if isinstance(inner, list) else [inner]):
            yield from subschemas(branch, f"{path}.{key}[{number}]")


def schemas(tools: list[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every published schema as (tool, which, schema)."""
    for tool in tools:
        yield tool["name"], "inputSchema", tool["inputSchema"]
        if "outputSchema" in tool:
            yield tool["name"], "outputSchema", tool["outputSchema"]


@pytest.mark.clause("PG-01")
def test_names_descriptions_and_arguments_are_small(
    listed_tools: list[dict[str, Any]],
) -> None:
    read_by_models = [
        {key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listed_tools
    ]
    for listed, most in ((read_by_models, MOST_TOKENS), (listed_tools, MOST_WITH_ALL)):
        size = len(json.dumps({"tools": listed}, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
        assert listed
        assert size / 4 < most, f"{size // 4} tokens"


@pytest.mark.clause("PG-03")
def test_tool_names_are_short_and_plain(listed_tools: list[dict[str, Any]]) -> None:
    names = [tool["name"] for tool in listed_tools]
    assert all(re.fullmatch(r"[a-z0-9_]{1,40}", name) for name in names), names
    assert len(names) == len(set(names))


@pytest.mark.clause("PG-03")
def test_every_tool_has_a_title_a_description_and_all_four_hints(listed_tools: list[dict[str, Any]]) -> None:
    for tool in listed_tools:
        assert tool["title"].strip()
        assert tool["description"].strip()
        assert [type(tool["annotations"].get(hint)) for hint in HINTS] == [bool] * 4, tool["name"]
        assert tool["annotations"]["openWorldHint"] is (tool["name"] == "documents_sync")


@pytest.mark.clause("PG-04")
def test_schemas_stay_in_the_subset_that_every_client_accepts(listed_tools: list[dict[str, Any]]) -> None:
    faults: list[str] = []
    for tool, which, top in schemas(listed_tools):
        if top.get("type") != "object" or any(key in top for key in ALTERNATIVES):
            faults.append(f"{tool} {which}: the top level must be a plain object")
        for path, schema in subschemas(top):
            if "$ref" in schema or "$schema" in schema or "$defs" in schema:
                faults.append(f"{tool} {which} {path}: a reference or a dialect")
            if isinstance(schema.get("type"), list):
                faults.append(f"{tool} {which} {path}: a list of types")
            if schema.get("type") == "array" and not isinstance(schema.get("items"), dict):
                faults.append(f"{tool} {which} {path}: an array without items")
            if which == "inputSchema" and schema.get("type") == "object":
                if schema.get("additionalProperties") is not (path == "$.operations.items"):
                    faults.append(f"{tool} {which} {path}: open to unknown arguments")
                if not set(schema.get("required", ())) <= set(schema.get("properties", {})):
                    faults.append(f"{tool} {which} {path}: requires what it does not name")
    assert faults == []


@pytest.mark.clause("PG-04")
def test_every_published_pattern_is_valid_with_the_unicode_flag(listed_tools: list[dict[str, Any]]) -> None:
    """A client that compiles strictly could otherwise never call the tool."""
    found = (inner.get("pattern") for _, _, top in schemas(listed_tools) for _, inner in subschemas(top))
    patterns = sorted({each for each in found if each is not None})
    assert patterns
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not on this machine")
    done = subprocess.run(
        [node, "-e", COMPILE], input=json.dumps(patterns), text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.clause("PG-04")
def test_every_argument_has_a_type_and_a_description(listed_tools: list[dict[str, Any]]) -> None:
    for tool in listed_tools:
        for name, schema in tool["inputSchema"]["properties"].items():
            assert isinstance(schema.get("type"), str), (tool["name"], name)
            assert schema.get("description", "").strip(), (tool["name"], name)


SPECIFIED: dict[tuple[str, str], dict[str, Any]] = {
    ("context_search", "query"): {"minLength": 3, "maxLength": 500},
    ("context_search", "type"): {"enum": ["all", "pattern", "rule", "decision", "issue"], "default": "all"},
    ("context_search", "limit"): {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
    ("read_file", "path"): {"minLength": 1},
    ("read_file", "includeDeps"): {"type": "boolean", "default": False},
    ("read_file", "maxDepth"): {"type": "integer", "minimum": 0, "maximum": 1, "default": 1},
    ("grep_codebase", "pattern"): {"minLength": 1, "maxLength": 200},
    ("grep_codebase", "caseSensitive"): {"type": "boolean", "default": False},
    ("grep_codebase", "limit"): {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
}
"""The bounds that the specification of the code tools gives."""


@pytest.mark.clause("PG-04")
@pytest.mark.parametrize(("tool", "argument"), SPECIFIED)
def test_the_bounds_of_the_specification_are_published(
    listed_tools: list[dict[str, Any]], tool: str, argument: str
) -> None:
    (schema,) = [each["inputSchema"]["properties"][argument] for each in listed_tools if each["name"] == tool]
    assert SPECIFIED[tool, argument].items() <= schema.items()
