"""Strict arguments: no wrong type, unknown field or foreign field is ever silently ignored."""

from __future__ import annotations

from typing import Any

import pytest

from context_pack.packs.tools import COMMANDS
from context_pack.toolkit.arguments import command_schema

REF = {"section_key": "main", "ref_key": "ref", "path": "a.py", "line_start": 1, "line_end": 2}
GOOD: dict[str, dict[str, Any]] = {
    "create": {"ttl_minutes": 5},
    "get": {},
    "list": {},
    "upsert_section": {"section_key": "main", "section_title": "t"},
    "delete_section": {"section_key": "main"},
    "upsert_ref": REF,
    "delete_ref": {"section_key": "main", "ref_key": "ref"},
    "upsert_diagram": {"section_key": "main", "diagram_key": "dia", "title": "t", "mermaid": "graph"},
    "delete_diagram": {"section_key": "main", "diagram_key": "dia"},
    "set_meta": {"title": "t"},
    "set_status": {"status": "draft"},
    "touch_ttl": {"ttl_minutes": 5},
    "delete_pack": {},
    "batch": {"operations": [{"action": "set_meta", "title": "t"}]},
    "verify": {},
    "repair": {},
}
UNTARGETED = {"create", "list"}
READS = {"create", "list", "get", "verify"}
WRONG: dict[str, list[Any]] = {
    "string": [None, 1, 1.5, True, [], {}],
    "integer": [None, "1", 1.5, True, [], {}],
    "array": [None, "x", 1, {}, True],
}


def arguments(desk: Any, action: str) -> dict[str, Any]:
    """A good call of an action on a pack that has what it names."""
    call = {"action": action, **GOOD[action]}
    if action not in UNTARGETED:
        pack = desk.create()
        desk.section(pack)
        desk.ref(pack)
        desk.change(pack, "upsert_diagram", **GOOD["upsert_diagram"])
        call["id"] = pack
        if action not in READS:
            call["expected_revision"] = 4
    return call


@pytest.mark.clause("PK-09")
@pytest.mark.parametrize("action", GOOD)
def test_wrong_types_are_refused_by_name(desk: Any, action: str) -> None:
    call = arguments(desk, action)
    schema = desk.registry.tools["input"].schema["properties"]
    for field in call:
        if field == "action":
            continue
        for wrong in WRONG[schema[field]["type"]]:
            error = desk.refused("input", **{**call, field: wrong})
            assert (error["kind"], error["code"]) == ("validation", "invalid_data"), (field, wrong)
            assert error["details"]["field"] == field, (field, wrong)


@pytest.mark.clause("PK-09")
@pytest.mark.parametrize("action", GOOD)
def test_unknown_fields_and_fields_of_other_actions_are_refused(desk: Any, action: str) -> None:
    call = arguments(desk, action)
    schema = desk.registry.tools["input"].schema["properties"]
    own = command_schema(COMMANDS[action])["properties"]
    samples: dict[str, Any] = {"string": "text", "integer": 3, "array": []}
    foreign = {name: samples[rule["type"]] for name, rule in schema.items() if name not in own}
    for name, value in {"nonsense": 1, "Title": "t", "": "x", **foreign}.items():
        error = desk.refused("input", **{**call, name: value})
        assert (error["code"], error["details"]["field"]) == ("invalid_data", name), name
        assert f"'{name}' is not supported" in error["message"]


@pytest.mark.clause("PK-09")
def test_lone_surrogates_are_refused_in_every_argument(desk: Any) -> None:
    pack = desk.create()
    for call in ({"section_title": "a\ud800"}, {"section_title": "a", "section_description": "x\udfff"}):
        error = desk.refused(
            "input", action="upsert_section", id=pack, expected_revision=1, section_key="main", **call
        )
        assert error["code"] == "invalid_data"
    assert desk.refused("input", action="get", name="\ud800abc")["kind"] in ("validation", "not_found")


@pytest.mark.clause("PK-09")
def test_an_empty_text_clears_in_set_meta_and_upsert_section(desk: Any) -> None:
    pack = desk.create(title="T", brief="B", tags=["x"])
    desk.section(pack, section_description="text")
    desk.change(pack, "set_meta", title="", brief="  ", tags=[])
    desk.section(pack, section_description="")
    whole = desk.input(action="get", id=pack)
    assert (whole["title"], whole["brief"], whole["tags"]) == (None, None, [])
    assert whole["sections"][0]["description"] is None


@pytest.mark.clause("TK-28")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "notes"}, "'action' is missing"),
        ({"action": "upsert_diagram", "diagram_title": "T"}, "did you mean 'title'?"),
    ],
)
def test_a_wrong_name_leads_to_the_right_one(desk: Any, arguments: dict[str, Any], words: str) -> None:
    assert words in desk.call("input", arguments).text


@pytest.mark.clause("TK-25")
def test_arguments_of_a_batch_are_accepted_in_the_other_spelling(desk: Any) -> None:
    pack = desk.create()
    section = {"action": "upsert_section", "sectionKey": "main", "sectionTitle": "Main"}
    made = desk.input(action="batch", id=pack, expectedRevision=1, operations=[section])
    assert made["changed"] == ["main"]
