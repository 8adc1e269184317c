"""Names: ids that never meet, the nearest names, and answers within their budget."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_pack.documents.domain.naming import collection_id, nearest, not_found
from context_pack.toolkit.rows import fitted


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


def size(rows: list[dict[str, Any]]) -> int:
    return len(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.clause("DC-45")
@given(
    st.lists(st.text(st.sampled_from('aé\n"\\'), max_size=200), max_size=12),
    st.integers(0, 3000),
)
@settings(max_examples=100)
def test_rows_never_exceed_their_budget_and_the_first_keep_most(texts: list[str], most: int) -> None:
    rows = [
        {"id": number, "content": text, "startLine": 3, "endLine": 3 + text.count("\n")}
        for number, text in enumerate(texts)
    ]
    found, fewer = fitted(rows, most)
    assert not found or size(found) <= most + 2
    assert fewer == (len(found) < len(rows))
    cut = [row.get("truncated", False) for row in found]
    assert cut == sorted(cut)
    for row, whole in zip(found, rows, strict=False):
        if row.get("truncated"):
            assert str(whole["content"]).startswith(row["content"])
        else:
            assert row == whole


@pytest.mark.clause("DC-45")
def test_bare_rows_leave_the_best_one_room_for_its_content() -> None:
    rows = [{"id": number, "content": "line\n" * 60, "padding": "x" * 80} for number in range(20)]
    found, fewer = fitted(rows, 1800)
    assert fewer
    assert len(str(found[0]["content"])) >= 200
    assert len(found) > 1


@pytest.mark.clause("DC-45")
def test_the_best_row_of_each_question_shows_something_even_of_one_long_line() -> None:
    rows = [{"id": number, "content": "word " * 400, "startLine": 7, "endLine": 7} for number in range(60)]
    found, _ = fitted(rows, 1000)
    assert len(str(found[0]["content"])) > 200
    assert (found[0]["startLine"], found[0]["endLine"]) == (7, 7)
    several, _ = fitted(rows, 12_000, heads=4)
    assert [len(str(row["content"])) > 500 for row in several[:4]] == [True] * 4
