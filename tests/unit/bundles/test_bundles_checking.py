"""Drawing, checking, and comparing with an earlier export."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from bundle_maker import Files, bundle_files, desk_of, nodes, schema
from context_pack.bundles.usecases.checking import Staleness, compare, findings, read_snapshot
from hypothesis import given
from hypothesis import strategies as st

from context_pack.bundles.drawing import mermaid
from context_pack.bundles.exports import select
from context_pack.bundles.loading import load
from context_pack.bundles.model import Bundle, DiagnosticSubject, Unloadable
from context_pack.bundles.opening import EntityAddress, OpenedBundle
from context_pack.kernel.errors import Code, Failure
from context_pack.packs.domain.model import Diagram
from context_pack_adapters.inmemory.bundles import MemoryBundleFiles


def bundle_of(files: Files) -> Bundle:
    """A bundle that must load."""
    bundle = load(MemoryBundleFiles(files), None, "one", lambda _: None).bundle
    assert isinstance(bundle, Bundle)
    return bundle


def drawn(files: Files, *ids: str, depth: int = 3) -> str:
    """The diagram of an export."""
    bundle = bundle_of(files)
    chosen = select(bundle, [bundle.entities[key] for key in ids], depth)
    return mermaid(chosen.targets, chosen.dependencies, chosen.edges)


@pytest.mark.clause("BD-73")
def test_a_diagram_has_a_box_per_entity_and_an_arrow_per_pair() -> None:
    assert drawn(nodes({"a": ["b", "c"], "b": ["a"], "c": [], "d": []}), "a") == (
        "flowchart LR\n"
        '  e0["Node a<br/>A"]\n'
        '  e1["Node b<br/>B"]\n'
        '  e2["Node c<br/>C"]\n'
        '  e0 -->|"Refs"| e1\n'
        '  e0 -->|"Refs"| e2\n'
        '  e1 -->|"Refs"| e0\n'
        "  classDef target stroke-width:3px\n"
        "  class e0 target\n"
    )


@pytest.mark.clause("BD-73")
def test_fields_to_the_same_entity_share_an_arrow() -> None:
    mark = {"x-sdd-refTargets": ["Node"]}
    files = bundle_files(
        {"Node": [{"id": "a", "x": "b", "y": "b"}, {"id": "b"}]}, {"Node": schema(x=mark, y=mark)}
    )
    assert '  e0 -->|"X, Y"| e1\n' in drawn(files, "a")


@pytest.mark.clause("BD-73")
@given(st.text(max_size=100), st.text(min_size=1, max_size=40).filter(str.strip))
def test_no_entity_text_breaks_the_diagram_of_a_bundle(title: str, key: str) -> None:
    files = nodes({"a": []})
    files["bundle/node/0000.yaml"] |= {"title": title, "id": key}
    text = drawn(files, key)
    assert len(text.splitlines()) == 4
    label = re.fullmatch(r'  e0\["(.*)"\]', text.splitlines()[1])
    assert label is not None
    assert not set(label[1].replace("<br/>", "")) & set('"<>[]{}|`\n\\')
    assert Diagram("key", "Title", text).mermaid


@pytest.mark.clause("BD-71")
def test_a_check_finds_every_sort_of_trouble() -> None:
    files = nodes({"a": ["b", "gone"], "b": [], "alone": [], "selfish": ["selfish"]})
    files["bundle/node/8.yaml"] = {"id": "b"}
    files["bundle/node/9.yaml"] = {}
    files["bundle/node/0001.yaml"]["title"] = 5
    found = [(one.sort, one.entity_id or one.file) for one in findings(bundle_of(files))]
    assert found == [
        (DiagnosticSubject.SCHEMA, "b"),
        (DiagnosticSubject.DUPLICATE, "b"),
        (DiagnosticSubject.FILE, "bundle/node/9.yaml"),
        (DiagnosticSubject.REFERENCE, "a"),
        (DiagnosticSubject.ORPHAN, "alone"),
        (DiagnosticSubject.ORPHAN, "selfish"),
    ]


@pytest.mark.clause("BD-71")
def test_a_sound_bundle_and_one_that_does_not_load() -> None:
    assert list(findings(bundle_of(nodes({"a": ["b"], "b": []})))) == []
    bundle = load(MemoryBundleFiles({}), None, "one", lambda _: None).bundle
    assert isinstance(bundle, Unloadable)
    assert [one.file for one in findings(bundle)] == ["sdd-bundle.yaml"]


def staleness(before: Files, after: Files, *ids: str, whole: bool = True, **options: Any) -> Staleness:
    """An export of `before`, compared with `after`."""
    body = desk_of(before).export(*ids, **options)
    snapshot = read_snapshot(json.loads(json.dumps(body if whole else body["data"])))
    return compare(OpenedBundle("one", bundle_of(after)), snapshot)


def node(key: str) -> EntityAddress:
    """A node as answers name it."""
    return EntityAddress("Node", key)


@pytest.mark.clause("BD-74")
def test_an_unchanged_bundle_is_not_stale() -> None:
    files = nodes({"a": ["b"], "b": ["a"]})
    for whole in (True, False):
        body = desk_of(files).export("a")
        found = compare(
            OpenedBundle("one", load_like_desk(files)), read_snapshot(body if whole else body["data"])
        )
        assert not any(found)


def load_like_desk(files: Files) -> Bundle:
    """The bundle with the file times of the desk."""
    from bundle_maker import LONG_AGO

    source = MemoryBundleFiles(files, LONG_AGO * 10**9)
    bundle = load(source, None, "one", lambda _: None).bundle
    assert isinstance(bundle, Bundle)
    return bundle


@pytest.mark.clause("BD-74")
def test_newer_changed_removed_and_new_entities_are_distinguished() -> None:
    others = ["newer", "same", "changed", "gone", "unlinked"]
    before = nodes({"a": others} | {name: [] for name in others})
    for value in before.values():
        if "id" in value:
            value["lastModifiedDate"] = "2026-01-01"
    after = json.loads(json.dumps(before))
    after["bundle/node/0000.yaml"]["refs"] = ["newer", "same", "changed", "gone", "fresh"]
    after["bundle/node/0001.yaml"]["lastModifiedDate"] = "2026-01-01T00:00:00.001Z"
    after["bundle/node/0003.yaml"]["title"] = "Other"
    del after["bundle/node/0004.yaml"]
    after["bundle/node/9.yaml"] = {"id": "fresh"}
    found = staleness(before, after, "a")
    assert found.newer == (node("newer"),)
    assert found.changed == (node("a"), node("changed"))
    assert found.gone == (node("gone"), node("unlinked"))
    assert found.new == (node("fresh"),)


@pytest.mark.clause("BD-74")
def test_the_depth_of_the_export_is_the_depth_of_the_comparison() -> None:
    files = nodes({"a": ["b"], "b": ["c"], "c": ["d"], "d": []})
    for value in files.values():
        if "id" in value:
            value["lastModifiedDate"] = "2026-01-01"
    for depth in (0, 1, 2, 5):
        assert not any(staleness(files, files, "a", dependencyDepth=depth))
    assert not any(staleness(files, files, "a", whole=False))
    assert staleness(files, files, "a", whole=False, dependencyDepth=1).new == (node("c"), node("d"))


@pytest.mark.clause("BD-74")
def test_a_target_that_is_gone_takes_what_only_it_led_to() -> None:
    before = nodes({"a": ["b"], "b": [], "t": ["u"], "u": []})
    after = {name: value for name, value in before.items() if name != "bundle/node/0002.yaml"}
    assert staleness(before, after, "a", "t").gone == (node("t"), node("u"))


@pytest.mark.clause("BD-74")
@pytest.mark.parametrize(
    "value",
    [
        {"exportMeta": {}, "targets": "x"},
        {"exportMeta": {}, "targets": [], "dependencies": []},
        None, 5, [], {}, {"data": 5}, {"data": {}}, {"exportMeta": 5}, {"exportMeta": {}, "targets": [5]},
        {"exportMeta": {}, "targets": [{"id": "a"}]}, {"ok": False, "error": {}},
    ],
)  # fmt: skip
def test_a_value_that_is_no_export_is_invalid_data(value: Any) -> None:
    with pytest.raises(Failure) as told:
        read_snapshot(value)
    assert told.value.code is Code.INVALID_DATA
