"""Which ids an entity names and how the edges are told; what YAML means and is refused; names and dates."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from bundle_maker import Files, bundle_files, desk_of, nodes, refs, schema, target
from hypothesis import example, given
from hypothesis import strategies as st

from context_pack.kernel.yaml_documents import Malformed, dump, load

REF = {"type": "string", "x-sdd-refTargets": ["Node"]}


def edges(files: Files, entity_id: str = "a") -> list[tuple[str, str, str]]:
    """The relations of one entity as (field, target, display name); every other entity is a target too."""
    others = [
        target(value["id"], name.split("/")[1].title())
        for name, value in files.items()
        if name.startswith("bundle/")
    ]
    body = desk_of(files).answer("export_context", targets=others, dependencyDepth=0)
    return [
        (one["field"], one["to"]["entityId"], one["displayName"])
        for one in body["data"]["relations"]
        if one["from"]["entityId"] == entity_id
    ]


def bundle(
    data: Mapping[str, Any], *, relations: Any = (), extra: Files | None = None, **properties: Any
) -> Files:
    """A bundle where `a` has this data, and `b`, `c`, `d` are there to be named."""
    others: list[dict[str, Any]] = [{"id": key} for key in "bcd"]
    files = bundle_files({"Node": [{"id": "a", **data}, *others]}, {"Node": schema(**properties)}, relations)
    return files | (extra or {})


@pytest.mark.clause("BD-20")
def test_declared_relations_and_schema_marks_both_make_edges() -> None:
    files = bundle(
        {"one": "b", "two": ["c"], "three": "d", "four": "b"},
        relations=[{"fromEntity": "Node", "fromField": "four"}, {"fromEntity": "Node", "fromField": "two"}],
        one=REF,
        two=refs("Node"),
        three={"type": "string"},
    )
    assert edges(files) == [("four", "b", "Four"), ("two", "c", "Two"), ("one", "b", "One")]


@pytest.mark.clause("BD-20", "BD-22")
def test_reference_marks_count_at_any_depth_by_path_without_indexes() -> None:
    files = bundle(
        {
            "steps": [{"actor": {"ownerId": "b"}}, {"actor": {"ownerId": "c"}}, {"actor": {}}],
            "grid": [["b"], ["c", "d"]],
            "meta": {"links": ["d", "b"]},
        },
        steps={"items": {"properties": {"actor": {"properties": {"ownerId": REF}}}}},
        grid={"type": "array", "items": {"type": "array", "items": REF}},
        meta={"type": "object", "properties": {"links": refs("Node", title="Links to")}},
    )
    assert edges(files) == [
        ("steps.actor.ownerId", "b", "Owner ID"),
        ("steps.actor.ownerId", "c", "Owner ID"),
        ("grid", "b", "Grid"),
        ("grid", "c", "Grid"),
        ("grid", "d", "Grid"),
        ("meta.links", "d", "Links to"),
        ("meta.links", "b", "Links to"),
    ]


@pytest.mark.clause("BD-20")
def test_reference_marks_are_found_behind_refs_and_in_alternatives() -> None:
    files = bundle(
        {"one": "b", "two": "c", "three": {"deep": "d"}, "four": ["b"]},
        one={"$ref": "shared.json#/$defs/ref"},
        two={"anyOf": [{"type": "null"}, REF]},
        three={"allOf": [{"properties": {"deep": {"oneOf": [REF]}}}]},
        four={"if": {"type": "array"}, "then": {"items": {"$ref": "#/$defs/own"}}},
        extra={"schemas/shared.json": {"$defs": {"ref": REF}}},
    )
    files["schemas/Node.json"]["$defs"] = {"own": {"$ref": "shared.json#/$defs/ref"}}
    assert [(field, to) for field, to, _ in edges(files)] == [
        ("one", "b"),
        ("two", "c"),
        ("three.deep", "d"),
        ("four", "b"),
    ]


@pytest.mark.clause("BD-21")
def test_a_value_is_a_text_with_something_in_it_or_a_list_of_them() -> None:
    files = bundle(
        {
            "one": "  ",
            "many": ["", "b", " \t", 7, None, ["c"], {"id": "c"}, "d"],
            "number": 5,
            "nothing": None,
        },
        one=REF,
        many={"x-sdd-refTargets": ["Node"]},
        number=REF,
        nothing=REF,
    )
    assert [(field, to) for field, to, _ in edges(files)] == [("many", "b"), ("many", "d")]


@pytest.mark.clause("BD-21")
def test_a_broken_reference_names_field_and_id() -> None:
    files = bundle(
        {"one": "b", "steps": [{"x": "gone"}]}, one=REF, steps={"items": {"properties": {"x": REF}}}
    )
    (told,) = desk_of(files).export("a")["diagnostics"]
    assert told.keys() == {"severity", "message", "filePath", "entityType", "entityId"}
    assert "steps.x" in told["message"]
    assert "'gone'" in told["message"]


@pytest.mark.clause("BD-22")
def test_the_same_edge_counts_once_however_often_it_is_found() -> None:
    files = bundle(
        {"refs": ["b", "b"], "steps": [{"x": "c"}, {"x": "c"}], "other": "b"},
        relations=[{"fromEntity": "Node", "fromField": "refs"}] * 2,
        refs={**refs("Node", title="Refers to"), "x-sdd-refTargets": ["Node"]},
        steps={"items": {"properties": {"x": REF}}},
        other=REF,
    )
    assert edges(files) == [("refs", "b", "Refers to"), ("steps.x", "c", "X"), ("other", "b", "Other")]


@pytest.mark.clause("BD-22")
def test_the_display_name_is_the_title_of_the_property_else_its_words() -> None:
    files = bundle(
        {
            "ownerActorId": "b",
            "apiURLs": "b",
            "titled": "b",
            "blank": "c",
            "inner": "c",
            "deep": {"leafId": "d"},
        },
        relations=[{"fromEntity": "Node", "fromField": "deep.leafId"}],
        ownerActorId=REF,
        apiURLs=REF,
        titled={**REF, "title": "Is titled"},
        blank={**REF, "title": "  "},
        inner={"$ref": "#/$defs/ref"},
        deep={"properties": {"leafId": {**REF, "title": "The leaf"}}},
    )
    files["schemas/Node.json"]["$defs"] = {"ref": {**REF, "title": "Of the definition"}}
    assert edges(files) == [
        ("deep.leafId", "d", "The leaf"),
        ("ownerActorId", "b", "Owner Actor ID"),
        ("apiURLs", "b", "API URLs"),
        ("titled", "b", "Is titled"),
        ("blank", "c", "Blank"),
        ("inner", "c", "Inner"),
    ]


SCALARS: dict[str, Any] = {
    "2026-02-13T10:00:00Z": "2026-02-13T10:00:00Z", "2026-02-13": "2026-02-13", "12:30:45": "12:30:45",
    "yes": "yes", "No": "No", "on": "on", "OFF": "OFF", "y": "y", "1_000": "1_000", "0b11": "0b11",
    "null": None, "Null": None, "NULL": None, "~": None, "": None, "nULL": "nULL",
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False, "tRUE": "tRUE",
    "0": 0, "-0": 0, "+7": 7, "-19": -19, "007": 7, "0o17": 15, "0x1F": 31, "0xfF": 255, "-0x1": "-0x1",
    "0o8": "0o8", "1.5": 1.5, "-.5": -0.5, "1.": 1.0, "1e3": 1000.0, "+12e-02": 0.12, "6.02E+23": 6.02e23,
    "1e": "1e", ".": ".",
    "0x": "0x", "=": "=", "<<": "<<", "'1'": "1", '"true"': "true", "'~'": "~", '""': "",
    "!!str 1": "1", "!!int 1": 1, "!!bool true": True, "!!null ''": None, "! 1": "1",
}  # fmt: skip


def refused(text: str | bytes) -> Malformed:
    """The complaint about a text that must not be read."""
    with pytest.raises(Malformed) as told:
        load(text)
    return told.value


@pytest.mark.clause("BD-11")
@pytest.mark.parametrize("text", SCALARS)
def test_a_scalar_means_what_the_core_schema_says(text: str) -> None:
    for spelled in (f"a: {text}", f"- {text}", f"{{a: {text} }}"):
        value = load(spelled)
        found = value[0] if isinstance(value, list) else value["a"]
        assert (found, type(found)) == (SCALARS[text], type(SCALARS[text]))


@pytest.mark.clause("BD-11")
@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("a: 1\nb: 2\na: 3", "a key appears twice", 3),
        ("a: &x [1, *x]", "an alias", 1),
        ("a: *nothing", "an alias", 1),
        ("? [a]\n: b", "a key is not text", 1),
        ("a: !!python/name:os.system x", "a tag", 1),
        ("a: !custom x", "a tag", 1),
        ("a: 1\n---\nb: 2", "more than one document", 2),
        ("", "it is empty", None),
        ("a: 1\nb: [", "not valid YAML", 3),
        ("a: 1\nb: 'c", "not valid YAML", 2),
        ("a:\n\t- b", "not valid YAML", 2),
        ("a: 1\nb: \x01", "not valid YAML", None),
        ("%YAML 3.0\n---\na", "not valid YAML", 1),
        ('a: "\\ud800"', "", None),
        ("a: " + "9" * 5000, "too many digits", 1),
    ],
)
def test_refused_yaml_names_the_reason_and_the_line(text: str, words: str, line: int | None) -> None:
    told = refused(text)
    assert words in told.reason
    assert line is None or told.line == line
    assert told.line is None or f"line {told.line}" in str(told)


@pytest.mark.clause("BD-11")
def test_deep_nesting_is_refused_without_recursion() -> None:
    limit = sys.getrecursionlimit()
    for filling in ("[", "{a: ", "- ", "? ", "a: &a [*a,", "&a [", "!!seq ["):
        told = refused(filling * (400_000 // len(filling)))
        assert told.reason
    assert refused("[" * 101 + "]" * 101).reason == "nested deeper than 100 levels"
    assert load("[" * 100 + "]" * 100)
    assert sys.getrecursionlimit() == limit


# What YAML 1.1 scanners call printable and no line break.


READERS_1_1 = (yaml.SafeLoader, yaml.CSafeLoader)
TRICKY = [
    "yes", "No", "on", "OFF", "y", "n", "true", "null", "~", "", " ", "1", "0x1F", "0o17", "1_000", "1e3",
    "12:30:45", "2026-02-13", "2026-02-13T10:00:00Z", ".inf", "-.inf", ".nan", "=", "<<", "- a", "a: b",
    "a #b", "#", "&a", "*a", "!x", "%x", "@x", "`x", "[", "]", "{", "}", ",", "?", ":", "|", ">", "'", '"',
    "\\", "---", "...", "a\n", "\na", "a\n\nb", "a\nb\n\n", " a\nb", "a \nb", "a\tb\nc", "tab\t", "\r",
    "a\r\nb", "\x00", "\x07", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "😀",
    "a" * 2000, "Infinity", "NaN", "None", "a\n  b\n\tc", "# a\n# b", "key: |\n  x", "x\n---\ny",
    "x\n...\n",
]  # fmt: skip


def everywhere(text: str) -> list[Any]:
    """What every reader takes the text for."""
    found = [yaml.load(text, Loader=loader) for loader in READERS_1_1]
    return [*found, load(text, max_depth=1000)]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.sampled_from(TRICKY),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(TRICKY), inner, max_size=3)
    ),
    max_leaves=10,
)


@pytest.mark.clause("BD-38")
@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4))
@example({"a": [[], {}, [[]], [{}], [[1, [2]]], [{"a": []}, {"b": {}}]]})
@example({"k" * 1500: {"m" * 1500: [1]}})
def test_any_value_comes_back_equal_in_every_reader(value: dict[str, Any]) -> None:
    for found in everywhere(dump(value)):
        assert found == value


@pytest.mark.clause("BD-38")
def test_an_export_as_yaml_is_the_same_envelope() -> None:
    files = nodes({"a": ["b"], "b": ["a", "gone"]})
    files["bundle/node/0001.yaml"] |= {
        "text": "two\nlines\n",
        "yes": "no",
        "date": "2026-01-01",
        "n": [1.0, 1e30, None],
    }
    desk = desk_of(files)
    as_json = desk.call("export_context", targets=[target("a")])
    as_yaml = desk.call("export_context", targets=[target("a")], format="yaml")
    expected = json.loads(as_json.text)
    expected["data"]["exportMeta"]["format"] = "yaml"
    expected["meta"]["digest"] = (as_yaml.structured or {})["meta"]["digest"]
    assert as_yaml.structured == expected
    assert not as_yaml.is_error
    for found in everywhere(as_yaml.text):
        assert found == expected
    assert "text: |\n" in as_yaml.text


@pytest.mark.clause("BD-38", "BD-37")
def test_an_error_is_json_in_both_formats() -> None:
    error = desk_of(nodes({"a": []})).refused("export_context", targets=[target("x")], format="yaml")
    assert error["code"] == "NOT_FOUND"
