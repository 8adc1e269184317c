"""The life of a pack: time to live, expiry, finalizing and reopening, as a table and through the tools."""

from __future__ import annotations

from typing import Any

import pytest

MOST = 2_628_000


@pytest.mark.clause("PK-25")
def test_a_missing_time_to_live_has_its_own_code(desk: Any) -> None:
    pack = desk.create()
    for call in (
        {"action": "create", "title": "t"},
        {"action": "touch_ttl", "id": pack, "expected_revision": 1},
        {"action": "touch_ttl", "id": pack},
        {"action": "touch_ttl"},
    ):
        error = desk.refused("input", **call)
        assert (error["kind"], error["code"]) == ("validation", "ttl_required")
        assert "'ttl_minutes' is required" in error["message"]


@pytest.mark.clause("PK-25")
@pytest.mark.parametrize("minutes", [0, -1, MOST + 1])
def test_minutes_out_of_bounds_are_refused(desk: Any, minutes: int) -> None:
    pack = desk.create()
    error = desk.refused("input", action="create", ttl_minutes=minutes)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "ttl_minutes")
    for field in ("ttl_minutes", "extend_minutes"):
        error = desk.refused("input", action="touch_ttl", id=pack, expected_revision=1, **{field: minutes})
        assert (error["code"], error["details"]["field"]) == ("invalid_data", field)


@pytest.mark.clause("PK-25")
def test_setting_counts_from_now_and_extending_from_the_expiry(desk: Any) -> None:
    pack = desk.create(ttl_minutes=60)
    desk.clock.advance(minutes=30)
    assert desk.change(pack, "touch_ttl", extend_minutes=15)["expires_at"] == "2026-01-02T04:19:05Z"
    assert desk.change(pack, "touch_ttl", ttl_minutes=5)["expires_at"] == "2026-01-02T03:39:05Z"


@pytest.mark.clause("PK-33")
def test_an_expired_pack_is_not_there_from_the_instant_of_its_expiry(desk: Any) -> None:
    pack = desk.create(ttl_minutes=1, name="short")
    desk.clock.advance(seconds=59.999999)
    assert desk.input(action="get", id=pack)["revision"] == 1
    desk.clock.advance(microseconds=1)
    for call in (
        {"action": "get", "id": pack},
        {"action": "get", "name": "short"},
        {"action": "verify", "id": pack},
        {"action": "set_meta", "id": pack, "expected_revision": 1, "title": "t"},
        {"action": "touch_ttl", "id": pack, "expected_revision": 1, "ttl_minutes": 5},
        {"action": "delete_pack", "id": pack, "expected_revision": 1},
    ):
        assert desk.refused("input", **call)["code"] == "not_found"
    assert desk.refused("output", id=pack)["code"] == "not_found"
    assert desk.output() == "No context packs found."
    assert desk.input()["total"] == 0
    assert desk.registry.read(f"context://pack/{pack}") is None


@pytest.mark.clause("PK-29")
def test_an_empty_draft_cannot_be_finalized(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack, section_description="only words")
    error = desk.refused("input", action="set_status", id=pack, expected_revision=2, status="finalized")
    assert (error["kind"], error["code"]) == ("invalid_state", "invalid_state")
    desk.change(pack, "upsert_diagram", section_key="main", diagram_key="dia", title="D", mermaid="graph")
    assert desk.change(pack, "set_status", status="finalized")["status"] == "finalized"


@pytest.mark.clause("PK-29")
def test_finalizing_lists_every_ref_that_cannot_be_relied_on(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.ref(pack, "gone", path="gone.py")
    desk.ref(pack, "past", 99, 101)
    desk.ref(pack, "secret", path=".env")
    desk.files["b.py"] = "one\ntwo\n"
    desk.ref(pack, "edited", 1, 2, path="b.py")
    desk.files["b.py"] = "one\nTWO\n"
    error = desk.refused("input", action="set_status", id=pack, expected_revision=7, status="finalized")
    assert (error["kind"], error["code"]) == ("stale_ref", "stale_ref")
    refs = error["details"]["refs"]
    assert [ref["ref"] for ref in refs] == ["gone", "past", "secret", "edited"]
    assert [ref["state"] for ref in refs] == ["stale", "stale", "stale", "changed"]
    assert refs[1] == {
        "section": "main",
        "ref": "past",
        "path": "src/app.py",
        "lines": {"start": 99, "end": 101},
        "state": "stale",
        "found": None,
        "reason": "lines 99-101 are past the end of the file (100 lines)",
    }
    assert all(ref["reason"] for ref in refs)
    assert desk.input(action="get", id=pack)["status"] == "draft"


@pytest.mark.clause("PK-29")
def test_moved_and_unanchored_refs_can_be_finalized(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.ref(pack, "later", 1, 1, path="later.py")
    desk.files["later.py"] = "now it is there\n"
    desk.files["src/app.py"] = "new first line\n" + desk.files["src/app.py"]
    assert [desk.state(pack, number)["state"] for number in (0, 1)] == ["moved", "unanchored"]
    desk.change(pack, "set_status", status="finalized")
    assert [desk.state(pack, number)["state"] for number in (0, 1)] == ["moved", "exact"]


@pytest.mark.clause("PK-30")
def test_a_finalized_pack_keeps_its_content(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.change(pack, "set_status", status="finalized")
    place = {"section_key": "main", "ref_key": "ref"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("upsert_section", {"section_key": "main", "section_title": "Main"}),
        ("delete_section", {"section_key": "main"}),
        ("upsert_ref", {**place, "path": "src/app.py", "line_start": 5, "line_end": 7}),
        ("delete_ref", place),
        ("upsert_diagram", {"section_key": "main", "diagram_key": "dia", "title": "D", "mermaid": "graph"}),
        ("delete_diagram", {"section_key": "main", "diagram_key": "dia"}),
        ("set_meta", {"title": "t"}),
        ("repair", {}),
        ("batch", {"operations": [{"action": "set_meta", "title": "t"}]}),
    ]
    for action, fields in calls:
        error = desk.refused("input", action=action, id=pack, expected_revision=4, **fields)
        assert (error["kind"], error["code"]) == ("invalid_state", "invalid_state"), action
        assert "draft" in error["message"]
    assert desk.input(action="get", id=pack)["revision"] == 4
    assert desk.output(id=pack)
    assert desk.input(action="verify", id=pack)["revision"] == 4
    desk.change(pack, "touch_ttl", extend_minutes=5)
    desk.files.clear()
    assert desk.change(pack, "set_status", status="draft")["status"] == "draft"
    desk.change(pack, "set_meta", title="t")
