"""Code, documents, bundles and directory contexts through the library."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from bundle_maker import SAMPLE
from document_trees import GUIDE, configure, handbook
from file_trees import lay

from context_pack import Code, Failure, Workspace, open_workspace
from context_pack_adapters.library.features import Documents

PROJECT = {
    "src/index.ts": 'import { add } from "./cart";\nadd("tea");\n',
    "src/cart.ts": "export function add(item: string, count = 1): number {\n  return count;\n}\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    lay(tmp_path, PROJECT)
    return open_workspace(tmp_path)


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    handbook(tmp_path)
    return open_workspace(tmp_path, embedder="fast").documents


@pytest.mark.clause("LIB-10")
def test_files_are_read_and_the_tree_is_searched(shop: Workspace) -> None:
    read = shop.code.read("src/index.ts", include_deps=True)
    assert (read.content, read.language) == (PROJECT["src/index.ts"], "typescript")
    assert [(one.path, one.content) for one in read.dependencies] == [("src/cart.ts", PROJECT["src/cart.ts"])]
    assert shop.code.read("src/cart.ts", start_line=2, end_line=2).content.strip() == "return count;"
    found = shop.code.grep(r"FUNCTION \w+", file_pattern="*.ts")
    assert [(hit.path, hit.line) for hit in found.hits] == [("src/cart.ts", 1)]
    assert shop.code.grep("FUNCTION", case_sensitive=True).total == 0


@pytest.mark.clause("LIB-10")
def test_contexts_are_made_listed_checked_and_read(tmp_path: Path) -> None:
    lay(tmp_path, {".context.config.yaml": "min_tokens: 0\n", "src/cart.ts": PROJECT["src/cart.ts"]})
    contexts = open_workspace(tmp_path).contexts
    assert {done.result for done in contexts.refresh()} == {"made"}
    assert {(entry.scope, entry.state.value) for entry in contexts.list().entries} == {
        (".", "fresh"),
        ("src", "fresh"),
    }
    assert "summary" in contexts.query(scope="src").context
    assert "summary" not in contexts.query(scope="src", filter=("files",)).context
    with pytest.raises(Failure, match="filter"):
        contexts.query(scope="src", filter="summary")  # type: ignore[arg-type]
    (tmp_path / "src" / "cart.ts").write_text("export const EMPTY = 0;\n", encoding="utf-8")
    assert contexts.check(scope="src").freshness.state.value == "stale"


@pytest.mark.clause("LIB-10")
def test_bundles_are_listed_exported_and_their_neighbours_read() -> None:
    bundles = open_workspace(SAMPLE.parent).bundles
    assert [place.id for place, _ in bundles.list()] == ["sample"]
    exported = bundles.export([("Requirement", "REQ-001")], dependency_depth=0)
    assert json.loads(exported.data)["exportMeta"]["bundleId"] == "sample"
    around = bundles.around(entity_type="Requirement", id="REQ-001", max_related=1)
    assert (around.entity.id, len(around.neighbours)) == ("REQ-001", 1)
    assert bundles.document(entity_type="Requirement", entity_id="REQ-001").markdown.startswith("#")


REFUSED: list[Callable[[Workspace], object]] = [
    lambda shop: shop.code.read("../outside"),
    lambda shop: shop.code.grep("("),
    lambda shop: shop.contexts.query(scope="no/such"),
    lambda shop: shop.bundles.around(entity_type="Requirement", id="REQ-001"),
]


@pytest.mark.clause("LIB-10")
@pytest.mark.parametrize("ask", REFUSED)
def test_refusals_of_tools_are_raised_as_failures(
    shop: Workspace, ask: Callable[[Workspace], object]
) -> None:
    with pytest.raises(Failure):
        ask(shop)


@pytest.mark.clause("DC-54", "LIB-10")
def test_every_document_use_case_returns_values(documents: Documents) -> None:
    (listed,) = documents.collections()
    assert (listed.alias, listed.documents, listed.description) == ("handbook", 3, "How we work")
    page = documents.list("handbook", limit=2)
    assert ([each.path for each in page], page.total, page.has_more) == (
        ["food/pasta.md", "guide.md"],
        3,
        True,
    )
    assert documents.get("handbook", "guide.md").text == GUIDE
    assert [one.text for one in documents.outline("handbook", "guide.md", max_depth=1)] == ["Handbook"]
    assert documents.section("handbook", "guide.md", "usage").start == 13
    (hit,) = documents.search("pasta sauce", collections=("handbook",), limit=1)
    assert (hit.collection, hit.path, hit.start) == ("handbook", "food/pasta.md", 1)
    assert {hit.path for hit in documents.related("handbook", "guide.md")} <= {"food/pasta.md", "keys.md"}
    assert [outcome.added for outcome in documents.sync("handbook")] == [0]


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
    assert [each.documents for each in documents.collections()] == [3, 1]
    documents.remove("food")
    refused: list[tuple[Code, Callable[[], object]]] = [
        (Code.NOT_FOUND, lambda: documents.get("food", "pasta.md")),
        (Code.NOT_FOUND, lambda: documents.remove("food")),
        (Code.INVALID_DATA, lambda: documents.search(" ")),
        (Code.INVALID_DATA, lambda: documents.search("x", collections="handbook")),  # type: ignore[arg-type]
        (Code.INVALID_DATA, lambda: documents.add("x", "ftp://host/x")),
    ]
    for code, work in refused:
        with pytest.raises(Failure) as caught:
            work()
        assert caught.value.code is code


@pytest.mark.clause("DC-54")
def test_the_user_configuration_is_used_if_named(tmp_path: Path) -> None:
    handbook(tmp_path / "project")
    lay(tmp_path, {"home/notes/n.md": "# Note"})
    configure(tmp_path / "home", notes="notes")
    project = tmp_path / "project"
    with open_workspace(project, embedder="fast") as alone:
        assert [each.alias for each in alone.documents.collections()] == ["handbook"]
    with open_workspace(project, embedder="fast", user_config=tmp_path / "home/context.json") as both:
        assert [each.documents for each in both.documents.collections()] == [3, 1]
