"""Entities against their schemas: what is found, and that no schema can crash or hang the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bundle_maker import BundleDesk, Files, bundle_files, desk_of, schema, target, write_files
from hanging import never_hanging

from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.bundles.store import FileBundleStore


def bundle(of: Any, *entities: dict[str, Any], extra: Files | None = None) -> Files:
    return bundle_files({"Node": [{"id": "a", **(entities[0] if entities else {})}]}, {"Node": of}) | (
        extra or {}
    )


def told(files: Files) -> list[tuple[str, str]]:
    """The diagnostics of a bundle as (file, message)."""
    return [(one["filePath"], one["message"]) for one in desk_of(files).export("a")["diagnostics"]]


def messages(files: Files) -> list[str]:
    return [message for _, message in told(files)]


@pytest.mark.clause("BD-09")
@pytest.mark.parametrize(
    ("rule", "value", "words"),
    [
        ({"type": "string"}, 5, "$.x: 5 is not of type 'string'"),
        ({"required": ["y"]}, {}, "$.x: 'y' is a required property"),
        ({"additionalProperties": False}, {"y": 1}, "$.x: 'y' is not a field that the schema has"),
        (
            {"uniqueItems": True},
            [1, {"a": 1.0}, {"a": 1}],
            "$.x: [1, {'a': 1.0}, {'a': 1}] has non-unique elements",
        ),
        ({"items": {"type": "integer"}}, [1, "2"], "$.x[1]: '2' is not of type 'integer'"),
        (
            {"anyOf": [{"type": "null"}, {"const": 1}]},
            2,
            "$.x: 2 is not valid under any of the given schemas",
        ),
        (False, 2, "$: False schema does not allow 2"),
    ],
)
def test_an_invalid_entity_is_reported_by_place_and_still_loaded(rule: Any, value: Any, words: str) -> None:
    files = bundle(schema(x=rule), {"x": value})
    body = desk_of(files).export("a")
    assert body["data"]["targets"][0]["data"]["x"] == value
    assert body["diagnostics"] == [
        {
            "severity": "error",
            "message": words,
            "filePath": "bundle/node/0000.yaml",
            "entityType": "Node",
            "entityId": "a",
        }
    ]


@pytest.mark.clause("BD-15")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "schema: $ must be an object"),
        ('"x"', "schema: $ must be an object"),
        (True, "schema: $ must be an object"),
        ({"type": "nonsense"}, "schema: $.type: 'nonsense' is not valid"),
        ({"properties": {"x": {"$defs": {"y": 1}}}}, "schema: $.properties.x['$defs'].y: 1 is not of type"),
    ],
)
def test_a_broken_schema_is_reported_and_validates_nothing(value: Any, words: str) -> None:
    files = bundle(value, {"x": 5})
    found = told(files)
    assert {file for file, _ in found} == {"schemas/Node.json"}
    assert found[0][1].startswith(words)
    schemas = desk_of(files).export("a")["data"]["schemas"]
    assert schemas == ({"Node": value} if isinstance(value, dict) else {})


@pytest.mark.clause("BD-14")
def test_refs_lead_to_other_files_of_the_bundle_and_to_their_ids() -> None:
    files = bundle(
        schema(
            beside={"$ref": "shared/defs.json#/$defs/text"},
            up={"$ref": "../common.json"},
            by_id={"$ref": "https://example.org/schemas/known"},
            anchor={"$ref": "shared/defs.json#here"},
            blank={"$ref": "with%20blank.json"},
        ),
        {"beside": 1, "up": 1, "by_id": 1, "anchor": 1, "blank": 1},
        extra={
            "schemas/shared/defs.json": {
                "$defs": {
                    "text": {"$ref": "#/$defs/inner"},
                    "inner": {"type": "string"},
                    "x": {"$anchor": "here", "type": "string"},
                }
            },
            "common.json": {"$ref": "schemas/shared/known.json"},
            "schemas/shared/known.json": {"$id": "https://example.org/schemas/known", "type": "string"},
            "schemas/with blank.json": {"type": "string"},
        },
    )
    assert messages(files) == [
        f"$.{name}: 1 is not of type 'string'" for name in ("beside", "up", "by_id", "anchor", "blank")
    ]


@pytest.mark.clause("BD-14")
@pytest.mark.parametrize(
    "ref",
    [
        "https://example.org/elsewhere.json",
        "file:///etc/passwd",
        "../../outside.json",
        "/etc/passwd",
        "#/$defs/nowhere",
        "#no-such-anchor",
    ],
)
def test_a_ref_outside_the_bundle_is_reported_and_never_fetched(ref: str) -> None:
    files = bundle(schema(id={"type": "string"}, y={"type": "string"}, x={"$ref": ref}), {"x": 5, "y": 5})
    found = told(files)
    assert found[0] == ("schemas/Node.json", f"schema: $ref {ref} leads to nothing in the bundle")
    assert found[1:] == [("bundle/node/0000.yaml", "$.y: 5 is not of type 'string'")]


@pytest.mark.clause("BD-15")
@pytest.mark.parametrize(
    "pattern", ["(", "[", "*a", "a{2,1}", "(?P<x>a)(?P<x", "\\", "(" * 3000, "(((a{1000}){1000}){1000})"]
)
def test_an_invalid_pattern_is_reported_and_not_used(pattern: str) -> None:
    found = told(bundle(schema(x={"pattern": pattern}), {"x": "anything"}))
    assert len(found) == 1
    assert found[0][0] == "schemas/Node.json"
    assert "cannot be used" in found[0][1]


@pytest.mark.slow
@pytest.mark.clause("BD-15")
@pytest.mark.parametrize(
    "rule",
    [
        {"pattern": "^(a|a|aa)+$"},
        {"propertyNames": {"pattern": "^(a|aa)+$"}},
        {"patternProperties": {"^(a|aa)+$": {"type": "null"}}},
    ],
)
def test_a_catastrophic_pattern_is_abandoned_and_reported(rule: dict[str, Any]) -> None:
    evil = "a" * 60 + "!"
    value: Any = evil if "pattern" in rule else {evil: 1}
    files = bundle_files(
        {"Node": [{"id": "a", "x": value}, *({"id": f"n{n}", "x": value} for n in range(1000))]},
        {"Node": schema(x=rule)},
    )
    with never_hanging():  # given up for each entity anew, it would take minutes
        found = told(files)
    assert [file for file, _ in found] == ["schemas/Node.json"]
    assert "takes longer" in found[0][1]


@pytest.mark.clause("BD-15")
def test_a_schema_that_costs_too_much_ends_with_the_limit_also_without_a_call(tmp_path: Path) -> None:
    parts: dict[str, Any] = {f"p{n}": {"anyOf": [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(40)}
    parts["p40"] = {"required": ["nothing"]}
    write_files(tmp_path / "costly", bundle({"$ref": "#/$defs/p0", "$defs": parts}))
    desk = BundleDesk(store=FileBundleStore(tmp_path, PathPolicy(), seconds=0.2))
    with never_hanging():  # it would take a million years
        error = desk.refused("export_context", targets=[target("a")])
    assert "the bundle costly takes longer than 0.2 s to check" in error["message"]


@pytest.mark.slow
@pytest.mark.clause("BD-15")
@pytest.mark.parametrize(
    "value",
    [
        {"$ref": "#"},
        {
            "allOf": [{"$ref": "#/$defs/a"}],
            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}},
        },
    ],
)
def test_a_circular_schema_is_abandoned_and_reported(value: dict[str, Any]) -> None:
    with never_hanging():
        found = told(bundle(value, {"x": 5}))
    assert [file for file, _ in found] == ["schemas/Node.json"]
    assert "refers to itself without end" in found[0][1]
