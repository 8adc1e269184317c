"""Names: ids that never meet, and the nearest names."""

from __future__ import annotations

import pytest

from context_pack.documents.sections import collection_id, nearest, not_found


@pytest.mark.clause("DC-09")
def test_an_id_is_stable_and_unique_per_source_and_project() -> None:
    first = collection_id("/a", "folder", "/a/docs", "docs")
    assert first == collection_id("/a", "folder", "/a/docs", "docs")
    assert first.startswith("docs-")
    others = {
        collection_id("/b", "folder", "/b/docs", "docs"),
        collection_id("/b", "folder", "/a/docs", "docs"),
        collection_id("/a", "package", "/a/docs", "docs"),
        collection_id("/a", "folder", "/a/docs2", "docs"),
    }
    assert len(others | {first}) == 5


@pytest.mark.clause("DC-41")
def test_the_nearest_names_follow_the_sentence() -> None:
    known = ["guide/setup.md", "guide/usage.md", "api.md"]
    assert nearest("setup.md", known)[0] == "guide/setup.md"
    told = not_found('Document "useage.md" not found.', "useage.md", known, "documents")
    assert told.startswith('Document "useage.md" not found. Did you mean: guide/usage.md, ')
    assert not_found("No.", "zzzzzz", known, "documents").startswith("No. There are: api.md")
    assert not_found("No.", "x", [], "documents") == "No. There are no documents."


@pytest.mark.clause("DC-41")
def test_the_nearest_of_many_names_is_found() -> None:
    known = [f"folder{number % 50}/document-{number:05}.md" for number in range(20_000)]
    assert nearest("docment-12345.md", known)[0] == "folder45/document-12345.md"
