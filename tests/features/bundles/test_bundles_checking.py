"""What a check of a bundle finds."""

from __future__ import annotations

import pytest
from bundle_maker import Files, load_files, nodes

from context_pack.bundles.model import Bundle, DiagnosticSubject


def bundle_of(files: Files) -> Bundle:
    """A bundle that must load."""
    bundle = load_files(files)
    assert isinstance(bundle, Bundle)
    return bundle


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
