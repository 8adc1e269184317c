"""Drawing and checking."""

from __future__ import annotations

import re

import pytest
from bundle_maker import Files, load_files, nodes
from hypothesis import given
from hypothesis import strategies as st

from context_pack.bundles.exports import select
from context_pack.bundles.markdown import mermaid
from context_pack.bundles.model import Bundle, DiagnosticSubject
from context_pack.packs.model import Diagram


def bundle_of(files: Files) -> Bundle:
    """A bundle that must load."""
    bundle = load_files(files)
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
    found = [(one.sort, one.entity_id or one.file) for one in bundle_of(files).findings()]
    assert found == [
        (DiagnosticSubject.SCHEMA, "b"),
        (DiagnosticSubject.DUPLICATE, "b"),
        (DiagnosticSubject.FILE, "bundle/node/9.yaml"),
        (DiagnosticSubject.REFERENCE, "a"),
        (DiagnosticSubject.ORPHAN, "alone"),
        (DiagnosticSubject.ORPHAN, "selfish"),
    ]
