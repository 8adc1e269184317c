"""Entities against their schemas: what is found, and that no schema can crash or hang the server."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import jsonschema
import pytest
from bundle_maker import Files, bundle_files, desk_of, schema
from hanging import never_hanging
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from inmemory.bundles import MemoryBundleFiles

from context_pack.bundles.loading import load
from context_pack.bundles.ports import Flaw
from context_pack.bundles.schemas import Schemas
from context_pack.toolkit.call import Overdue


def bundle(of: Any, *entities: dict[str, Any], extra: Files | None = None) -> Files:
    """A bundle of nodes with this schema."""
    return bundle_files({"Node": [{"id": "a", **(entities[0] if entities else {})}]}, {"Node": of}) | (
        extra or {}
    )


def told(files: Files) -> list[tuple[str, str]]:
    """The diagnostics of a bundle as (file, message)."""
    return [(one["filePath"], one["message"]) for one in desk_of(files).export("a")["diagnostics"]]


def messages(files: Files) -> list[str]:
    """The messages alone."""
    return [message for _, message in told(files)]


@pytest.mark.clause("BD-09")
@pytest.mark.parametrize(
    ("rule", "value", "words"),
    [
        ({"type": "string"}, 5, "$.x: 5 is not of type 'string'"),
        ({"type": ["string", "null"]}, 5, "$.x: 5 is not of type 'string', 'null'"),
        ({"enum": ["draft", 1]}, "x", "$.x: 'x' is not one of ['draft', 1]"),
        ({"const": {"a": 1}}, 1, "$.x: {'a': 1} was expected"),
        ({"minLength": 3}, "ab", "$.x: 'ab' is too short"),
        ({"maximum": 3}, 4, "$.x: 4 is greater than the maximum of 3"),
        ({"pattern": "^a+$"}, "aab", "$.x: 'aab' does not match '^a+$'"),
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
        ({"not": {"type": "integer"}}, 2, "$.x: 2 should not be valid under {'type': 'integer'}"),
        ({"not": {}}, 2, "$.x: 2 should not be valid under {}"),
        (False, 2, "$: False schema does not allow 2"),
        ({"dependentRequired": {"y": ["z"]}}, {"y": 1}, "$.x: 'z' is a dependency of 'y'"),
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


@pytest.mark.clause("BD-09")
def test_formats_and_our_own_keywords_never_matter() -> None:
    rule: dict[str, Any] = {"type": "string", "format": "date-time", "x-sdd-refTargets": []}
    rule |= {"x-sdd-widget": {"type": "integer"}}
    rule |= {"x-sdd-anything": False, "nonsense": [1, 2]}
    assert messages(bundle(schema(x=rule), {"x": "no date"})) == []


@pytest.mark.clause("BD-09")
def test_the_number_of_reported_problems_is_bounded() -> None:
    files = bundle(schema(x={"items": {"type": "string"}}), {"x": list(range(1000))})
    assert messages(files) == [f"$.x[{number}]: {number} is not of type 'string'" for number in range(20)]


@pytest.mark.clause("BD-15")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "schema: $ must be an object"),
        ("x", "schema: $ must be an object"),
        (True, "schema: $ must be an object"),
        ({"type": "nonsense"}, "schema: $.type: 'nonsense' is not valid"),
        ({"properties": []}, "schema: $.properties: [] is not of type 'object'"),
        ({"required": "id"}, "schema: $.required: 'id' is not of type 'array'"),
        ({"multipleOf": 0}, "schema: $.multipleOf: 0 is less than or equal to"),
        ({"$id": 5}, "schema: $['$id']: 5 is not of type 'string'"),
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
        "http://127.0.0.1:1/x",
        "file:///etc/passwd",
        "../../outside.json",
        "/etc/passwd",
        "#/$defs/nowhere",
        "#no-such-anchor",
        "#/properties/id/type/0/x",
        "urn:x:y",
        "//host/x",
    ],
)
def test_a_ref_outside_the_bundle_is_reported_and_never_fetched(ref: str) -> None:
    files = bundle(schema(id={"type": "string"}, y={"type": "string"}, x={"$ref": ref}), {"x": 5, "y": 5})
    found = told(files)
    assert found[0] == ("schemas/Node.json", f"schema: $ref {ref} leads to nothing in the bundle")
    assert found[1:] == [("bundle/node/0000.yaml", "$.y: 5 is not of type 'string'")]


@pytest.mark.clause("BD-14")
@given(
    st.one_of(
        st.text(max_size=12),
        st.lists(
            st.sampled_from(["#", "/", "properties", "id", "type", "0", "~", "%", "[", "]", ":", "//"])
        ).map("".join),
    )
)
@example("//[")
@example("http://[x/y")
def test_no_ref_and_no_id_makes_a_bundle_fail(text: str) -> None:
    node = schema(id={"type": "string"}, y={"type": "string"}, x={"$ref": text}, z={"$id": text, "$ref": "#"})
    assert told(bundle(node, {"x": {"y": [text]}, "z": 1, "y": 1}))


@pytest.mark.clause("BD-14")
def test_a_missing_file_behind_a_ref_is_reported() -> None:
    found = told(bundle(schema(x={"$ref": "gone.json"}), {"x": 1}))
    assert found == [("schemas/Node.json", "schema: $ref gone.json leads to nothing in the bundle")]


@pytest.mark.clause("BD-14")
def test_a_malformed_file_behind_a_ref_is_reported_with_its_reason() -> None:
    flaw = Flaw("schemas/bad.json", "not valid JSON: Expecting value, line 1, column 1")
    found = told(bundle(schema(x={"$ref": "bad.json"}), {"x": 1}, extra={"schemas/bad.json": flaw}))
    assert found[0] == ("schemas/bad.json", flaw.reason)
    assert found[1][1] == "schema: $ref bad.json leads to nothing in the bundle"


@pytest.mark.clause("BD-09")
@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-07/schema#", "https://example.org/mine", "x"]
)
def test_draft_2020_12_is_meant_whatever_a_schema_declares(dialect: str) -> None:
    own = {**schema(x={"prefixItems": [{"type": "string", "$schema": dialect}]}), "$schema": dialect}
    assert messages(bundle(own, {"x": [1]})) == ["$.x[0]: 1 is not of type 'string'"]


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
        {"pattern": "(x+x+)+y|(a|aa)+$"},
        {"propertyNames": {"pattern": "^(a|aa)+$"}},
        {"patternProperties": {"^(a|aa)+$": {"type": "null"}}},
        {"patternProperties": {"^(a|aa)+$": {"type": "null"}}, "additionalProperties": False},
        {"patternProperties": {"^(a|aa)+$": {}}, "unevaluatedProperties": False},
        {"allOf": [{"patternProperties": {"^(a|aa)+$": {}}}], "unevaluatedProperties": {"type": "null"}},
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
        {"$ref": "#", "unevaluatedProperties": False},
    ],
)
def test_a_circular_schema_is_abandoned_and_reported(value: dict[str, Any]) -> None:
    with never_hanging():
        found = told(bundle(value, {"x": 5}))
    assert [file for file, _ in found] == ["schemas/Node.json"]
    assert "refers to itself without end" in found[0][1]


@pytest.mark.clause("BD-15")
def test_unique_items_are_compared_quickly_and_as_json_does() -> None:
    files = bundle(schema(x={"uniqueItems": True}), {"x": [{"n": number} for number in range(20_000)]})
    with never_hanging():  # each compared with each, that would be two hundred million comparisons
        assert messages(files) == []
    for same in ([1, 1.0], [[1], [1.0]], ["a", "a"], [None, None], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]):
        assert messages(bundle(schema(x={"uniqueItems": True}), {"x": same})) != []
    others: list[list[Any]] = [[1, True], [0, False], ["1", 1], [[], {}], [None, "null"]]
    for different in others:
        assert messages(bundle(schema(x={"uniqueItems": True}), {"x": different})) == []


SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "string", "integer", "number", "array", "null", "boolean"]),
        "enum": st.lists(st.integers(0, 2) | st.text("ab", max_size=2), min_size=1, max_size=3),
        "minLength": st.integers(0, 2),
        "maximum": st.integers(0, 2),
        "minItems": st.integers(0, 2),
        "uniqueItems": st.booleans(),
        "required": st.lists(st.sampled_from("ab"), unique=True, max_size=2),
        "pattern": st.sampled_from(["^a", "b$", "[ab]{2}"]),
        "properties": st.dictionaries(
            st.sampled_from("ab"), st.sampled_from([{"type": "string"}, {}, False]), max_size=2
        ),
        "patternProperties": st.dictionaries(
            st.sampled_from(["^a", "b"]), st.sampled_from([{"type": "null"}, True])
        ),
        "additionalProperties": st.sampled_from([True, False, {"type": "integer"}]),
        "items": st.sampled_from([{"type": "string"}, True, {"minLength": 1}]),
    },
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from([1.0, 1.5]) | st.text("ab", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.clause("BD-09")
@given(SCHEMAS, VALUES)
def test_our_keywords_agree_with_jsonschema(of: dict[str, Any], value: Any) -> None:
    document = {"properties": {"x": of}}
    ours = Schemas({"s.json": document}).checker("s.json").problems({"x": value})
    theirs = jsonschema.Draft202012Validator(document).is_valid({"x": value})
    assert (ours == []) is theirs


def nested(count: int, inner: Any, wrap: Any) -> Any:
    """Something wrapped so many times."""
    for _ in range(count):
        inner = wrap(inner)
    return inner


DEEP = nested(60, 1, lambda inner: {"a": inner})
COSTLY: dict[str, tuple[Any, Any]] = {
    "nested unevaluated fields": (
        {"unevaluatedProperties": nested(60, {"type": "null"}, lambda one: {"unevaluatedProperties": one})},
        {"a": DEEP},
    ),
    "alternatives of alternatives": (
        nested(
            60,
            {"type": "null"},
            lambda one: {"anyOf": [{"maxProperties": 0}, {"properties": {"a": one}}], "oneOf": [{}, False]},
        ),
        DEEP,
    ),
    "all fields of all items": (
        {"items": {"properties": {f"p{number}": True for number in range(5000)}}},
        [{} for _ in range(100_000)],
    ),
    "unknown keywords": ({"items": {f"x-{number}": 1 for number in range(100_000)}}, [1] * 100_000),
    "values in a message": ({"anyOf": [{"type": "string"}] * 3000}, {str(n): n for n in range(100_000)}),
    "unevaluated items": ({"prefixItems": [True] * 5000, "unevaluatedItems": False}, [0] * 1_000_000),
    "items compared with each other": ({"required": [[] if n % 2 else {} for n in range(50_000)]}, {}),
    "anchors": (
        {
            "$defs": {f"d{n}": {"$anchor": f"a{n}"} for n in range(5000)},
            "allOf": [{"$ref": f"#a{n}"} for n in range(5000)],
        },
        {},
    ),
    "many slow patterns": ({"allOf": [{"pattern": f"(a|aa)+{n}$"} for n in range(2000)]}, "a" * 80 + "!"),
    "patterns slow to compile": (
        {"allOf": [{"pattern": f"(?fi){n}" + r"[a-z\p{L}]" * 490} for n in range(300)]},
        "a",
    ),
    "references that double": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
            | {"d40": {}},
        },
        5,
    ),
    "dynamic references": (
        {
            "$dynamicAnchor": "n",
            "allOf": [{"properties": {"a": {"$dynamicRef": "#n"}}}] * 3,
        },
        DEEP,
    ),
}


def load_with_a_deadline(files: Files, seconds: float = 2.0) -> None:
    """Load a bundle as a call does that may take so many seconds of the processor."""
    end = time.process_time() + seconds

    def check() -> None:
        if time.process_time() > end:
            raise Overdue(seconds)

    with contextlib.suppress(Overdue):
        load(MemoryBundleFiles(files), None, "one", lambda _: None, check)


@pytest.mark.slow
@pytest.mark.clause("BD-15")
@pytest.mark.parametrize("case", COSTLY)
def test_costly_schemas_end_with_the_deadline_of_the_call(case: str) -> None:
    rule, value = COSTLY[case]
    with never_hanging():  # each of these would take many minutes, some longer than the universe lasts
        load_with_a_deadline(bundle(schema(x=rule), {"x": value}))


@pytest.mark.slow
@pytest.mark.clause("BD-15")
def test_finding_references_ends_with_the_deadline_of_the_call() -> None:
    mark = {"x-sdd-refTargets": ["Node"]}
    of = schema(x={"items": {"properties": {f"p{number}": mark for number in range(5000)}}})
    with never_hanging():
        load_with_a_deadline(bundle(of, {"x": [{} for _ in range(200_000)]}))


@pytest.mark.clause("BD-15")
def test_a_cancelled_load_stops_in_the_middle_of_one_entity() -> None:
    class Enough(Exception):
        """The caller has gone."""

    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise Enough

    files = bundle(schema(x={"items": {"type": "integer"}}), {"x": [1] * 20_000})
    with pytest.raises(Enough):
        load(MemoryBundleFiles(files), None, "one", lambda _: None, check)


UNEVALUATED = st.recursive(
    st.sampled_from([True, False, {}, {"type": "integer"}, {"properties": {"a": {"type": "integer"}}}]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=1),
            "additionalProperties": inner,
            "unevaluatedProperties": inner,
            "unevaluatedItems": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "items": inner,
            "contains": inner,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "const": st.integers(0, 2),
            "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
            "$ref": st.just("#/$defs/other"),
        },
    ),
    max_leaves=6,
)


@pytest.mark.clause("BD-09")
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(UNEVALUATED, UNEVALUATED, VALUES)
def test_validation_without_flaws_agrees_with_jsonschema(of: Any, other: Any, value: Any) -> None:
    document = {"properties": {"x": of}, "$defs": {"other": other}}
    checked = Schemas({"s.json": document}).checker("s.json")
    ours = checked.problems({"x": value})
    try:
        theirs = jsonschema.Draft202012Validator(document).is_valid({"x": value})
    except BaseException:
        return
    assert checked.flaws or (ours == []) is theirs
