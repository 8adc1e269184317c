"""The actions of `input`: what each changes, what it answers, in which order it refuses; and `batch`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from context_pack.ports import Ports

MUTATION = ["id", "name", "title", "status", "revision", "updated_at", "expires_at"]
MUTATION += ["ttl_remaining_seconds", "changed"]
ACTIONS = ["create", "write", "get", "list", "upsert_section", "delete_section", "upsert_ref", "delete_ref"]
ACTIONS += ["upsert_diagram", "delete_diagram", "set_meta", "touch_ttl", "set_status", "delete_pack", "batch"]
ACTIONS += ["verify", "repair", "accept", "diff", "draft"]


@pytest.mark.clause("PK-11", "PK-35")
@pytest.mark.parametrize("action", ["nope", "Create", "list ", None, ["list"]])
def test_an_unknown_action_is_refused_with_all_that_are_known(desk: Any, action: Any) -> None:
    error = desk.refused("input", action=action)
    assert (error["kind"], error["code"]) == ("validation", "invalid_data")
    assert "unknown input action" in error["message"]
    assert error["details"]["field"] == "action"
    assert sorted(error["details"]["allowed"]) == sorted(ACTIONS)


@pytest.mark.clause("PK-09")
@pytest.mark.parametrize(
    ("action", "alias", "use"),
    [
        ("upsert_section", "title", "section_title"),
        ("upsert_section", "description", "section_description"),
        ("upsert_ref", "title", "ref_title"),
        ("upsert_ref", "why", "ref_why"),
        ("upsert_diagram", "why", "diagram_why"),
    ],
)
def test_aliases_are_refused_with_the_right_name(desk: Any, action: str, alias: str, use: str) -> None:
    for operation in ({"action": action, alias: "x"}, {"action": action, alias: "x", use: "y"}):
        error = desk.refused("input", **operation)
        assert (error["kind"], error["code"]) == ("validation", "invalid_data")
        assert f"'{alias}' is not supported" in error["message"]
        assert error["details"]["field"] == alias
        assert use in error["message"]
        error = desk.refused("input", action="batch", operations=[operation])
        assert f"'{alias}' is not supported" in error["message"]
        assert error["details"]["index"] == 0


@pytest.mark.clause("PK-15")
def test_create_makes_a_draft_and_answers_the_whole_of_it(desk: Any) -> None:
    made = desk.input(action="create", ttl_minutes=90, name="notes", title="T", brief="B", tags=["x"])
    assert made == {
        "schema_version": 2,
        "id": made["id"],
        "name": "notes",
        "title": "T",
        "brief": "B",
        "status": "draft",
        "tags": ["x"],
        "sections": [],
        "revision": 1,
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "expires_at": "2026-01-02T04:34:05Z",
    }
    assert desk.input(action="get", id=made["id"]) == made


@pytest.mark.clause("PK-16", "PK-68")
def test_every_change_answers_the_same_shape(desk: Any) -> None:
    pack = desk.create(name="notes", title="T")
    desk.clock.advance(seconds=30)
    section = desk.section(pack)
    assert list(section) == MUTATION
    assert section["changed"] == {
        "key": "main",
        "title": "Main",
        "description": None,
        "refs": [],
        "diagrams": [],
    }
    assert {name: section[name] for name in MUTATION[:-1]} == {
        "id": pack,
        "name": "notes",
        "title": "T",
        "status": "draft",
        "revision": 2,
        "updated_at": "2026-01-02T03:04:35Z",
        "expires_at": "2026-01-02T04:04:05Z",
        "ttl_remaining_seconds": 3570,
    }
    ref = desk.ref(pack, ref_why="because")
    lines = {"start": 5, "end": 7}
    assert ref["changed"] == {
        "key": "ref",
        "path": "src/app.py",
        "lines": lines,
        "title": None,
        "why": "because",
        "group": None,
        "state": "exact",
        "found": {"path": "src/app.py", "lines": lines},
        "first_line": "line 5",
        "last_line": "line 7",
    }
    diagram = {"section_key": "main", "diagram_key": "dia"}
    shown = desk.change(pack, "upsert_diagram", **diagram, title="D", mermaid="graph")["changed"]
    assert shown == {"key": "dia", "title": "D", "mermaid": "graph", "why": None}
    for action, fields in (
        ("delete_ref", {"section_key": "main", "ref_key": "ref"}),
        ("delete_diagram", diagram),
        ("set_meta", {"title": "U"}),
        ("touch_ttl", {"extend_minutes": 1}),
        ("delete_section", {"section_key": "main"}),
    ):
        answer = desk.change(pack, action, **fields)
        assert list(answer) == MUTATION
        assert answer["changed"] is None


@pytest.mark.clause("PK-17")
def test_the_id_wins_over_the_name_and_may_be_a_name(desk: Any) -> None:
    one, two = desk.create(name="one-pack"), desk.create(name="two-pack")
    assert desk.input(action="get", id=one, name="two-pack")["id"] == one
    assert desk.input(action="get", id="two-pack")["id"] == two
    assert desk.input(action="get", id=f" {one} ")["id"] == one
    assert desk.input(action="get", id="two-pack", name="one-pack")["id"] == two
    assert desk.input(action="set_meta", name="one-pack", expected_revision=1, title="T")["id"] == one


@pytest.mark.clause("PK-17")
def test_an_unknown_pack_is_not_found(desk: Any) -> None:
    desk.create(name="real-pack")
    for handle in (
        {"id": "pk_aaaaaaaa"},
        {"id": "nobody"},
        {"name": "nobody"},
        {"id": "pk_aaaaaaaa", "name": "real-pack"},
    ):
        error = desk.refused("input", action="get", **handle)
        assert (error["kind"], error["code"]) == ("not_found", "not_found")
        assert desk.refused("output", **handle)["code"] == "not_found"
        error = desk.refused("input", action="delete_pack", expected_revision=1, **handle)
        assert error["code"] == "not_found"


@pytest.mark.clause("PK-18")
def test_a_wrong_revision_is_a_conflict_with_both_revisions(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    for wrong in (1, 3, 0, -1, 10**12):
        error = desk.refused("input", action="set_meta", id=pack, expected_revision=wrong, title="t")
        assert (error["kind"], error["code"]) == ("conflict", "revision_conflict")
        assert error["details"] == {
            "expected_revision": wrong,
            "actual_revision": 2,
            "updated_at": "2026-01-02T03:04:05Z",
            "hint": error["details"]["hint"],
        }
        assert error["details"]["hint"]
    assert desk.input(action="get", id=pack)["title"] is None


@pytest.mark.clause("PK-18")
def test_input_checks_arguments_then_pack_then_revision_then_state(desk: Any) -> None:
    pack = desk.pack_with_ref()
    desk.change(pack, "set_status", status="finalized")
    call = {"action": "delete_ref", "section_key": "main", "ref_key": "no-such"}
    assert desk.refused("input", **call, id="pk_aaaaaaaa", expected_revision="x")["code"] == "invalid_data"
    bad_key = {**call, "ref_key": "NO"}
    assert desk.refused("input", **bad_key, id="pk_aaaaaaaa", expected_revision=1)["code"] == "invalid_data"
    assert desk.refused("input", **call, id="pk_aaaaaaaa", expected_revision=1)["code"] == "not_found"
    assert desk.refused("input", **call, id=pack, expected_revision=1)["code"] == "revision_conflict"
    assert desk.refused("input", **call, id=pack, expected_revision=4)["code"] == "invalid_state"
    desk.change(pack, "set_status", status="draft")
    assert desk.refused("input", **call, id=pack, expected_revision=5)["code"] == "not_found"


@pytest.mark.clause("PK-18")
def test_a_change_that_changes_nothing_keeps_revision_and_time(desk: Any) -> None:
    pack = desk.create(title="T", tags=["x"])
    desk.section(pack, section_description="text")
    desk.ref(pack, ref_title="R")
    diagram = {"section_key": "main", "diagram_key": "dia", "title": "D", "mermaid": "graph"}
    desk.change(pack, "upsert_diagram", **diagram)
    before = desk.input(action="get", id=pack)
    desk.clock.advance(minutes=1)
    desk.change(pack, "set_meta", title=" T ", tags=["x"], brief="")
    desk.change(pack, "set_status", status="draft")
    desk.section(pack)
    desk.section(pack, section_description="text", section_order=0)
    desk.ref(pack, ref_title="R")
    desk.change(pack, "upsert_diagram", **diagram)
    desk.change(pack, "batch", operations=[{"action": "set_meta", "title": "T"}])
    desk.change(pack, "repair")
    assert desk.input(action="get", id=pack) == before
    desk.change(pack, "set_status", status="finalized")
    finalized = desk.input(action="get", id=pack)
    desk.clock.advance(minutes=1)
    desk.change(pack, "set_status", status="finalized")
    assert desk.input(action="get", id=pack) == finalized


def keys(desk: Any, pack: str) -> list[str]:
    """The section keys in order."""
    return [section["key"] for section in desk.input(action="get", id=pack)["sections"]]


@pytest.mark.clause("PK-21")
def test_sections_are_added_at_the_end_or_where_asked(desk: Any) -> None:
    pack = desk.create()
    for key in ("aa", "bb", "cc"):
        desk.section(pack, key)
    desk.section(pack, "first", section_order=0)
    desk.section(pack, "last", section_order=99)
    desk.section(pack, "negative", section_order=-5)
    desk.section(pack, "middle", section_order=3)
    assert keys(desk, pack) == ["negative", "first", "aa", "middle", "bb", "cc", "last"]


@pytest.mark.clause("PK-21")
def test_upserted_refs_keep_their_position_and_omitted_fields(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    desk.ref(pack, "one", ref_title="T", ref_why="W", group="G")
    desk.ref(pack, "two")
    desk.ref(pack, "one", 8, 9)
    refs = desk.input(action="get", id=pack)["sections"][0]["refs"]
    assert [ref["key"] for ref in refs] == ["one", "two"]
    lines = {"start": 8, "end": 9}
    assert refs[0] == {
        "key": "one",
        "path": "src/app.py",
        "lines": lines,
        "title": "T",
        "why": "W",
        "group": "G",
    }
    diagram = {"section_key": "main", "diagram_key": "dia", "title": "D"}
    desk.change(pack, "upsert_diagram", **diagram, mermaid="graph", diagram_why="W")
    assert desk.change(pack, "upsert_diagram", **diagram, mermaid="flowchart")["changed"]["why"] == "W"
    for cleared in (None, ""):
        desk.ref(pack, "one", ref_title="T", ref_why="W", group="G")
        desk.ref(pack, "one", ref_title=cleared, group=cleared)
        (ref, _) = desk.input(action="get", id=pack)["sections"][0]["refs"]
        assert (ref["title"], ref["why"], ref["group"]) == (None, "W", None)
        desk.change(pack, "upsert_diagram", **diagram, mermaid="graph", diagram_why="W")
        operation = {"action": "upsert_diagram", **diagram, "mermaid": "graph", "diagram_why": cleared}
        assert desk.change(pack, "batch", operations=[operation])["changed"] == ["dia"]
        assert desk.store.get(pack).sections[0].diagrams[0].why is None


@pytest.mark.clause("PK-21")
def test_deleting_removes_and_absent_parts_are_not_found(desk: Any) -> None:
    pack = desk.pack_with_ref()
    calls: list[tuple[str, dict[str, str]]] = [
        ("delete_section", {"section_key": "none"}),
        ("delete_ref", {"section_key": "main", "ref_key": "none"}),
        ("delete_ref", {"section_key": "none", "ref_key": "ref"}),
        ("delete_diagram", {"section_key": "main", "diagram_key": "none"}),
    ]
    for action, fields in calls:
        error = desk.refused("input", action=action, id=pack, expected_revision=3, **fields)
        assert (error["kind"], error["code"]) == ("not_found", "not_found")
        assert set(error["details"]) <= {"section_key", "ref_key", "diagram_key"}
        assert error["details"]["section_key"] == fields["section_key"]
    place = {"ref_key": "ref", "path": "a.py", "line_start": 1, "line_end": 1}
    error = desk.refused(
        "input", action="upsert_ref", id=pack, expected_revision=3, section_key="none", **place
    )
    assert error["code"] == "not_found"
    desk.change(pack, "delete_section", section_key="main")
    assert desk.input(action="get", id=pack)["sections"] == []


class Pedant:
    """A `DiagramCheck` for which every text with a question mark is wrong."""

    def faults(self, sources: Sequence[str], /) -> Sequence[str | None]:
        return ["it asks" if "?" in source else None for source in sources]


@pytest.mark.clause("PK-71")
def test_writing_a_diagram_that_cannot_be_drawn_warns_and_verify_lists_it(desk: Any) -> None:
    desk.open(Ports(desk.clock, desk.tree, desk.store, diagrams=Pedant()))
    pack = desk.create()
    desk.section(pack)
    both = [
        {"section_key": "main", "diagram_key": key, "title": key, "mermaid": text}
        for key, text in (("good", "graph TD"), ("bad", "graph TD?"))
    ]
    good, bad = desk.change(pack, "batch", operations=[{"action": "upsert_diagram", **one} for one in both])[
        "changed"
    ]
    assert (good, bad) == ("good", "bad: the diagram is stored, but cannot be drawn: it asks")
    fault = {"section": "main", "diagram": "bad", "fault": "it asks"}
    assert desk.input(action="verify", id=pack)["diagrams"] == [fault]
    assert desk.change(pack, "set_status", status="finalized")["diagrams"] == [fault]
    assert desk.store.get(pack).status == "finalized"
    assert "diagrams" not in desk.change(pack, "set_status", status="draft")


@pytest.mark.clause("PK-37")
def test_only_mutating_actions_count_as_mutations(desk: Any) -> None:
    reads = {"list", "get", "verify", "diff"}
    for action in ACTIONS:
        assert desk.registry.tools["input"].mutates({"action": action}) is (action not in reads)
    assert not desk.registry.tools["output"].mutates({"id": "x"})


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
