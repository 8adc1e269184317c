"""`export_context`: exact depth, fixed order, the envelope, the digest, and what is refused."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from bundle_maker import BundleDesk, bundle_files, desk_of, ids_of, nodes, refs, schema, target
from hypothesis import given
from hypothesis import strategies as st

CHAIN = {"a": ["b"], "b": ["c"], "c": ["d"], "d": ["e"], "e": ["f"], "f": ["g"], "g": []}


def reach(edges: Mapping[str, Sequence[str]], starts: Sequence[str], depth: int) -> dict[str, int]:
    """By brute force: the length of the shortest of all walks of at most `depth` steps."""
    found: dict[str, int] = {}
    walks = deque((start, 0) for start in starts)
    while walks:
        node, steps = walks.popleft()
        if node not in edges:
            continue
        found[node] = min(steps, found.get(node, steps))
        if steps < depth:
            walks.extend((to, steps + 1) for to in edges[node])
    return found


@pytest.mark.clause("BD-30")
def test_depth_defaults_to_three_and_is_at_most_five() -> None:
    desk = desk_of(nodes(CHAIN))
    assert ids_of(desk.export("a")["data"]["dependencies"]) == list("bcd")
    for depth in (6, 99, 10**30):
        body = desk.export("a", dependencyDepth=depth)
        assert ids_of(body["data"]["dependencies"]) == list("bcdef")
        assert body["meta"]["dependencyDepth"] == 5


@pytest.mark.clause("BD-30")
@given(st.data())
def test_any_graph_is_exported_as_brute_force_would(data: st.DataObject) -> None:
    names = [f"n{number}" for number in range(data.draw(st.integers(1, 7)))]
    wanted = st.lists(st.sampled_from([*names, "nowhere"]), max_size=4)
    edges = {name: data.draw(wanted) for name in names}
    starts = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    depth = data.draw(st.integers(0, 5))
    body = desk_of(nodes(edges)).export(*starts, dependencyDepth=depth)["data"]
    distances = reach(edges, starts, depth)
    found = ids_of(body["dependencies"])
    assert ids_of(body["targets"]) == list(dict.fromkeys(starts))
    assert set(found) == set(distances) - set(starts)
    assert len(found) == len(set(found))
    assert all(distances[one] <= distances[other] for one, other in pairwise(found))
    order = [*ids_of(body["targets"]), *found]
    expected = [(one, to) for one in order for to in dict.fromkeys(edges[one]) if to in distances]
    assert [(edge["from"]["entityId"], edge["to"]["entityId"]) for edge in body["relations"]] == expected


@pytest.mark.clause("BD-30")
def test_schemas_are_those_of_the_types_present() -> None:
    other = schema(id={"type": "string"})
    files = bundle_files(
        {"Node": [{"id": "a", "refs": ["o"]}, {"id": "b"}], "Other": [{"id": "o"}], "Third": [{"id": "t"}]},
        {"Other": other, "Third": other},
    )
    desk = desk_of(files)
    assert list(desk.export("b")["data"]["schemas"]) == ["Node"]
    body = desk.export("a")
    assert body["data"]["schemas"] == {"Node": files["schemas/Node.json"], "Other": other}
    assert body["meta"]["schemaCount"] == 2
    without = desk.export("a", includeSchemas=False)
    assert "schemas" not in without["data"]
    assert without["meta"]["schemaCount"] == 0


@pytest.mark.clause("BD-36")
def test_the_envelope_and_the_export_have_exactly_these_fields() -> None:
    body = desk_of(nodes(CHAIN)).export("a", dependencyDepth=1)
    assert list(body["data"]) == ["exportMeta", "targets", "dependencies", "relations", "schemas"]
    assert body["data"]["exportMeta"] == {
        "bundleId": "one",
        "bundleName": "Test bundle",
        "exportedAt": "2026-01-02T03:04:05.000Z",
        "targetCount": 1,
        "dependencyCount": 1,
        "totalEntities": 2,
        "format": "json",
        "version": "1.0",
    }
    assert body["data"]["targets"] == [
        {
            "entityType": "Node",
            "id": "a",
            "data": {"id": "a", "title": "A", "refs": ["b"]},
            "lastModified": "2023-11-14T22:13:20.000Z",
        }
    ]
    meta = body["meta"]
    assert {name: meta[name] for name in meta if name != "digest"} == {
        "bundleId": "one",
        "targetCount": 1,
        "dependencyCount": 1,
        "relationCount": 1,
        "schemaCount": 1,
        "dependencyDepth": 1,
    }
    assert body["diagnostics"] == []


@pytest.mark.clause("BD-37")
@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (target("feat-1"), "not in the bundle: Node feat-1; did you mean FEAT-1, FEAT-12?"),
        (target("FEAT-12", "Feature"), "not in the bundle: Feature FEAT-12; FEAT-12 is of the type Node"),
        (target("x", "node"), "not in the bundle: node x; the types are Node"),
        (target("REQ-2", "?"), "not in the bundle: REQ-2; did you mean REQ-1?"),
        (target("other"), "not in the bundle: Node other"),
    ],
)
def test_an_unknown_target_suggests_similar_ids(wanted: dict[str, str], words: str) -> None:
    desk = desk_of(nodes({"FEAT-1": [], "FEAT-12": [], "REQ-1": []}))
    assert desk.refused("export_context", targets=[wanted])["message"] == words


@pytest.mark.clause("BD-37")
def test_every_missing_target_is_named_and_nothing_is_exported() -> None:
    desk = desk_of(bundle_files({"Node": [{"id": "a"}], "Other": [{"id": "o"}]}))
    wanted = [target("a"), target("x"), target("o"), target("x"), target("o", "Nothing")]
    error = desk.refused("export_context", targets=wanted)
    assert error["code"] == "NOT_FOUND"
    assert error["details"]["notFound"] == [target("x"), target("o"), target("o", "Nothing")]


@pytest.mark.clause("BD-37")
@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "$.targets"),
        ({"targets": []}, "$.targets"),
        ({"targets": [{"entityType": "Node"}]}, "$.targets[0].entityId"),
        ({"targets": [target("a")], "format": "xml"}, "$.format"),
        ({"targets": [target("a")], "includeSchemas": "yes"}, "$.includeSchemas"),
        ({"targets": [target("a")], "depth": 1}, "$.depth"),
        ({"targets": [target("a")], "dependencyDepth": -1}, "$.dependencyDepth"),
        ({"targets": [target("a")], "dependencyDepth": 1.5}, "$.dependencyDepth"),
    ],
)
def test_bad_arguments_are_bad_requests_with_their_places(arguments: dict[str, Any], path: str) -> None:
    error = desk_of(nodes(CHAIN)).refused("export_context", **arguments)
    assert error["code"] == "BAD_REQUEST"
    assert error["details"]["path"] == path
    assert error["details"]["problems"][0]["path"] == path


@pytest.mark.clause("BD-39")
def test_the_digest_is_of_the_data_without_its_time() -> None:
    import hashlib

    files = nodes({"a": ["b"], "b": ["a"], "ü": ["a"]})
    files["bundle/node/0000.yaml"] |= {"z": 1.5, "a b": {"β": [None, True, "\u2028", "\x7f"]}, "big": 10**30}
    desk = desk_of(files)
    for options in ({}, {"includeSchemas": False}, {"includeRelationMetadata": False}, {"format": "yaml"}):
        found = desk.call("export_context", targets=[target("ü")], **options)
        body: Any = json.loads(json.dumps(dict(found.structured or {})))
        del body["data"]["exportMeta"]["exportedAt"]
        text = json.dumps(body["data"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert body["meta"]["digest"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.clause("BD-21", "BD-37")
def test_an_export_lists_diagnostics_of_exported_entities_only() -> None:
    desk = desk_of(nodes({"a": ["b", "gone"], "b": [], "c": ["lost"]}))
    body = desk.export("a")
    assert ids_of(body["data"]["dependencies"]) == ["b"]
    assert [(told["entityId"], told["severity"]) for told in body["diagnostics"]] == [("a", "error")]
    assert "gone" in body["diagnostics"][0]["message"]
    assert body["diagnostics"][0]["filePath"] == "bundle/node/0000.yaml"
    assert desk.export("b")["diagnostics"] == []
    assert "lost" in desk.export("c")["diagnostics"][0]["message"]


@pytest.mark.clause("BD-03")
def test_the_bundle_is_the_named_one_or_the_only_one_that_loads() -> None:
    broken = {"sdd-bundle.yaml": {"kind": "Bundle"}}
    desk = desk_of(nodes(CHAIN), broken=broken)
    assert desk.export("a")["bundleId"] == "one"
    assert desk.export("a", bundleId="one")["bundleId"] == "one"
    assert desk.export("a", bundleId="")["bundleId"] == "one"
    error = desk.refused("export_context", targets=[target("a")], bundleId="broken")
    assert error["code"] == "NOT_FOUND"
    assert error["details"]["diagnostics"][0]["filePath"] == "sdd-bundle.yaml"
    error = desk.refused("export_context", targets=[target("a")], bundleId="nothing")
    assert (error["code"], error["details"]["availableBundles"]) == ("NOT_FOUND", ["one"])


@pytest.mark.clause("BD-03", "BD-37")
def test_several_bundles_need_a_name_and_none_is_not_found() -> None:
    desk = desk_of(nodes(CHAIN), two=nodes({"a": []}))
    for tool, arguments in (
        ("export_context", {"targets": [target("a")]}),
        ("get_context", {"entityType": "Node", "id": "a"}),
        ("export_entity_markdown", target("a")),
    ):
        error = desk.refused(tool, **arguments)
        assert (error["code"], error["details"]["availableBundles"]) == ("BAD_REQUEST", ["one", "two"])
        assert desk.answer(tool, bundleId="two", **arguments)["bundleId"] == "two"
        assert BundleDesk().refused(tool, **arguments)["code"] == "NOT_FOUND"
        assert desk_of({}).refused(tool, **arguments)["code"] == "NOT_FOUND"


@pytest.mark.clause("BD-03")
def test_a_bundle_made_later_is_seen_by_the_call_that_misses_it() -> None:
    desk = BundleDesk()
    assert desk.refused("export_context", targets=[target("a")])["code"] == "NOT_FOUND"
    desk.files["late"] = nodes(CHAIN)
    assert desk.export("a")["bundleId"] == "late"
    desk.files["later"] = nodes({"z": []})
    assert desk.export("z", bundleId="later")["bundleId"] == "later"
    assert desk.refused("export_context", targets=[target("a")])["code"] == "BAD_REQUEST"
    del desk.files["late"]
    assert desk.refused("export_context", targets=[target("a")], bundleId="late")["code"] == "NOT_FOUND"
    assert desk.export("z")["bundleId"] == "later"


@pytest.mark.clause("BD-35")
def test_an_entity_says_itself_when_it_was_modified_or_its_file_does() -> None:
    files = bundle_files(
        {
            "Node": [
                {"id": "said", "lastModifiedDate": "2025-12-20T14:30:00+02:00"},
                {"id": "day", "lastModifiedDate": "2025-12-20"},
                {"id": "local", "lastModifiedDate": "2025-12-20T14:30:00.123999999"},
                {"id": "silent"},
                {"id": "odd", "lastModifiedDate": "last Tuesday"},
            ]
        },
        {"Node": schema(id={}, refs=refs("Node"))},
    )
    body = desk_of(files).export("said", "day", "local", "silent", "odd")
    assert [entity["lastModified"] for entity in body["data"]["targets"]] == [
        "2025-12-20T12:30:00.000Z",
        "2025-12-20T00:00:00.000Z",
        "2025-12-20T14:30:00.123Z",
        "2023-11-14T22:13:20.000Z",
        "2023-11-14T22:13:20.000Z",
    ]
