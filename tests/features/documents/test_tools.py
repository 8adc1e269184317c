"""What the document tools answer: shapes, budgets, errors, and that they follow the disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from document_trees import GUIDE, KEYS, PASTA, configure, configure_user, handbook
from file_trees import committed, lay
from inmemory import FixedClock
from ordinary_user import ordinary_user
from waiting import until

from context_pack.app import build
from context_pack.documents.ports import DocumentPorts
from context_pack.retrieval.ports import Background
from context_pack.toolkit.call import QuietCall
from context_pack.toolkit.registry import Registry
from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.embed.hashed import HashedEmbedder
from context_pack_adapters.index.sqlite_index import SqliteIndex
from context_pack_adapters.settings import Settings


class Desk:
    """A registry over one project; its clock moves between calls, so that each looks at the disk."""

    def __init__(self, root: Path, private: Path, worker: Background | None = None, **settings: Any) -> None:
        self.root, self.clock, self.page = root, FixedClock(), 20_000
        user = str(root / "xdg/context-pack/context.json")
        given = {"embedder": "fast", "cache": str(private), "user_config": user, **settings}
        self._disk = open_ports(Settings(str(root / ".store"), str(root), **given))
        assert self._disk.documents is not None
        self.documents: DocumentPorts = evolve(self._disk.documents(), background=worker)
        self.registry: Registry = build(
            evolve(self._disk, clock=self.clock, documents=lambda: self.documents)
        )

    def __call__(self, tool: str, **arguments: Any) -> Any:
        """The answer of a tool, of which text and structure say the same."""
        answer = self._answer(tool, arguments)
        assert not answer.is_error, answer.text
        assert json.loads(answer.text) == answer.structured
        return answer.structured

    def refused(self, tool: str, **arguments: Any) -> str:
        """The words of an error."""
        answer = self._answer(tool, arguments)
        assert answer.is_error, answer.text
        return str(answer.text)

    def _answer(self, tool: str, arguments: dict[str, Any]) -> Any:
        self.clock.advance(seconds=3)
        return self.registry.call(f"documents_{tool}", arguments, QuietCall(page_tokens=self.page))

    def found(self, query: str, **arguments: Any) -> list[str]:
        """The documents that a search finds, in order."""
        return [row["documentId"] for row in self("search", query=query, **arguments)["results"]]


AT = {"collection": "handbook", "document": "guide.md"}


@pytest.fixture
def desk(tmp_path: Path, private: Path) -> Desk:
    return Desk(handbook(tmp_path), private)


@pytest.mark.clause("DC-40", "DC-42", "DC-43", "DC-52")
def test_collections_are_browsed_and_documents_are_read(desk: Desk) -> None:
    (collection,) = desk("list_collections")["collections"]
    known = collection.pop("collectionId")
    assert collection == {"collection": "handbook", "documentCount": 3, "description": "How we work"}
    assert desk("list_documents", collection=known, limit=2) == {
        "collection": "handbook",
        "collectionId": known,
        "documents": [
            {"id": "food/pasta.md", "title": "Kitchen", "size": len(PASTA)},
            {"id": "guide.md", "title": "Handbook", "size": len(GUIDE)},
        ],
        "total": 3,
        "hasMore": True,
        "nextOffset": 2,
    }
    rest = desk("list_documents", collection="handbook", offset=2)
    assert (rest["documents"][0]["title"], rest["hasMore"]) == ("Rotating keys", False)
    assert desk("list_documents", collection="handbook", offset=99)["documents"] == []
    whole = desk("get_document", collection="handbook", document="./keys.md")
    assert (whole["document"], whole["title"], whole["content"]) == ("keys.md", "Rotating keys", KEYS)
    outline = desk("get_outline", **AT, maxDepth=2)
    rows = [(row["level"], row["text"], row["line"]) for row in outline["outline"]]
    assert (outline["title"], rows) == ("Handbook", [(1, "Handbook", 1), (2, "Setup", 5), (2, "Usage", 13)])


@pytest.mark.clause("DC-52")
def test_a_section_is_found_by_its_heading_part_of_it_or_the_heading_above(
    tmp_path: Path, desk: Desk
) -> None:
    lines = GUIDE.split("\n")
    for wanted, subsections, start, end in (
        ("# setup", True, 5, 12),
        ("Set", False, 5, 8),
        ("Usage", True, 13, 15),
        ("Handbook > Setup > linux", True, 9, 12),
    ):
        section = desk("get_section", **AT, section=wanted, includeSubsections=subsections)
        assert (section["startLine"], section["endLine"]) == (start, end)
        assert section["content"] == "\n".join(lines[start - 1 : end])
        assert "more" not in section
    log = "# 2\n\n## Fixed now\n\na\n\n## Fixed\n\nb\n\n# 1\r\n\r\n## Fixed\r\n\r\nc"
    lay(tmp_path, {"docs/log.md": log})
    at = {"collection": "handbook", "document": "log.md"}
    first = desk("get_section", **at, section="fixed")
    assert (first["startLine"], first["content"]) == (7, "## Fixed\n\nb\n"), "the equal one, not the first"
    assert "line 13" in first["more"]
    second = desk("get_section", **at, section="1 > fixed")
    assert (second["startLine"], second["endLine"], second["content"]) == (13, 15, "## Fixed\r\n\r\nc")
    assert desk("get_section", **at, section="1")["content"] == "# 1\r\n\r\n## Fixed\r\n\r\nc"


@pytest.mark.clause("DC-43")
def test_a_lone_carriage_return_ends_a_line_of_a_document(tmp_path: Path, desk: Desk) -> None:
    lay(tmp_path, {"docs/old.md": "\ufeff# Old\r\rwords\r\r## Parts\r\nmore\r\n"})
    at = {"collection": "handbook", "document": "old.md"}
    whole = desk("get_document", **at)
    assert (whole["title"], whole["content"]) == ("Old", "# Old\n\nwords\n\n## Parts\r\nmore\r\n")
    assert [(row["text"], row["line"]) for row in desk("get_outline", **at)["outline"]] == [
        ("Old", 1),
        ("Parts", 5),
    ]


@pytest.mark.clause("DC-44")
def test_a_search_finds_passages_with_their_places(desk: Desk) -> None:
    found = desk("search", query="how to install", limit=1)
    (hit,) = found["results"]
    assert (hit["documentId"], hit["documentTitle"], hit["sectionHeading"]) == (
        "guide.md",
        "Handbook",
        "Setup",
    )
    assert hit["content"] == "\n".join(GUIDE.split("\n")[hit["startLine"] - 1 : hit["endLine"]])
    assert 0 <= hit["relevanceScore"] <= 1
    assert 1 <= hit["chunkIndex"] <= hit["totalChunks"]
    assert found.keys() == {"results", "embedder"}
    near = desk("search", query="http header", maxDistance=0.7)["results"]
    assert near
    assert all(0 <= one["distance"] <= 0.7 for one in near)
    assert desk.found("pasta sauce", hybridSearch=False, collections=[])[0] == "food/pasta.md"


@pytest.mark.clause("DC-46")
def test_several_questions_are_answered_in_order_and_a_bad_one_fails_alone(desk: Desk) -> None:
    queries: list[dict[str, Any]] = [
        {"query": "pasta"},
        {"query": "  "},
        {"query": "x", "collections": ["handbok"]},
        {"query": "y" * 4001},
        {"query": "keys", "collections": ["handbook"]},
    ]
    batch = desk("search_batch", queries=queries, limit=2)["results"]
    assert [one["query"][:9] for one in batch] == ["pasta", "  ", "x", "y" * 9, "keys"]
    assert [one["results"][0]["documentId"] for one in batch if one["results"]] == [
        "food/pasta.md",
        "keys.md",
    ]
    errors = ["", "'query' must not be ", 'Collection "handbok"', "'query' must have at", ""]
    assert [one.get("error", "")[:20] for one in batch] == errors


@pytest.mark.clause("DC-46")
def test_related_are_other_documents_of_the_collection(desk: Desk) -> None:
    related = desk("find_related", **AT)
    assert related["source"]["document"] == "guide.md"
    assert {one["document"] for one in related["related"]} <= {"food/pasta.md", "keys.md"}
    own = desk("find_related", **AT, chunk="the sauce", sameDocument=True)["related"]
    assert own[0]["document"] == "food/pasta.md"
    assert {"content", "relevanceScore", "collection", "startLine"} <= own[0].keys()


@pytest.mark.clause("DC-41")
@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_document", {**AT, "document": "gide.md"},
         'Document "gide.md" not found in collection "handbook". Did you mean: guide.md'),
        ("get_document", {**AT, "document": "zzzzzz"},
         'Document "zzzzzz" not found in collection "handbook". There are: food/pasta.md, guide.md, keys.md'),
        ("get_section", {**AT, "section": "Setps"},
         'Section "Setps" not found in document "guide.md". Did you mean: Setup'),
        ("get_section", {**AT, "section": "Usage > Linux"}, 'Section "Usage > Linux" not found in document'),
        ("get_section", {**AT, "section": " ## "}, "'section' must not be blank: give the text of a heading"),
        ("list_documents", {"collection": "handbuk"}, 'Collection "handbuk" not found. Did you mean: hand'),
        ("search", {"query": "x", "collections": ["handbuk"]}, 'Collection "handbuk" not found.'),
        ("sync", {"collection": "handbuk"}, 'Collection "handbuk" not found. Did you mean: hand'),
        ("search", {"query": "x", "limit": 101}, "'limit' must be: integer, 1 to 100"),
        ("search", {"query": " \n"}, "'query' must be: string, at most 4000 characters, not blank"),
        ("search", {"query": "x", "maxTokens": 5}, "'maxTokens' must be: integer, at least 200"),
        ("search_batch", {"queries": []}, "'queries' must be: list of 1 to 10"),
        ("list_documents", {"collection": "handbook", "offset": -1}, "'offset' must be: integer, at least 0"),
        ("get_outline", {**AT, "maxDepth": 7}, "'maxDepth' must be: integer, 1 to 6"),
        ("get_document", {"collection": "handbook"}, "'document' is required"),
    ],
)  # fmt: skip
def test_unknown_names_and_bad_values_are_errors_of_plain_text(
    desk: Desk, tool: str, arguments: dict[str, Any], words: str
) -> None:
    assert desk.refused(tool, **arguments).startswith(words)


@pytest.mark.clause("DC-42", "DC-52")
def test_what_is_too_long_ends_early_and_says_how_to_go_on(tmp_path: Path, private: Path) -> None:
    for number in range(90):
        lay(tmp_path, {f"docs/{number:02}.md": f"# {'A long title ' * 12}{number}\n"})
    headings = "".join(f"## {'Part ' * 20}{number}\n\nwords\n\n" for number in range(300))
    lay(tmp_path, {"docs/long.md": f"# Long\n\n{headings}"})
    configure(tmp_path, docs="./docs")
    desk = Desk(tmp_path, private)
    desk.page = 2000
    names, page = list[str](), desk("list_documents", collection="docs", limit=1000)
    assert page["truncated"]
    while True:
        names += [one["id"] for one in page["documents"]]
        if not page["hasMore"]:
            break
        page = desk("list_documents", collection="docs", limit=1000, offset=page["nextOffset"])
    assert names == [*(f"{number:02}.md" for number in range(90)), "long.md"]
    outline = desk("get_outline", collection="docs", document="long.md")
    section = desk("get_section", collection="docs", document="long.md", section="Long")
    assert [one["line"] for one in outline["outline"][:3]] == [1, 3, 7]
    assert "maxDepth" in outline["more"]
    assert section["content"].startswith("# Long\n\n## Part")
    assert section["content"].count("\n") == section["endLine"] - section["startLine"]
    assert section["more"].startswith(f"lines 1-{section['endLine']} of 1202; ask for a section below it")
    for answer in (outline, section):
        assert answer["truncated"]
        assert len(json.dumps(answer, separators=(",", ":"))) <= 5000
    assert len(desk("get_document", collection="docs", document="long.md")["content"]) > 30_000


@pytest.mark.clause("DC-44", "DC-46")
def test_a_search_keeps_its_budget(tmp_path: Path, private: Path) -> None:
    paragraph = "The zebra walks over the plain and looks for water near the hills. " * 8
    for number in range(40):
        lay(tmp_path, {f"docs/z{number:02}.md": f"# Zebra {number}\n\n" + f"{paragraph}\n\n" * 3})
    configure(tmp_path, docs="./docs")
    desk = Desk(tmp_path, private)
    for budget in (200, 1000, 5000):
        answer = desk("search", query="zebra water", limit=100, maxTokens=budget)
        assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()) <= budget * 2.5
        cut = [row.get("truncated", False) for row in answer["results"]]
        assert cut == sorted(cut)
        assert answer["truncated"] is True
        assert answer["more"].startswith(f"{len(cut)} of 40 results are here; ")
    batch = desk("search_batch", queries=[{"query": "zebra"}] * 3, limit=50, maxTokens=2000)
    assert len(json.dumps(batch, separators=(",", ":"))) <= 5000
    assert all(len(one["results"][0]["content"]) > 500 for one in batch["results"])


@pytest.mark.clause("DC-01", "DC-06", "DC-20", "DC-21", "DC-23")
def test_answers_follow_the_disk_and_a_sync_says_what_it_did(tmp_path: Path, desk: Desk) -> None:
    assert desk.found("pasta")[0] == "food/pasta.md"
    lay(tmp_path, {"docs/new.md": "# New\n\nZebras graze.\n", "docs/bad.md": b"\xff\xfe", "secret.md": "S"})
    (tmp_path / "docs/food/pasta.md").unlink()
    (tmp_path / "docs/out.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "docs/guide.md").write_text(GUIDE + "\nmore\n")
    (synced,) = desk("sync", collection="handbook")["collections"]
    assert (synced["added"], synced["updated"], synced["removed"]) == (1, 1, 1)
    failed = [{"document": "bad.md", "reason": "it is not UTF-8"}]
    assert synced["failed"] == failed
    assert desk("sync")["collections"] == [
        {"collection": "handbook", "added": 0, "updated": 0, "removed": 0, "failed": failed}
    ]
    assert desk.found("zebras")[0] == "new.md"
    assert "food/pasta.md" not in desk.found("pasta")
    lay(tmp_path, {"docs/bad.md": "# Good\n\nGiraffes browse.\n"})
    assert desk.found("giraffes")[0] == "bad.md", "without a sync"
    configure(tmp_path, handbook="./docs", twin="./docs/", broken="http://x/y", gone="./nowhere")
    answer = desk("list_collections")
    assert [one["collection"] for one in answer["collections"]] == ["handbook", "twin", "gone"]
    assert answer["warning"].startswith("context.json: collection 'broken': ")
    assert 'collection "gone": there is no ./nowhere' in answer["warning"]
    assert [(one["collection"], one["added"]) for one in desk("sync")["collections"]] == [
        ("handbook", 0),
        ("twin", 0),
        ("gone", 0),
    ]
    assert desk.found("giraffes")[:1] == ["bad.md"], "a source under two names is searched once"
    (tmp_path / "docs").rename(tmp_path / "moved")
    assert desk.found("giraffes")[0] == "bad.md", "a source that is gone keeps what was indexed"


@pytest.mark.clause("DC-20")
def test_documents_in_a_folder_that_cannot_be_listed_now_stay_found(tmp_path: Path, desk: Desk) -> None:
    assert desk.found("pasta")[0] == "food/pasta.md"
    (tmp_path / "docs/food").chmod(0)
    (tmp_path / "docs/keys.md").unlink()
    with ordinary_user():
        assert desk.found("pasta")[0] == "food/pasta.md"
        (synced,) = desk("sync")["collections"]
    assert synced["failed"] == [{"document": "food/", "reason": "the folder cannot be listed"}]
    assert [one["id"] for one in desk("list_documents", collection="handbook")["documents"]] == [
        "food/pasta.md",
        "guide.md",
    ]


class Busy:
    """A background that takes every task and never ends."""

    def start(self, _: str) -> bool:
        return True

    def trouble(self, _: str) -> str | None:
        return None

    def wait(self, _: str, __: float) -> bool:
        return False


@pytest.mark.clause("DC-23", "DC-41")
@pytest.mark.parametrize("texts", [["# small\n"] * 101, [f"{'x' * 59}\n" * 20_000]])
def test_a_large_change_is_left_to_the_background_and_answers_are_stale(
    tmp_path: Path, private: Path, texts: list[str]
) -> None:
    lay(tmp_path, {f"docs/{number}.md": text for number, text in enumerate(texts)})
    configure(tmp_path, docs="./docs")
    desk = Desk(tmp_path, private, Busy())
    assert desk("search", query="small") == {"results": [], "embedder": "hashed-512/3", "stale": True}
    assert "still being indexed" in desk.refused("get_document", collection="docs", document="1.md")
    (synced,) = desk("sync")["collections"]
    assert synced["added"] == len(texts)

    def is_known() -> bool:  # a file as young as the clock's grain is looked at once more
        return "stale" not in desk("list_documents", collection="docs") or not desk("sync")

    until(is_known)


@pytest.mark.clause("DC-20", "DC-21")
def test_a_sync_that_was_stopped_goes_on_and_what_cannot_be_indexed_fails_alone(
    tmp_path: Path, desk: Desk
) -> None:
    from context_pack.documents.shelf import DocumentShelf

    class Choking(HashedEmbedder):
        def embed(self, texts: Any, kind: Any) -> Any:
            if any("odd" in text for text in texts):
                raise FloatingPointError
            return super().embed(texts, kind)

    lay(tmp_path, {f"docs/n{number:02}.md": f"# Note {number}\n" for number in range(60)})
    lay(tmp_path, {"docs/z-odd.md": "odd"})
    index = SqliteIndex(tmp_path / "derived/i.sqlite3", Choking(), chunker="c")
    shelf = DocumentShelf(evolve(desk.documents, index=index))
    seen = list[str]()
    (first,) = shelf.sync_all(
        shelf.chosen(()), report=lambda _, __, name: seen.append(name), stop=lambda: len(seen) >= 40
    )
    (second,) = shelf.sync_all(shelf.chosen(()))
    assert (first.added, first.finished, second.added, second.finished) == (40, False, 23, True)
    assert [(one.document, one.reason) for one in second.failed] == [
        ("z-odd.md", "it cannot be indexed (FloatingPointError)")
    ]
    index.close()


@pytest.mark.clause("DC-13", "DC-40")
def test_without_collections_or_before_a_fetch_answers_say_what_to_do(tmp_path: Path, private: Path) -> None:
    desk = Desk(tmp_path, private)
    empty = desk("list_collections")
    assert empty["collections"] == []
    assert "docs add" in empty["warning"]
    assert desk("search", query="x")["results"] == []
    configure_user(tmp_path, far=f"git+file://{tmp_path}/far")
    assert "documents_sync" in desk("search", query="x")["warning"]
    (synced,) = desk("sync")["collections"]
    assert synced["failed"][0]["reason"].endswith("there is no such repository")
    committed(tmp_path / "far", {"a.md": "# Far\n\nA lighthouse."})
    assert desk("sync")["collections"][0]["added"] == 1
    assert desk.found("lighthouse") == ["a.md"]


@pytest.mark.clause("DC-05")
def test_newly_denied_documents_disappear_from_folders_and_repositories(
    tmp_path: Path, private: Path
) -> None:
    files: dict[str, str | bytes] = {"a.md": "# Open\n\nA lighthouse.", "inner/b.md": "# Closed\n\nA cellar."}
    lay(tmp_path / "near", files)
    committed(tmp_path / "far", files)
    configure(tmp_path, near="./near")
    configure_user(tmp_path, far=f"git+file://{tmp_path}/far")
    desk = Desk(tmp_path, private)
    desk("sync")
    assert desk.found("cellar") == ["inner/b.md"] * 2
    again = Desk(tmp_path, private, deny=("**/inner/**", "inner/**"))
    assert again.found("cellar") == []
    assert {one["documentCount"] for one in again("list_collections")["collections"]} == {1}


@pytest.mark.clause("DC-36")
def test_no_answer_shows_the_credentials_of_a_repository(tmp_path: Path, private: Path) -> None:
    lay(tmp_path, {"docs/a.md": "# A\n\nsome words\n"})
    configure(
        tmp_path,
        docs="./docs",
        repo="git+https://reader:hidden@host.invalid/team/handbook.git",
        bare="git+https://hidden@host.invalid",
        wrong="git+https://reader:hid/hidden@host.invalid/x",
    )
    desk = Desk(tmp_path, private)
    told = [
        json.dumps([desk("list_collections"), desk("search", query="some words"), desk("sync")]),
        json.dumps(desk("list_documents", collection="repo")),
        desk.refused("get_document", collection="bare", document="a.md"),
        desk.refused("list_documents", collection="git+https://reader:hidden@host.invalid/x"),
        *(entry.uri for entry in desk.registry.entries()),
    ]
    assert "some words" in told[0]
    assert "hidden" not in " ".join(told)


@pytest.mark.clause("DC-53")
def test_documents_are_resources(desk: Desk) -> None:
    uris = [one.uri for one in desk.registry.entries() if one.uri.startswith("context://document/")]
    assert uris == [
        f"context://document/handbook/{name}" for name in ("food/pasta.md", "guide.md", "keys.md")
    ]
    for uri in (uris[0], "context://document/handbook/food%2Fpasta.md"):
        read = desk.registry.read(uri)
        assert read is not None
        assert (read.text, read.mime_type) == (PASTA, "text/markdown")
    for missing in ("handbook/none.md", "none/guide.md", "handbook/../context.json", "handbook"):
        assert desk.registry.read(f"context://document/{missing}") is None
