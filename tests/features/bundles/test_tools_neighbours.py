"""`get_context`: an entity and what is around it, both ways, nearest first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bundle_maker import BundleDesk, bundle_files, desk_of, nodes, schema

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
