"""Documents through the library API, on disk and in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from document_trees import GUIDE, configure, handbook, lay
from inmemory.ports import open_memory_workspace

from context_pack import open_workspace
from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.library.documents import Documents


@pytest.fixture(params=["disk", "memory"])
def documents(request: pytest.FixtureRequest, tmp_path: Path) -> Documents:
    handbook(tmp_path)
    if request.param == "disk":
        return open_workspace(tmp_path, embedder="fast").documents
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    return open_memory_workspace(
        {str(path.relative_to(tmp_path)): path.read_bytes() for path in found}
    ).documents


@pytest.mark.clause("DC-54")
def test_every_document_use_case_returns_values(documents: Documents) -> None:
    (described,) = documents.collections()
    assert (described.alias, described.documents, described.description) == (
        "handbook",
        3,
        "How we work",
    )
    page = documents.list("handbook", limit=2)
    assert ([one.path for one in page], page.total, page.has_more) == (
        ["food/pasta.md", "guide.md"],
        3,
        True,
    )
    assert documents.get("handbook", "guide.md").text == GUIDE
    assert [one.text for one in documents.outline("handbook", "guide.md", max_depth=1)] == ["Handbook"]
    assert documents.section("handbook", "guide.md", "usage").start == 13
    (hit,) = documents.search("pasta sauce", collections=["handbook"], limit=1)
    assert (hit.collection, hit.path, hit.start) == ("handbook", "food/pasta.md", 1)
    assert {hit.path for hit in documents.related("handbook", "guide.md")} <= {
        "food/pasta.md",
        "keys.md",
    }
    assert [one.added for one in documents.sync("handbook")] == [0]


@pytest.mark.clause("DC-44")
@pytest.mark.clause("RT-22")
def test_one_passage_of_each_section_comes_first_then_more(tmp_path: Path) -> None:
    long = "\n\n".join(
        f"Harbours number {number} shelter boats. " + "Ships come. " * 60 for number in range(6)
    )
    page = f"# Sea\n\n## Harbours\n\n{long}\n\n## Lighthouses\n\nA light near the harbours.\n"
    lay(tmp_path, {"docs/sea.md": page})
    documents = open_workspace(tmp_path, embedder="fast").documents
    documents.add("sea", "./docs")
    found = documents.search("harbours that shelter boats", limit=4)
    assert [hit.heading for hit in found.hits[:3]] == ["Harbours", "Lighthouses", "Harbours"]
    scores = [hit.relevance for hit in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.clause("DC-54")
def test_collections_are_added_and_removed_and_refusals_are_failures(documents: Documents) -> None:
    documents.add("food", "./docs/food", description="Meals")
    assert [one.documents for one in documents.collections()] == [3, 1]
    documents.remove("food")
    for wrong in (
        lambda: documents.get("food", "pasta.md"),
        lambda: documents.get("handbook", "none.md"),
        lambda: documents.section("handbook", "guide.md", "none"),
        lambda: documents.remove("food"),
    ):
        with pytest.raises(Failure) as missing:
            wrong()
        assert missing.value.code is Code.NOT_FOUND
    for bad in (
        lambda: documents.search(" "),
        lambda: documents.search("x", limit=0),
        lambda: documents.search("x", collections="handbook"),
        lambda: documents.list("handbook", offset=-1),
        lambda: documents.outline("handbook", "guide.md", max_depth=9),
        lambda: documents.add("x", "ftp://host/x"),
    ):
        with pytest.raises(Failure) as refused:
            bad()
        assert refused.value.code is Code.INVALID_DATA


@pytest.mark.clause("DC-01", "DC-54")
def test_the_user_configuration_is_used_if_named_until_closed(tmp_path: Path) -> None:
    handbook(tmp_path / "project")
    lay(tmp_path, {"home/notes/n.md": "# Note"})
    configure(tmp_path / "home", notes="notes")
    project = tmp_path / "project"
    with open_workspace(project, embedder="fast") as alone:
        assert [one.alias for one in alone.documents.collections()] == ["handbook"]
    with open_workspace(project, embedder="fast", user_config=tmp_path / "home/context.json") as both:
        assert [one.documents for one in both.documents.collections()] == [3, 1]
    with pytest.raises(Failure, match="closed"):
        assert both.documents
