"""Keys, names, paths, lines and texts: what a pack can hold, as the tools enforce it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from context_pack.packs import commands, values
from context_pack.toolkit.arguments import schema_of

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
@pytest.mark.parametrize("name", ["abc", "a" * 120, "My pack!", "größe", "pk_short", "pk_ABCDEFGH", "a  b"])
def test_names_of_3_to_120_printable_characters_are_taken(desk: Any, name: str) -> None:
    desk.create(name=name)
    assert desk.input(action="get", name=name)["name"] == name


@pytest.mark.clause("PK-02")
@pytest.mark.parametrize(
    "name", ["", "ab", " ab ", "a" * 121, "pk_abcdefgh", " pk_abcdef23 ", "a\nbc", "a\x00bc", "ab\u2028c"]
)
def test_invalid_pack_names_are_refused(desk: Any, name: str) -> None:
    error = desk.refused("input", action="create", ttl_minutes=5, name=name)
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "name")
    assert desk.input() == {"count": 0, "total": 0, "has_more": False, "packs": []}


@pytest.mark.clause("PK-02")
@pytest.mark.parametrize(
    "unseen",
    [
        *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\u061c", "\u180e"),
        *("\U000e0041", "\ue000", "\uffff"),
    ],
)
def test_a_name_with_an_invisible_character_is_refused_in_words(desk: Any, unseen: str) -> None:
    for name in (f"no{unseen}tes", f"{unseen}notes", f"notes{unseen}"):
        error = desk.refused("input", action="create", ttl_minutes=5, name=name)
        assert (error["code"], error["details"]["field"]) == ("invalid_data", "name")
        assert f"'name' holds an invisible character (U+{ord(unseen):04X}" in error["message"]
    assert desk.input()["total"] == 0


@pytest.mark.clause("PK-02")
@pytest.mark.parametrize("name", ["größe", "zo\u0308e", "日本語ノート", "हिन्दी", "🚀 launch", "a\u00a0b"])
def test_letters_marks_and_signs_of_any_script_make_a_name(desk: Any, name: str) -> None:
    desk.create(name=name)
    assert desk.input(action="get", name=name)["name"] == name


@pytest.mark.clause("PK-02")
def test_a_stored_pack_with_a_now_invalid_name_is_still_read() -> None:
    assert values.name("no\u200btes") == "no\u200btes"


@pytest.mark.clause("PK-02")
def test_names_are_trimmed_and_compared_by_case(desk: Any) -> None:
    desk.create(name="  Notes  ")
    assert desk.input(action="get", name="Notes")["name"] == "Notes"
    assert desk.input(action="get", name=" Notes ")["name"] == "Notes"
    assert desk.refused("input", action="get", name="notes")["code"] == "not_found"
    desk.create(name="notes")


@pytest.mark.clause("PK-02")
def test_a_name_cannot_be_changed(desk: Any) -> None:
    pack = desk.create(name="first")
    error = desk.refused(
        "input", action="set_meta", id=pack, expected_revision=1, title="t", new_name="second"
    )
    assert error["details"]["field"] == "new_name"
    assert desk.change(pack, "set_meta", title="t")["name"] == "first"


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


@pytest.mark.clause("PK-03")
@pytest.mark.parametrize("key", ["ab", "0_", "9-z", "a" * 64, "token-flow_2"])
def test_keys_of_the_right_shape_are_taken(desk: Any, key: str) -> None:
    pack = desk.create()
    assert desk.section(pack, key)["changed"]["key"] == key


@pytest.mark.clause("PK-03")
def test_refs_of_different_sections_may_share_a_key(desk: Any) -> None:
    pack = desk.create()
    desk.section(pack)
    desk.section(pack, "other")
    desk.ref(pack, "same")
    desk.ref(pack, "same", section_key="other")
    desk.change(pack, "upsert_diagram", section_key="main", diagram_key="same", title="t", mermaid="graph")
    sections = desk.input(action="get", id=pack)["sections"]
    assert [[ref["key"] for ref in section["refs"]] for section in sections] == [["same"], ["same"]]


@pytest.mark.clause("PK-04")
@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_that_are_not_plain_and_relative_are_refused(desk: Any, path: str) -> None:
    pack = desk.create()
    desk.section(pack)
    place = {"section_key": "main", "ref_key": "ref", "line_start": 1, "line_end": 1}
    error = desk.refused("input", action="upsert_ref", id=pack, expected_revision=2, path=path, **place)
    assert (error["kind"], error["code"], error["details"]["field"]) == ("validation", "invalid_data", "path")


@pytest.mark.clause("PK-04")
def test_a_backslash_is_a_separator(desk: Any) -> None:
    pack = desk.pack_with_ref(path="src\\app.py")
    assert desk.state(pack)["path"] == "src/app.py"
    assert desk.state(pack)["state"] == "exact"


@pytest.mark.clause("PK-04")
@pytest.mark.parametrize(
    ("start", "end", "field"),
    [
        (0, 1, "line_start"),
        (-1, 1, "line_start"),
        (5, 4, "line_end"),
        (1, 2001, "line_end"),
        (1, 0, "line_end"),
        (2**31, 2**31, "line_start"),
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


@pytest.mark.clause("PK-04")
@pytest.mark.parametrize(
    ("start", "end"), [(1, 1), (1, 2000), (10**9, 10**9 + 1999), (2**31 - 2000, 2**31 - 1)]
)
def test_ranges_of_up_to_2000_lines_are_taken(desk: Any, start: int, end: int) -> None:
    pack = desk.pack_with_ref(start, end)
    assert desk.state(pack)["lines"] == {"start": start, "end": end}


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
def test_free_text_is_trimmed(desk: Any) -> None:
    pack = desk.create(title="  T \n", brief="\tB ", tags=[" one ", "two"])
    desk.section(pack, section_title=" S ", section_description="\n \n    code()\n\ntext\n \n")
    desk.ref(pack, ref_title=" R ", ref_why=" W ", group=" G ")
    diagram = {"section_key": "main", "diagram_key": "dia", "title": " D ", "mermaid": "\n graph TD\n  a \n"}
    changed = desk.change(pack, "upsert_diagram", **diagram, diagram_why=" Y ")["changed"]
    assert changed == {"key": "dia", "title": "D", "mermaid": " graph TD\n  a ", "why": "Y"}
    whole = desk.input(action="get", id=pack)
    assert (whole["title"], whole["brief"], whole["tags"]) == ("T", "B", ["one", "two"])
    section = whole["sections"][0]
    assert (section["title"], section["description"]) == ("S", "    code()\n\ntext")
    assert [section["refs"][0][name] for name in ("title", "why", "group")] == ["R", "W", "G"]
    assert "]\n    code()\n\ntext\n" in desk.output(id=pack)


@pytest.mark.clause("PK-06")
def test_descriptions_and_diagrams_may_hold_lines_and_control_characters(desk: Any) -> None:
    pack = desk.create()
    text = "one\ntwo\x07\u2028three\tfour"
    assert desk.section(pack, section_description=text)["changed"]["description"] == text
    diagram = {"section_key": "main", "diagram_key": "dia", "title": "t", "mermaid": text}
    assert desk.change(pack, "upsert_diagram", **diagram)["changed"]["mermaid"] == text


CAPS = [
    (commands.Create, "title", 200),
    (commands.Create, "brief", 2000),
    (commands.UpsertSection, "section_title", 200),
    (commands.UpsertSection, "section_description", 20_000),
    (commands.UpsertRef, "ref_title", 200),
    (commands.UpsertRef, "ref_why", 2000),
    (commands.UpsertRef, "group", 120),
    (commands.UpsertRef, "path", 1024),
    (commands.UpsertDiagram, "title", 200),
    (commands.UpsertDiagram, "mermaid", 50_000),
    (commands.UpsertDiagram, "diagram_why", 2000),
]


@pytest.mark.clause("PK-06")
@pytest.mark.parametrize(("command", "field", "cap"), CAPS)
def test_caps_are_named_in_the_schema(command: type, field: str, cap: int) -> None:
    assert schema_of(command)["properties"][field]["maxLength"] == cap


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


@pytest.mark.clause("PK-06")
@pytest.mark.parametrize("tag", ["", "   "])
def test_blank_tags_are_refused(desk: Any, tag: str) -> None:
    error = desk.refused("input", action="create", ttl_minutes=1, tags=["ok", tag])
    assert (error["code"], error["details"]["field"]) == ("invalid_data", "tags")


@pytest.mark.clause("PK-06")
def test_a_cap_counts_characters_not_bytes(desk: Any) -> None:
    assert desk.input(action="get", id=desk.create(title="é" * 200))["title"] == "é" * 200
