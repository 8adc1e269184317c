"""What a pack can hold, as the tools enforce it, and that no wrong argument is silently ignored."""

from __future__ import annotations

import re
from typing import Any

import pytest

BAD_KEYS = ["", "a", "A1", "-ab", "_ab", "a b", "ä1", "a" * 65, "ab\n", "a.b", "a/b", "ab "]
BAD_PATHS = ["/etc/passwd", "\\etc", "C:/x", "c:x", "../a", "a/../b", "..\\a", "a//b", "./a", "a/.", "a/", ""]
BAD_PATHS += [" ", "a\x00b", "a\nb", "a\u2028b", "x" * 1025, "é" * 513, "a/\ud800"]
BREAKS = ["\n", "\r", "\t", "\x00", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\v", "\f"]


@pytest.mark.clause("PK-01")
def test_ids_look_like_ids_and_differ(desk: Any) -> None:
    made = {desk.create() for _ in range(50)}
    assert len(made) == 50
    assert all(re.fullmatch("pk_[a-z2-7]{8}", pack) for pack in made)


@pytest.mark.clause("PK-02")
@pytest.mark.parametrize(
    "name", ["", "ab", " ab ", "a" * 121, "pk_abcdefgh", " pk_abcdef23 ", "a\nbc", "a\x00bc", "ab\u2028c"]
)
def test_invalid_pack_names_are_refused(desk: Any, name: str) -> None:
    error = desk.refused("input", action="create", ttl_minutes=5, name=name)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "name")
    assert desk.input() == {"count": 0, "total": 0, "has_more": False, "packs": []}


@pytest.mark.clause("PK-02")
@pytest.mark.parametrize("unseen", ["\u200b", "\ufeff", "\u00ad", "\u202e", "\U000e0041", "\ue000", "\uffff"])
def test_a_name_with_an_invisible_character_is_refused_in_words(desk: Any, unseen: str) -> None:
    for name in (f"no{unseen}tes", f"{unseen}notes", f"notes{unseen}"):
        error = desk.refused("input", action="create", ttl_minutes=5, name=name)
        assert error["details"]["field"] == "name"
        assert f"'name' holds an invisible character (U+{ord(unseen):04X}" in error["message"]


@pytest.mark.clause("PK-02")
def test_names_are_trimmed_and_compared_by_case(desk: Any) -> None:
    desk.create(name="  Notes  ")
    assert desk.input(action="get", name="Notes")["name"] == "Notes"
    assert desk.input(action="get", name=" Notes ")["name"] == "Notes"
    assert desk.refused("input", action="get", name="notes")["code"] == "not_found"
    desk.create(name="notes")


@pytest.mark.clause("PK-03")
@pytest.mark.parametrize("key", BAD_KEYS)
@pytest.mark.parametrize("field", ["section_key", "ref_key", "diagram_key"])
def test_keys_of_another_shape_are_refused(desk: Any, field: str, key: str) -> None:
    pack = desk.create()
    desk.section(pack)
    calls: dict[str, dict[str, Any]] = {
        "section_key": {"action": "upsert_section", "section_title": "t"},
        "ref_key": {
            "action": "upsert_ref",
            "section_key": "main",
            "path": "a",
            "line_start": 1,
            "line_end": 1,
        },
        "diagram_key": {"action": "upsert_diagram", "section_key": "main", "title": "t", "mermaid": "graph"},
    }
    error = desk.refused("input", id=pack, expected_revision=2, **{**calls[field], field: key})
    assert (error["code"], error["details"]["field"]) == ("invalid_data", field)


@pytest.mark.clause("PK-04")
@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_that_are_not_plain_and_relative_are_refused(desk: Any, path: str) -> None:
    pack = desk.create()
    desk.section(pack)
    place = {"section_key": "main", "ref_key": "ref", "line_start": 1, "line_end": 1}
    error = desk.refused("input", action="upsert_ref", id=pack, expected_revision=2, path=path, **place)
    assert (error["kind"], error["code"], error["details"]["field"]) == ("validation", "invalid_data", "path")


@pytest.mark.clause("PK-04")
@pytest.mark.parametrize(
    ("start", "end", "field"),
    [
        (0, 1, "line_start"),
        (5, 4, "line_end"),
        (1, 2001, "line_end"),
        (2**31 - 1, 2**31, "line_end"),
        (10**30, 10**30, "line_start"),
    ],
)
def test_impossible_ranges_are_refused(desk: Any, start: int, end: int, field: str) -> None:
    pack = desk.create()
    desk.section(pack)
    place = {"section_key": "main", "ref_key": "ref", "path": "a.py", "line_start": start, "line_end": end}
    error = desk.refused("input", action="upsert_ref", id=pack, expected_revision=2, **place)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", field)


def single_line_calls(value: str) -> list[tuple[str, dict[str, Any]]]:
    """One call per single-line field, each with the value in that field; the field's name first."""
    main = {"section_key": "main"}
    ref = {**main, "ref_key": "ref", "path": "a.py", "line_start": 1, "line_end": 1, "action": "upsert_ref"}
    diagram = {**main, "diagram_key": "dia", "title": "t", "mermaid": "graph", "action": "upsert_diagram"}
    return [
        ("title", {"action": "set_meta", "title": value}),
        ("brief", {"action": "set_meta", "brief": value}),
        ("tags", {"action": "set_meta", "tags": ["fine", value]}),
        ("section_title", {"action": "upsert_section", **main, "section_title": value}),
        ("ref_title", {**ref, "ref_title": value}),
        ("ref_why", {**ref, "ref_why": value}),
        ("group", {**ref, "group": value}),
        ("diagram_why", {**diagram, "diagram_why": value}),
        ("title", {**diagram, "title": value}),
    ]


@pytest.mark.clause("PK-06")
@pytest.mark.parametrize("bad", BREAKS)
def test_single_line_fields_hold_no_break_and_no_control_character(desk: Any, bad: str) -> None:
    pack = desk.create()
    desk.section(pack)
    for field, call in single_line_calls(f"one{bad}two"):
        error = desk.refused("input", id=pack, expected_revision=2, **call)
        assert (error["code"], error["details"]["field"]) == ("invalid_data", field), call
    for field in ("title", "brief", "tags"):
        value: Any = [f"one{bad}two"] if field == "tags" else f"one{bad}two"
        error = desk.refused("input", action="create", ttl_minutes=1, **{field: value})
        assert error["details"]["field"] == field


@pytest.mark.clause("PK-06")
def test_texts_are_taken_up_to_their_cap_and_no_further(desk: Any) -> None:
    pack = desk.create(title="t" * 200, brief="b" * 2000, tags=["x" * 64])
    for field, cap in (("title", 200), ("brief", 2000)):
        error = desk.refused(
            "input", action="set_meta", id=pack, expected_revision=1, **{field: "x" * (cap + 1)}
        )
        assert error["details"]["field"] == field
    desk.change(pack, "set_meta", tags=[f"tag{number}" for number in range(50)])
    for tags in ([f"tag{number}" for number in range(51)], ["x" * 65]):
        error = desk.refused("input", action="set_meta", id=pack, expected_revision=2, tags=tags)
        assert error["details"]["field"] == "tags"
    desk.section(pack, section_description="d" * 20_000)
    long = {"section_key": "main", "section_title": "t", "section_description": "d" * 20_001}
    error = desk.refused("input", action="upsert_section", id=pack, expected_revision=3, **long)
    assert error["details"]["field"] == "section_description"


@pytest.mark.clause("PK-06")
def test_tags_keep_their_order_and_lose_doubles(desk: Any) -> None:
    pack = desk.create(tags=["beta", "alpha", " beta ", "Beta"])
    assert desk.input(action="get", id=pack)["tags"] == ["beta", "alpha", "Beta"]


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
