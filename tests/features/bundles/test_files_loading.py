"""From files to a bundle: what counts, what is a diagnostic, what a check finds, what clients are offered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bundle_maker import (
    MANIFEST,
    TYPE_FILE,
    BundleDesk,
    Files,
    bundle_files,
    desk_of,
    ids_of,
    load_files,
    nodes,
    target,
)

from context_pack.bundles.model import Bundle, DiagnosticSubject, Unloadable
from context_pack.kernel.errors import Code, Failure
from context_pack.toolkit.offers import ResourceFamily


def troubles(files: Files) -> list[tuple[str | None, str]]:
    """What is wrong with a bundle as (file, message)."""
    return [(told.file, told.message) for told in load_files(files).diagnostics]


def bundle_of(files: Files) -> Bundle:
    """A bundle that must load."""
    bundle = load_files(files)
    assert isinstance(bundle, Bundle)
    return bundle


@pytest.mark.clause("BD-06")
@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ([], "$ must be a mapping"),
        ("text", "$ must be a mapping"),
        ({"kind": "Bundle"}, "$.spec.bundleTypeDefinition must be"),
        ({"kind": "Bundle", "spec": {"bundleTypeDefinition": 5}}, "$.spec.bundleTypeDefinition must be"),
        ({"kind": "Bundle", "spec": {"bundleTypeDefinition": " "}}, "$.spec.bundleTypeDefinition must be"),
        ({"kind": "Bundle", "spec": []}, "$.spec must be a mapping"),
    ],
)
def test_a_manifest_without_a_bundle_type_does_not_load(manifest: Any, words: str) -> None:
    files = {**nodes({"a": []}), MANIFEST: manifest}
    assert isinstance(load_files(files), Unloadable)
    assert troubles(files)[0][0] == MANIFEST
    assert words in troubles(files)[0][1]
    error = desk_of(files).refused("export_context", targets=[target("a")])
    assert error["code"] == "NOT_FOUND"
    assert words in error["details"]["diagnostics"][0]["message"]


@pytest.mark.clause("BD-06")
def test_mistakes_in_a_bundle_type_are_reported_by_place_and_the_rest_loads() -> None:
    files = nodes({"a": ["b"], "b": []})
    files[TYPE_FILE]["entities"] += [
        5,
        {"entityType": ""},
        {"entityType": "NoFolder"},
        {"entityType": "Node", "directory": "elsewhere"},
        {"entityType": "Odd", "directory": "bundle/node", "idField": 7, "schemaPath": []},
    ]
    files[TYPE_FILE]["relations"] = [
        {"fromEntity": "Node", "fromField": "refs"},
        "x",
        {"fromEntity": "Node"},
        {"fromEntity": "Gone", "fromField": "x"},
    ]
    places = [message.split()[0] for file, message in troubles(files) if file == TYPE_FILE]
    assert places == [
        "$.entities[1]",
        "$.entities[2].entityType",
        "$.entities[3].directory",
        "$.entities[4].entityType",
        "$.entities[5].idField",
        "$.entities[5].schemaPath",
        "$.relations[1]",
        "$.relations[2].fromField",
        "$.relations[3].fromEntity",
    ]
    assert ids_of(desk_of(files).export("a")["data"]["dependencies"]) == ["b"]


@pytest.mark.clause("BD-06", "BD-13")
@pytest.mark.parametrize(
    "path", ["/bundle/node", "../one/bundle/node", "a/../../node", "C:/node", "..", "a\\..\\.."]
)
def test_a_path_that_leaves_the_bundle_is_reported_at_its_place(path: str) -> None:
    files = nodes({"a": []}) | {"bundle/other/1.yaml": {"id": "o"}}
    files[TYPE_FILE]["entities"][0] |= {"directory": path, "schemaPath": path}
    files[TYPE_FILE]["entities"].append({"entityType": "Other", "directory": "bundle/other"})
    del files[MANIFEST]["spec"]["schemas"]
    told = [(file, message.partition(":")[0]) for file, message in troubles(files)]
    assert sorted(told) == [
        (TYPE_FILE, "$.entities[0].directory is no path inside the bundle"),
        (TYPE_FILE, "$.entities[0].schemaPath is no path inside the bundle"),
    ]
    error = desk_of(files).refused("export_context", targets=[target("a")])
    assert [one["filePath"] for one in error["details"]["diagnostics"]] == [TYPE_FILE, TYPE_FILE]
    files[MANIFEST]["spec"]["schemas"] = {"documents": {"Node": path}}
    assert (MANIFEST, "$.spec.schemas.documents.Node is no path inside the bundle") in [
        (file, message.partition(":")[0]) for file, message in troubles(files)
    ]


@pytest.mark.clause("BD-06", "BD-13")
@pytest.mark.parametrize(
    "path", ["./bundle/node/", "bundle\\node", "x/../bundle/node", "bundle//node", " bundle/node "]
)
def test_a_path_that_stays_inside_may_be_spelled_in_many_ways(path: str) -> None:
    files = nodes({"a": ["b"], "b": []})
    files[TYPE_FILE]["entities"][0]["directory"] = path
    assert ids_of(desk_of(files).export("a")["data"]["dependencies"]) == ["b"]


@pytest.mark.clause("BD-06")
def test_entities_are_the_yaml_files_right_in_the_folder_of_their_type_by_name() -> None:
    files = bundle_files({"Node": []})
    names = ["b.yaml", "a.yml", ".hidden.yaml", "c.json", "d.YAML", "sub/e.yaml", "yaml", "x.yaml.bak"]
    files |= {f"bundle/node/{name}": {"id": f"id of {name}"} for name in names}
    assert list(bundle_of(files).entities) == ["id of a.yml", "id of b.yaml"]


@pytest.mark.clause("BD-06")
@pytest.mark.parametrize("value", [None, "", "  ", 5, True, ["a"], {"a": 1}])
def test_an_entity_without_a_text_for_its_id_is_left_out(value: Any) -> None:
    files = nodes({"a": []})
    files["bundle/node/9.yaml"] = {"key": "k"} if value is None else {"id": value}
    assert list(bundle_of(files).entities) == ["a"]
    assert troubles(files) == [("bundle/node/9.yaml", "$.id must be the id, a text")]


@pytest.mark.clause("BD-06")
def test_a_folder_that_is_not_there_is_a_warning() -> None:
    files = nodes({})
    (told,) = load_files(files).diagnostics
    assert (told.severity, told.file, told.entity_type) == ("warning", "bundle/node", "Node")


@pytest.mark.clause("BD-06")
def test_the_first_of_an_id_wins_in_the_order_of_types_then_of_names() -> None:
    files = bundle_files(
        {"Second": [{"id": "x", "n": 1}, {"id": "x", "n": 2}], "First": [{"id": "x", "n": 3}, {"id": "y"}]}
    )
    bundle = bundle_of(files)
    assert [(entity.type, entity.id, entity.data.get("n")) for entity in bundle.entities.values()] == [
        ("Second", "x", 1),
        ("First", "y", None),
    ]
    told = bundle.diagnostics
    assert [(one.file, one.entity_type, one.entity_id) for one in told] == [
        ("bundle/second/0001.yaml", "Second", "x"),
        ("bundle/first/0000.yaml", "First", "x"),
    ]
    assert all("bundle/second/0000.yaml" in one.message for one in told)
    answer = desk_of(files).answer("export_context", targets=[target("x", "Second")])
    assert len(answer["diagnostics"]) == 2


@pytest.mark.clause("BD-09")
def test_the_schema_is_the_one_the_manifest_names_else_the_one_of_the_type() -> None:
    files = nodes({"a": []})
    files["schemas/other.json"] = {"title": "Other"}
    files[MANIFEST]["spec"]["schemas"]["documents"]["Node"] = "./schemas//other.json"
    assert bundle_of(files).schemas["Node"] == {"title": "Other"}
    del files[MANIFEST]["spec"]["schemas"]
    assert bundle_of(files).schemas["Node"] == files["schemas/Node.json"]


@pytest.mark.clause("BD-71")
def test_a_check_finds_every_sort_of_trouble() -> None:
    files = nodes({"a": ["b", "gone"], "b": [], "alone": [], "selfish": ["selfish"]})
    files["bundle/node/8.yaml"] = {"id": "b"}
    files["bundle/node/9.yaml"] = {}
    files["bundle/node/0001.yaml"]["title"] = 5
    found = [(one.sort, one.entity_id or one.file) for one in bundle_of(files).findings()]
    assert found == [
        (DiagnosticSubject.SCHEMA, "b"),
        (DiagnosticSubject.FILE, "bundle/node/9.yaml"),
        (DiagnosticSubject.DUPLICATE, "b"),
        (DiagnosticSubject.REFERENCE, "a"),
        (DiagnosticSubject.ORPHAN, "alone"),
        (DiagnosticSubject.ORPHAN, "selfish"),
    ]


def family(desk: BundleDesk) -> ResourceFamily:
    (found,) = [one for one in desk.registry.resources() if one.prefix == "context://bundle/"]
    return found


@pytest.mark.clause("BD-60")
def test_an_entity_is_a_resource_as_json() -> None:
    files = bundle_files({"Node": [{"id": "a b/ü", "title": "T"}]})
    desk = desk_of(files)
    for uri in ("context://bundle/one/Node/a%20b%2F%C3%BC", "context://bundle/one/Node/a b/ü"):
        found = desk.registry.read(uri)
        assert found is not None
        assert (found.uri, found.mime_type) == (uri, "application/json")
        assert json.loads(found.text) == {
            "entityType": "Node",
            "id": "a b/ü",
            "data": {"id": "a b/ü", "title": "T"},
            "lastModified": "2023-11-14T22:13:20.000Z",
        }
    assert family(desk).uri_template == "context://bundle/{bundle}/{type}/{id}"
    assert list(family(desk).entries()) == []


@pytest.mark.clause("BD-60")
@pytest.mark.parametrize("rest", ["two/Node/a", "one/Other/a", "one/Node/b", "..%2Fone/Node/a"])
def test_a_uri_that_names_nothing_is_not_found(rest: str) -> None:
    with pytest.raises(Failure) as told:
        desk_of(nodes({"a": []})).registry.read(f"context://bundle/{rest}")
    assert told.value.code is Code.NOT_FOUND
