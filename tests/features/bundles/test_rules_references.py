"""Which ids an entity names, by relations and by marked fields, and how the edges are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from bundle_maker import Files, bundle_files, desk_of, refs, schema, target

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
