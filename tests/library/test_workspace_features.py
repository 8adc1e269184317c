"""Code, bundles and directory contexts through the library API."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from bundle_maker import SAMPLE
from context_trees import PROJECT
from inmemory.ports import open_memory_workspace

from context_pack import Failure, Workspace, open_workspace


@pytest.fixture(params=["disk", "memory"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """A small project, on disk and in memory."""
    if request.param == "memory":
        return open_memory_workspace(dict(PROJECT))
    for path, content in PROJECT.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    return open_workspace(tmp_path)


@pytest.mark.clause("LIB-10")
def test_a_file_is_read_with_what_it_imports(shop: Workspace) -> None:
    read = shop.code.read("src/index.ts", include_deps=True)
    assert (read.content, read.language) == (PROJECT["src/index.ts"], "typescript")
    assert [(one.path, one.content) for one in read.dependencies] == [("src/cart.ts", PROJECT["src/cart.ts"])]
    assert shop.code.read("src/cart.ts", start_line=2, end_line=2).content.strip() == "return count;"


@pytest.mark.clause("LIB-10")
def test_the_tree_is_searched(shop: Workspace) -> None:
    found = shop.code.grep(r"FUNCTION \w+", file_pattern="*.ts")
    assert [(hit.path, hit.line) for hit in found.hits] == [("src/cart.ts", 1)]
    assert shop.code.grep("FUNCTION", case_sensitive=True).total == 0


@pytest.mark.clause("LIB-10")
def test_contexts_are_made_listed_checked_and_read(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".context.config.yaml").write_text("min_tokens: 0\n", encoding="utf-8")
    (tmp_path / "src" / "cart.ts").write_text(PROJECT["src/cart.ts"], encoding="utf-8")
    contexts = open_workspace(tmp_path).contexts
    assert {done.result for done in contexts.refresh()} == {"made"}
    assert {(entry.scope, entry.state.value) for entry in contexts.list().entries} == {
        (".", "fresh"),
        ("src", "fresh"),
    }
    assert contexts.check("src").freshness.state.value == "fresh"
    assert "summary" in contexts.query("src").context
    assert "summary" not in contexts.query("src", fields=["files"]).context
    with pytest.raises(Failure, match="fields"):
        contexts.query("src", fields="summary")
    (tmp_path / "src" / "cart.ts").write_text("export const EMPTY = 0;\n", encoding="utf-8")
    assert contexts.check("src").freshness.state.value == "stale"


@pytest.mark.clause("LIB-10")
def test_bundles_are_listed_exported_and_their_neighbours_read() -> None:
    bundles = open_workspace(SAMPLE.parent).bundles
    assert [place.id for place, _ in bundles.list()] == ["sample"]
    exported = bundles.export([("Requirement", "REQ-001")], depth=0)
    assert json.loads(exported.data)["exportMeta"]["bundleId"] == "sample"
    around = bundles.around("Requirement", "REQ-001", limit=1)
    assert (around.entity.id, len(around.neighbours)) == ("REQ-001", 1)
    assert bundles.document("Requirement", "REQ-001").markdown.startswith("#")


REFUSED: list[Callable[[Workspace], object]] = [
    lambda shop: shop.code.read("../outside"),
    lambda shop: shop.code.read("src/cart.ts", start_line=0),
    lambda shop: shop.code.grep("("),
    lambda shop: shop.contexts.query("no/such"),
    lambda shop: shop.contexts.check("../outside"),
    lambda shop: shop.contexts.refresh("no/such"),
    lambda shop: shop.bundles.around("Requirement", "REQ-001"),
    lambda shop: shop.bundles.export([]),
]


@pytest.mark.clause("LIB-10")
@pytest.mark.parametrize("ask", REFUSED)
def test_refusals_of_tools_are_raised_as_failures(
    shop: Workspace, ask: Callable[[Workspace], object]
) -> None:
    with pytest.raises(Failure):
        ask(shop)


@pytest.mark.clause("LIB-05")
@pytest.mark.parametrize("name", ["code", "bundles", "contexts"])
def test_a_closed_workspace_refuses_every_feature(shop: Workspace, name: str) -> None:
    shop.close()
    with pytest.raises(Failure, match="closed"):
        getattr(shop, name)
