"""From files to a bundle: what counts, what is a diagnostic, and what is not done twice."""

from __future__ import annotations

from typing import Any

import pytest
from bundle_maker import MANIFEST, TYPE_FILE, BundleDesk, Files, bundle_files, desk_of, ids_of, nodes, target
from inmemory.bundles import MemoryBundleFiles, MemoryBundleStore

from context_pack.bundles.loading import Loaded, load
from context_pack.bundles.model import Bundle, Unloadable
from context_pack.bundles.ports import BundlePlace, Flaw
from context_pack.kernel.errors import Failure


def loaded(files: Files, before: Loaded | None = None) -> Loaded:
    """What these files make."""
    return load(MemoryBundleFiles(files), before, "one", lambda _: None)


def troubles(files: Files) -> list[tuple[str | None, str]]:
    """What is wrong with a bundle as (file, message)."""
    return [(told.file, told.message) for told in loaded(files).bundle.diagnostics]


def bundle_of(files: Files) -> Bundle:
    """A bundle that must load."""
    bundle = loaded(files).bundle
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
    assert isinstance(loaded(files).bundle, Unloadable)
    assert troubles(files)[0][0] == MANIFEST
    assert words in troubles(files)[0][1]
    error = desk_of(files).refused("export_context", targets=[target("a")])
    assert error["code"] == "NOT_FOUND"
    assert words in error["details"]["diagnostics"][0]["message"]


@pytest.mark.clause("BD-06")
@pytest.mark.parametrize("value", [[], {}, {"entities": {}}, {"entities": "Node"}, None, 5])
def test_a_bundle_type_without_entities_does_not_load(value: Any) -> None:
    files = {**nodes({"a": []}), TYPE_FILE: value}
    assert isinstance(loaded(files).bundle, Unloadable)
    assert troubles(files) == [(TYPE_FILE, "$.entities must be a list of entity types")]


@pytest.mark.clause("BD-06")
def test_unreadable_files_are_reported_with_their_reason() -> None:
    files = nodes({"a": ["b"], "b": []})
    flawed = Flaw(TYPE_FILE, "not valid JSON: Expecting value, line 3, column 7")
    assert troubles({**files, TYPE_FILE: flawed}) == [(TYPE_FILE, flawed.reason)]
    entity = Flaw("bundle/node/0001.yaml", "not valid YAML: oops, line 2")
    assert troubles({**files, entity.path: entity}) == [(entity.path, entity.reason)]
    del files[TYPE_FILE]
    assert troubles(files) == [(TYPE_FILE, "there is no such file")]


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
def test_a_broken_part_of_the_manifest_is_reported_and_the_rest_loads() -> None:
    files = nodes({"a": ["b"], "b": []})
    files[MANIFEST] |= {"kind": "Box", "metadata": "none"}
    files[MANIFEST]["spec"]["schemas"] = {"documents": {"Node": 5}}
    files[MANIFEST]["spec"]["layout"] = [1]
    told = loaded(files).bundle.diagnostics
    assert [(one.severity, one.message.split()[0]) for one in told] == [
        ("warning", "$.kind"),
        ("error", "$.metadata"),
        ("error", "$.spec.layout"),
        ("error", "$.spec.schemas.documents.Node"),
    ]
    assert len(bundle_of(files).entities) == 2


@pytest.mark.clause("BD-07")
def test_entities_are_the_yaml_files_right_in_the_folder_of_their_type_by_name() -> None:
    files = bundle_files({"Node": []})
    names = ["b.yaml", "a.yml", ".hidden.yaml", "c.json", "d.YAML", "sub/e.yaml", "yaml", "x.yaml.bak"]
    files |= {f"bundle/node/{name}": {"id": f"id of {name}"} for name in names}
    assert list(bundle_of(files).entities) == ["id of .hidden.yaml", "id of a.yml", "id of b.yaml"]


@pytest.mark.clause("BD-07")
@pytest.mark.parametrize("value", [None, "", "  ", 5, True, ["a"], {"a": 1}])
def test_an_entity_without_a_text_for_its_id_is_left_out(value: Any) -> None:
    files = nodes({"a": []})
    files["bundle/node/9.yaml"] = {"key": "k"} if value is None else {"id": value}
    assert list(bundle_of(files).entities) == ["a"]
    assert troubles(files) == [("bundle/node/9.yaml", "$.id must be the id, a text")]


@pytest.mark.clause("BD-07")
@pytest.mark.parametrize("value", [[], "text", 5, None, True])
def test_a_file_that_is_no_mapping_is_left_out(value: Any) -> None:
    files = {**nodes({"a": []}), "bundle/node/9.yaml": value}
    assert list(bundle_of(files).entities) == ["a"]
    assert troubles(files) == [("bundle/node/9.yaml", "$ must be a mapping of fields")]


@pytest.mark.clause("BD-07")
def test_the_id_is_at_the_id_field_and_the_file_name_says_nothing() -> None:
    files = bundle_files({"Node": [{"id": "not this", "key": "this"}]}, id_fields={"Node": "key"})
    assert list(bundle_of(files).entities) == ["this"]
    del files[TYPE_FILE]["entities"][0]["idField"]
    assert list(bundle_of(files).entities) == ["not this"]


@pytest.mark.clause("BD-07")
def test_the_layout_of_the_manifest_only_fills_a_gap() -> None:
    files = nodes({"a": []})
    files["other/1.yaml"] = {"id": "o"}
    files[MANIFEST]["spec"]["layout"] = {"documents": {"Node": {"dir": "other"}}}
    assert list(bundle_of(files).entities) == ["a"]
    del files[TYPE_FILE]["entities"][0]["directory"]
    assert list(bundle_of(files).entities) == ["o"]


@pytest.mark.clause("BD-07")
def test_a_type_may_live_beside_the_manifest_which_is_no_entity() -> None:
    files = nodes({})
    files["entity.yaml"] = {"id": "here"}
    for directory in (".", "./", "./."):
        files[TYPE_FILE]["entities"][0]["directory"] = directory
        assert list(bundle_of(files).entities) == ["here"]
        assert troubles(files) == []


@pytest.mark.clause("BD-07")
def test_a_folder_that_is_not_there_is_a_warning() -> None:
    files = nodes({})
    (told,) = loaded(files).bundle.diagnostics
    assert (told.severity, told.file, told.entity_type) == ("warning", "bundle/node", "Node")


@pytest.mark.clause("BD-08")
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


@pytest.mark.clause("BD-13")
@pytest.mark.parametrize(
    "path", ["../x.json", "/etc/x.json", "a/../../x.json", "C:/x.json", "..", "a\\..\\..\\x"]
)
def test_a_path_that_leaves_the_bundle_is_reported_and_not_followed(path: str) -> None:
    files = nodes({"a": []})
    files[TYPE_FILE]["entities"][0]["directory"] = path
    assert "inside the bundle" in troubles(files)[0][1]
    files = nodes({"a": []})
    files[MANIFEST]["spec"]["schemas"]["documents"]["Node"] = path
    assert "inside the bundle" in troubles(files)[0][1]
    assert list(bundle_of(files).entities) == ["a"]
    files = nodes({"a": []})
    files[MANIFEST]["spec"]["bundleTypeDefinition"] = path
    assert "inside the bundle" in troubles(files)[0][1]
    assert isinstance(loaded(files).bundle, Unloadable)


@pytest.mark.clause("BD-09")
def test_the_schema_is_the_one_the_manifest_names_else_the_one_of_the_type() -> None:
    files = nodes({"a": []})
    files["schemas/other.json"] = {"title": "Other"}
    files[MANIFEST]["spec"]["schemas"]["documents"]["Node"] = "./schemas//other.json"
    assert bundle_of(files).schemas["Node"] == {"title": "Other"}
    del files[MANIFEST]["spec"]["schemas"]
    assert bundle_of(files).schemas["Node"] == files["schemas/Node.json"]


@pytest.mark.clause("BD-16")
def test_an_unchanged_bundle_is_the_same_object() -> None:
    files = nodes({"a": ["b"], "b": []})
    source = MemoryBundleFiles(files)
    first = load(source, None, "one", lambda _: None)
    assert load(source, first, "one", lambda _: None) is first


@pytest.mark.clause("BD-16")
def test_only_changed_entities_are_validated_again() -> None:
    files = nodes({"a": ["b"], "b": [], "c": []})
    source = MemoryBundleFiles(files)
    first = load(source, None, "one", lambda _: None)
    files["bundle/node/0000.yaml"] = {"id": "a", "refs": ["c"]}
    second = load(source, first, "one", lambda _: None)
    assert isinstance(first.bundle, Bundle)
    assert isinstance(second.bundle, Bundle)
    assert second.bundle.entities["b"] is first.bundle.entities["b"]
    assert second.bundle.entities["a"] is not first.bundle.entities["a"]
    assert [edge.target.id for edge in second.bundle.edges["a"]] == ["c"]


@pytest.mark.clause("BD-16")
@pytest.mark.parametrize(
    "what", ["manifest", "type", "schema", "added", "removed", "flawed", "mended", "broken"]
)
def test_every_change_is_seen_by_the_next_call(what: str) -> None:
    files = nodes({"a": ["b"], "b": []})
    flawed = "bundle/node/0002.yaml"
    files[flawed] = Flaw(flawed, "not valid YAML")
    desk = desk_of(files)
    before = desk.export("a")
    changes: dict[str, Any] = {
        "manifest": lambda: files[MANIFEST]["metadata"].update(name="Renamed"),
        "type": lambda: files[TYPE_FILE].update(relations=[{"fromEntity": "Node", "fromField": "title"}]),
        "schema": lambda: files["schemas/Node.json"]["properties"].update(title={"type": "integer"}),
        "added": lambda: files.update({"bundle/node/0003.yaml": {"id": "b"}}),
        "removed": lambda: files.pop("bundle/node/0001.yaml"),
        "flawed": lambda: files.update({flawed: Flaw(flawed, "worse")}),
        "mended": lambda: files.update({flawed: {"id": "mended"}}),
        "broken": lambda: files["bundle/node/0000.yaml"].update(refs=["b", "gone"]),
    }
    files["schemas/Node.json"] = {
        **files["schemas/Node.json"],
        "properties": {**files["schemas/Node.json"]["properties"]},
    }
    changes[what]()
    after = desk.export("a")
    changed = {part for part in ("data", "diagnostics") if after[part] != before[part]}
    assert changed, what


@pytest.mark.clause("BD-16")
def test_a_load_checks_for_cancellation_at_intervals() -> None:
    class Enough(Exception):
        """The caller has gone."""

    heard: list[int] = []

    def pulse(count: int) -> None:
        heard.append(count)
        if count > 100:
            raise Enough

    files = nodes({f"n{number}": [] for number in range(300)})
    with pytest.raises(Enough):
        load(MemoryBundleFiles(files), None, "one", pulse)
    assert heard == [0, 64, 128]


@pytest.mark.clause("BD-05")
def test_a_store_without_bundles_says_so() -> None:
    store = MemoryBundleStore()
    desk = BundleDesk(store=store)
    assert desk.refused("get_context", entityType="Node", id="a")["code"] == "NOT_FOUND"
    for ask in (store.files, lambda place: store.load(place, lambda _, __: 1, lambda: None)):
        with pytest.raises(Failure):
            ask(BundlePlace("x", "x"))


@pytest.mark.clause("BD-17")
def test_a_diagnostic_omits_unknown_fields() -> None:
    files = nodes({"a": ["gone"]})
    files["bundle/node/9.yaml"] = {}
    files["bundle/node/8.yaml"] = Flaw("bundle/node/8.yaml", "not valid YAML, line 1")
    body = desk_of(files).export("a")
    assert [set(told) for told in body["diagnostics"]] == [
        {"severity", "message", "filePath", "entityType"},
        {"severity", "message", "filePath", "entityType"},
        {"severity", "message", "filePath", "entityType", "entityId"},
    ]
    assert {told["severity"] for told in body["diagnostics"]} == {"error"}
