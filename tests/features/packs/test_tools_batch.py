"""`batch`: many operations as one change, all or nothing, and failures that name their place."""

from __future__ import annotations

from typing import Any

import pytest

SECTION = {"action": "upsert_section", "section_key": "main", "section_title": "Main"}
REF = {
    "action": "upsert_ref",
    "section_key": "main",
    "ref_key": "ref",
    "path": "src/app.py",
    "line_start": 5,
    "line_end": 7,
}
DIAGRAM = {
    "action": "upsert_diagram",
    "section_key": "main",
    "diagram_key": "dia",
    "title": "D",
    "mermaid": "graph TD",
}


@pytest.mark.clause("PK-27")
def test_a_batch_is_one_revision_and_answers_per_operation(desk: Any) -> None:
    pack = desk.create()
    operations = [
        SECTION,
        REF,
        DIAGRAM,
        {"action": "set_meta", "title": "T"},
        {"action": "touch_ttl", "ttl_minutes": 9},
    ]
    answer = desk.change(pack, "batch", operations=operations)
    assert answer["revision"] == 2
    assert answer["ttl_remaining_seconds"] == 540
    assert answer["changed"] == ["main", "ref src/app.py:5-7", "dia", None, None]
    assert desk.state(pack)["state"] == "exact"


@pytest.mark.clause("PK-27")
@pytest.mark.parametrize(
    ("bad", "code", "field"),
    [
        ({"action": "delete_ref", "section_key": "main", "ref_key": "none"}, "not_found", None),
        ({**REF, "section_key": "none"}, "not_found", None),
        ({**REF, "path": "../x"}, "invalid_data", "path"),
        ({**REF, "line_start": "5"}, "invalid_data", "line_start"),
        ({**REF, "id": "pk_aaaaaaaa"}, "invalid_data", "id"),
        ({"action": "upsert_section", "section_key": "main"}, "invalid_data", "section_title"),
        ({"action": "touch_ttl"}, "ttl_required", "ttl_minutes"),
        ({"action": "touch_ttl", "extend_minutes": 2_628_000}, "invalid_data", "extend_minutes"),
        ({"action": "set_meta"}, "invalid_data", "title"),
        ({"action": "batch", "operations": []}, "invalid_data", "action"),
        ({}, "invalid_data", "action"),
    ],
)
def test_a_failure_names_its_operation_and_nothing_is_applied(
    desk: Any, bad: dict[str, Any], code: str, field: str | None
) -> None:
    pack = desk.create()
    error = desk.refused(
        "input", action="batch", id=pack, expected_revision=1, operations=[SECTION, REF, bad, DIAGRAM]
    )
    assert error["code"] == code
    assert error["details"]["index"] == 2
    assert error["details"].get("field") == field
    whole = desk.input(action="get", id=pack)
    assert (whole["revision"], whole["sections"]) == (1, [])


@pytest.mark.clause("PK-27")
@pytest.mark.parametrize("action", ["set_status", "create", "get"])
def test_an_action_that_is_no_operation_is_not_called_unknown(desk: Any, action: str) -> None:
    pack = desk.create()
    call = {"action": "batch", "id": pack, "expected_revision": 1, "operations": [{"action": action}]}
    error = desk.refused("input", **call)
    assert f"'{action}' is not allowed in a batch; use one of: upsert_section" in error["message"]
    assert action not in error["details"]["allowed"]
    call["operations"] = [{"action": "nope"}]
    assert "unknown input action 'nope'" in desk.refused("input", **call)["message"]


@pytest.mark.clause("PK-18", "PK-27")
def test_arguments_of_any_operation_come_before_the_pack_and_its_state(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.change(pack, "set_status", status="finalized")
    bad = [{"action": "delete_ref", "section_key": "main", "ref_key": "none"}, {**REF, "path": "/abs"}]
    error = desk.refused("input", action="batch", id="pk_aaaaaaaa", expected_revision=1, operations=bad)
    assert (error["code"], error["details"]["index"]) == ("invalid_data", 1)
    error = desk.refused("input", action="batch", id=pack, expected_revision=1, operations=bad[:1])
    assert error["code"] == "revision_conflict"
    error = desk.refused("input", action="batch", id=pack, expected_revision=4, operations=bad[:1])
    assert (error["code"], error["details"]["index"]) == ("invalid_state", 0)


@pytest.mark.clause("PK-30")
def test_a_finalized_pack_accepts_a_batch_of_ttl_changes(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.change(pack, "set_status", status="finalized")
    touch = {"action": "touch_ttl", "extend_minutes": 5}
    assert desk.change(pack, "batch", operations=[touch, touch])["ttl_remaining_seconds"] == 4200
    error = desk.refused("input", action="batch", id=pack, expected_revision=5, operations=[touch, SECTION])
    assert (error["code"], error["details"]["index"]) == ("invalid_state", 1)
    assert desk.store.get(pack).revision == 5
