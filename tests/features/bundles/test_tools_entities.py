"""`export_entity_markdown`, which no value can forge, and `get_context`, both ways, nearest first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bundle_maker import BundleDesk, bundle_files, desk_of, nodes, refs, schema, target
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

SCHEMAS = {
    "Feature": {
        **schema(
            status={"type": "string", "title": "State of work"},
            requirementIds=refs("Requirement", title="Realizes"),
            steps={"title": "Steps", "items": {"properties": {"actorName": {"title": "Who"}}}},
        ),
        "title": "A feature",
    },
    "Requirement": schema(refinesIds=refs("Requirement")),
}
FILES = bundle_files(
    {
        "Feature": [
            {
                "id": "login",
                "title": "User login",
                "status": "draft",
                "description": "First line.\n\n- a list\n",
                "requirementIds": ["R1", "R2", "gone"],
                "steps": [{"actorName": "Rider", "note": 5}, {"actorName": "Nobody"}],
                "empty": [],
                "nothing": None,
                "flag": True,
            }
        ],
        "Requirement": [
            {"id": "R1", "title": "Be secure", "refinesIds": ["R3"]},
            {"id": "R2", "title": "Be quick"},
            {"id": "R3", "name": "Be good"},
        ],
    },
    SCHEMAS,
)


def markdown(files: Any = FILES, key: str = "login", type_: str = "Feature", **more: Any) -> str:
    text: str = desk_of(files).answer("export_entity_markdown", **target(key, type_), **more)["data"][
        "markdown"
    ]
    return text


def headings(text: str) -> list[tuple[str, str]]:
    """The headings that a Markdown reader sees."""
    tokens = MarkdownIt().parse(text)
    return [
        (token.tag, tokens[at + 1].content) for at, token in enumerate(tokens) if token.type == "heading_open"
    ]


@pytest.mark.clause("BD-52")
def test_a_document_has_a_title_field_titles_and_related_entities() -> None:
    text = markdown()
    assert text.startswith("# User login\n\n- **Type:** A feature\n- **ID:** login\n")
    for line in (
        "- **State of work:** draft",
        "**Description:**",
        "- a list",
        "- **Realizes:**",
        "  - R1 — Be secure",
        "  - gone",
        "    - **Who:** Rider",
        "    - **Note:** 5",
        "- **Flag:** true",
    ):
        assert line in text.splitlines()
    assert "Empty" not in text
    assert "Nothing" not in text
    assert headings(text) == [
        ("h1", "User login"),
        ("h2", "Related entities"),
        ("h3", "Requirement"),
        ("h4", "Be secure"),
        ("h4", "Be quick"),
        ("h4", "Be good"),
    ]


@pytest.mark.clause("BD-52")
def test_a_document_shows_the_nearest_as_far_as_there_is_room_and_says_so() -> None:
    near = {f"n{number}": [f"far{number}"] for number in range(50)}
    edges = {"t": list(near), **near, **{key: [] for keys in near.values() for key in keys}}
    files = nodes(edges)
    for name, value in files.items():
        if name.startswith("bundle/"):
            value["text"] = "x" * 1_500
    body = desk_of(files).answer("export_entity_markdown", **target("t"))
    text, shown = body["data"]["markdown"], [one["id"] for one in body["data"]["includedDependencies"]]
    assert shown == list(edges)[1 : len(shown) + 1]
    assert 25 <= len(shown) <= 33
    assert body["meta"]["truncated"] is True
    assert body["meta"]["leftOut"] == 100 - len(shown)
    assert len(json.dumps(body).encode()) < 50_000
    assert f"\n> truncated: {100 - len(shown)} related entities left; " in text
    assert [level for level, _ in headings(text)] == ["h1", "h2", "h3", *["h4"] * len(shown)]
    assert (
        desk_of(nodes({"t": []})).answer("export_entity_markdown", **target("t"))["meta"]["truncated"]
        is False
    )


EVIL = st.text(st.sampled_from("#>-*+`~=|[]().1 \n\r\t\\<a/b!\u2028\x85:_"), max_size=25)


@pytest.mark.clause("BD-52")
@given(EVIL, EVIL, EVIL)
def test_no_value_forges_the_structure_of_the_document(title: str, text: str, key: str) -> None:
    files = bundle_files(
        {
            "Node": [
                {
                    "id": "a",
                    "title": title,
                    "text": text,
                    "list": [text, [text, {key: text}]],
                    key: {text: key},
                },
                {"id": "b"},
            ]
        }
    )
    files["bundle/node/0000.yaml"]["id"] = "a"
    files["bundle/node/0000.yaml"]["refs"] = ["b"]
    found = headings(markdown(files, "a", "Node"))
    assert [tag for tag, _ in found] == ["h1", "h2", "h3", "h4"]
    assert [name for _, name in found[1:]] == ["Related entities", "Node", "b"]


EDGES = {"t": ["b", "a"], "a": ["x"], "b": [], "x": ["y"], "y": [], "r": ["t"], "q": ["t"], "far": ["r"]}


def near(desk: BundleDesk, key: str = "t", **more: Any) -> Any:
    return desk.answer("get_context", entityType="Node", id=key, **more)


def told(body: Any) -> list[tuple[str, str, int]]:
    """The neighbours as (id, relation, distance)."""
    return [(one["id"], one["relation"], one["distance"]) for one in body["data"]["related"]]


@pytest.mark.clause("BD-50")
def test_neighbours_list_references_before_referrers() -> None:
    body = near(desk_of(nodes(EDGES)))
    assert told(body) == [
        ("b", "references", 1),
        ("a", "references", 1),
        ("r", "referencedBy", 1),
        ("q", "referencedBy", 1),
    ]
    assert body["data"]["target"] == {
        "entityType": "Node",
        "id": "t",
        "data": {"id": "t", "title": "T", "refs": ["b", "a"]},
        "lastModified": "2023-11-14T22:13:20.000Z",
    }
    assert body["data"]["related"][0] == {
        "id": "b",
        "entityType": "Node",
        "relation": "references",
        "field": "refs",
        "distance": 1,
        "data": {"id": "b", "title": "B", "refs": []},
    }
    assert body["meta"] == {
        "bundleId": "one",
        "relatedCount": 4,
        "totalRelated": 4,
        "truncated": False,
        "depth": 1,
        "maxRelated": 20,
        "includeRelated": "full",
    }


@pytest.mark.clause("BD-50")
def test_neighbours_go_without_data_where_an_answer_has_no_room_for_it() -> None:
    heavy = {"a": 20_000, "b": 60_000, "c": 20_000, "d": 10}
    start = {"id": "t", "refs": list(heavy)}
    around = [{"id": key, "text": "value " * (size // 6)} for key, size in heavy.items()]
    body = near(desk_of(bundle_files({"Node": [start, *around]})))
    assert {one["id"]: "data" in one for one in body["data"]["related"]} == {
        "a": True,
        "b": False,
        "c": True,
        "d": True,
    }
    assert body["data"]["related"][1] == {
        "id": "b",
        "entityType": "Node",
        "relation": "references",
        "field": "refs",
        "distance": 1,
        "truncated": True,
    }
    assert body["meta"]["truncated"] is True
    assert (body["meta"]["relatedCount"], body["meta"]["withoutData"]) == (4, 1)
    assert len(json.dumps(body, ensure_ascii=False).encode()) < 85_000


@pytest.mark.clause("BD-50")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("depth", 4),
        ("maxRelated", 101),
        ("includeRelated", "all"),
        ("fields", "title"),
        ("entityId", "t"),
    ],
)
def test_values_over_the_limits_are_bad_requests(name: str, value: Any) -> None:
    error = desk_of(nodes(EDGES)).refused("get_context", **{"entityType": "Node", "id": "t", name: value})
    assert (error["code"], error["details"]["field"]) == ("BAD_REQUEST", name)


@pytest.mark.clause("BD-50")
def test_neighbours_come_whole_in_summary_or_by_id() -> None:
    files = bundle_files(
        {
            "Node": [{"id": "t", "refs": ["k"]}],
            "Other": [{"key": "k", "name": "N", "state": "new", "long": "…"}],
        },
        {"Other": schema(key={"type": "string"})},
        id_fields={"Other": "key"},
    )
    desk = desk_of(files)
    datas = {
        detail: near(desk, includeRelated=detail)["data"]["related"][0]
        for detail in ("full", "summary", "ids")
    }
    assert datas["full"]["data"] == {"key": "k", "name": "N", "state": "new", "long": "…"}
    assert datas["summary"]["data"] == {"key": "k", "name": "N", "state": "new"}
    assert "data" not in datas["ids"]


@pytest.mark.clause("BD-50")
def test_diagnostics_of_other_entities_are_only_counted() -> None:
    files = nodes({"t": ["gone"], "near": ["t"], **{f"x{number}": ["nobody"] for number in range(500)}})
    files["bundle/node/broken.yaml"] = "id: ["
    body = near(desk_of(files))
    assert [told["entityId"] for told in body["diagnostics"]] == ["t"]
    assert body["meta"]["otherDiagnostics"] == 501


@pytest.mark.clause("TK-28")
def test_who_asks_for_the_context_of_a_folder_is_led_to_the_other_tool() -> None:
    error = desk_of(nodes({"t": []})).refused("get_context", path="src/core")
    assert error["code"] == "BAD_REQUEST"
    assert "query_context {scope}" in error["message"]
