"""Strict arguments: no wrong type, unknown field or foreign field is ever silently ignored."""

from __future__ import annotations

from typing import Any

import pytest

PLACE = {"section_key": "main", "ref_key": "ref", "path": "a.py"}


@pytest.mark.clause("PK-09")
@pytest.mark.parametrize(
    ("call", "field"),
    [
        ({"action": "create", "ttl_minutes": "5"}, "ttl_minutes"),
        ({"action": "create", "ttl_minutes": True}, "ttl_minutes"),
        ({"action": "create", "ttl_minutes": 5, "tags": "x"}, "tags"),
        ({"action": "get", "id": 5}, "id"),
        ({"action": "list", "limit": 1.5}, "limit"),
        ({"action": "upsert_section", "section_key": "main", "section_title": None}, "section_title"),
        ({"action": "upsert_section", "section_key": "main", "section_title": " "}, "section_title"),
        ({"action": "upsert_ref", **PLACE, "line_start": 1.5, "line_end": 2}, "line_start"),
        ({"action": "delete_ref", "section_key": "main"}, "ref_key"),
        ({"action": "batch", "operations": {}}, "operations"),
        ({"action": "set_status", "status": []}, "status"),
        ({"action": "verify", "expected_revision": 1}, "expected_revision"),
        ({"action": "set_meta", "title": "t", "expected_revision": "1"}, "expected_revision"),
        ({"action": "set_meta", "title": "t", "ref_key": "ref"}, "ref_key"),
        ({"action": "repair", "nonsense": 1}, "nonsense"),
        ({"action": "touch_ttl", "ttl_minutes": 5, "": "x"}, ""),
        ({"action": "create", "ttl_minutes": 5, "Title": "t"}, "Title"),
    ],
)
def test_wrong_types_and_fields_that_are_missing_unknown_or_of_other_actions_are_refused_by_name(
    desk: Any, call: dict[str, Any], field: str
) -> None:
    named = {} if call["action"] in ("create", "list") else {"id": desk.create()}
    reads = call["action"] in ("create", "list", "get", "verify")
    error = desk.refused("input", **{**({} if reads else {"expected_revision": 1}), **named, **call})
    assert (error["kind"], error["code"]) == ("validation", "invalid_data")
    assert error["details"]["field"] == field


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
