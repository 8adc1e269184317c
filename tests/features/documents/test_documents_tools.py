"""The document tools as a client sees them: shapes, errors, freshness, resources."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from document_trees import GUIDE, KEYS, PASTA, configure, environ, handbook, lay
from local_client import LocalClient

Start = Callable[..., LocalClient]


@pytest.fixture
def started() -> Iterator[Start]:
    """Connects to a project; every connection is closed after the test."""
    clients: list[LocalClient] = []

    def start(root: Path, **variables: str) -> LocalClient:
        clients.append(LocalClient(root, **environ(root, **variables)))
        return clients[-1]

    yield start
    for client in clients:
        client.close()


@pytest.fixture
def asked(tmp_path: Path, started: Start) -> LocalClient:
    """A connection to the handbook."""
    return started(handbook(tmp_path))


def structured(client: LocalClient, tool: str, **arguments: Any) -> Any:
    """The structured content of a successful call, which its text agrees with."""
    result = client.call(f"documents_{tool}", arguments)
    assert not result["isError"], result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


def refused(client: LocalClient, tool: str, **arguments: Any) -> str:
    result = client.call(f"documents_{tool}", arguments)
    assert result["isError"] is True, result
    assert "structuredContent" not in result
    text: str = result["content"][0]["text"]
    return text


@pytest.mark.clause("DC-40", "DC-42", "DC-43", "DC-51", "DC-52", "DC-09")
def test_collections_are_browsed_and_documents_are_read(asked: LocalClient) -> None:
    (collection,) = structured(asked, "list_collections")["collections"]
    assert collection["collection"] == "handbook"
    assert (collection["documentCount"], collection["description"]) == (3, "How we work")
    known = collection["collectionId"]
    listed = structured(asked, "list_documents", collection=known, limit=2)
    assert listed == {
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
    rest = structured(asked, "list_documents", collection="handbook", offset=2)
    assert (rest["documents"][0]["title"], rest["hasMore"]) == ("Rotating keys", False)
    assert "nextOffset" not in rest
    assert structured(asked, "list_documents", collection="handbook", offset=99)["documents"] == []
    whole = structured(asked, "get_document", collection="handbook", document="keys.md")
    assert (whole["document"], whole["title"], whole["content"]) == ("keys.md", "Rotating keys", KEYS)
    outline = structured(asked, "get_outline", collection="handbook", document="guide.md", maxDepth=2)
    assert (outline["title"], outline["outline"]) == (
        "Handbook",
        [
            {"level": 1, "text": "Handbook", "line": 1},
            {"level": 2, "text": "Setup", "line": 5},
            {"level": 2, "text": "Usage", "line": 13},
        ],
    )
    section = structured(asked, "get_section", collection="handbook", document="guide.md", section="# setup")
    assert (section["section"], section["level"], section["startLine"], section["endLine"]) == (
        "Setup",
        2,
        5,
        12,
    )
    assert section["content"] == "\n".join(GUIDE.split("\n")[4:12])
    short = structured(
        asked,
        "get_section",
        collection="handbook",
        document="guide.md",
        section="Set",
        includeSubsections=False,
    )
    assert short["endLine"] == 8


@pytest.mark.clause("DC-55")
def test_an_outline_or_section_that_is_too_long_ends_early_and_says_so(
    started: Start, tmp_path: Path
) -> None:
    headings = "".join(f"## {'Part ' * 20}{number}\n\nwords\n\n" for number in range(3000))
    lay(tmp_path, {"docs/long.md": f"# Long\n\n{headings}"})
    configure(tmp_path, docs="./docs")
    client = started(tmp_path)
    outline = structured(client, "get_outline", collection="docs", document="long.md")
    assert outline["truncated"] is True
    assert [one["line"] for one in outline["outline"][:3]] == [1, 3, 7]
    section = structured(client, "get_section", collection="docs", document="long.md", section="Long")
    assert section["truncated"] is True
    assert section["content"].startswith("# Long\n\n## Part")
    for answer in (outline, section):
        assert len(json.dumps(answer, separators=(",", ":"))) <= 50_000


@pytest.mark.clause("DC-44", "DC-46", "DC-47", "DC-48")
def test_searches_find_passages_with_their_places(asked: LocalClient) -> None:
    found = structured(asked, "search", query="how to install", limit=1)
    (hit,) = found["results"]
    assert (hit["documentId"], hit["documentTitle"], hit["sectionHeading"]) == (
        "guide.md",
        "Handbook",
        "Setup",
    )
    assert hit["content"] in GUIDE
    lines = GUIDE.split("\n")[hit["startLine"] - 1 : hit["endLine"]]
    assert "\n".join(lines) == hit["content"]
    assert 0 <= hit["relevanceScore"] <= 1
    assert 0 <= hit["distance"] <= 2
    assert 1 <= hit["chunkIndex"] <= hit["totalChunks"]
    assert found["embedder"]
    assert "stale" not in found
    near = structured(asked, "search", query="http header", maxDistance=0.7)["results"]
    assert near
    assert all(one["distance"] <= 0.7 for one in near)
    vector = structured(asked, "search", query="pasta sauce", hybridSearch=False, collections=[])["results"]
    assert vector[0]["documentId"] == "food/pasta.md"
    queries = [
        {"query": "pasta"},
        {"query": "  "},
        {"query": "x", "collections": ["handbok"]},
        {"query": "y" * 4001},
        {"query": "keys", "collections": ["handbook"]},
    ]
    batch = structured(asked, "search_batch", queries=queries, limit=2)["results"]
    assert [one["query"][:9] for one in batch] == ["pasta", "  ", "x", "y" * 9, "keys"]
    assert batch[0]["results"][0]["documentId"] == "food/pasta.md"
    assert batch[4]["results"][0]["documentId"] == "keys.md"
    assert [one.get("error", "")[:20] for one in batch] == [
        "",
        "'query' must not be ",
        'Collection "handbok"',
        "'query' must have at",
        "",
    ]
    assert "handbook" in batch[2]["error"]
    related = structured(asked, "find_related", collection="handbook", document="guide.md")
    assert related["source"]["document"] == "guide.md"
    assert {one["document"] for one in related["related"]} <= {"food/pasta.md", "keys.md"}
    own = structured(
        asked,
        "find_related",
        collection="handbook",
        document="guide.md",
        chunk="the sauce",
        sameDocument=True,
    )
    assert own["related"][0]["document"] == "food/pasta.md"
    assert {"content", "relevanceScore", "collection", "startLine"} <= set(own["related"][0])
    assert structured(asked, "sync")["collections"] == [
        {"collection": "handbook", "added": 0, "updated": 0, "removed": 0, "failed": []}
    ]


@pytest.mark.clause("DC-41", "DC-49", "DC-50")
def test_unknown_names_and_bad_ranges_are_plain_text_errors(asked: LocalClient) -> None:
    assert refused(asked, "get_document", collection="handbook", document="gide.md").startswith(
        'Document "gide.md" not found in collection "handbook". Did you mean: guide.md'
    )
    assert refused(
        asked, "get_section", collection="handbook", document="guide.md", section="Setps"
    ).startswith('Section "Setps" not found in document "guide.md". Did you mean: Setup')
    for tool in ("list_documents", "get_outline", "find_related", "search", "sync"):
        named = {"collections": ["handbuk"], "query": "x"} if tool == "search" else {"collection": "handbuk"}
        document = {"document": "x"} if tool in ("get_outline", "find_related") else {}
        assert refused(asked, tool, **named, **document) == (
            'Collection "handbuk" not found. Did you mean: handbook?'
        )
    at = {"collection": "handbook", "document": "guide.md"}
    for tool, arguments, words in (
        ("search", {"query": "x", "limit": 0}, "'limit' must be: integer, 1 to 100"),
        ("search", {"query": "x", "limit": 101}, "'limit' must be: integer, 1 to 100"),
        ("search", {"query": " \n"}, "'query' must be: string, at most 4000 characters, not blank"),
        ("search", {"query": "x" * 4001}, "'query' must be: string, at most 4000 characters, not blank"),
        ("search", {"query": "x", "maxTokens": 5}, "'maxTokens' must be: integer, at least 200"),
        ("search_batch", {"queries": []}, "'queries' must be: list of 1 to 10"),
        ("search_batch", {"queries": [{"query": "x"}] * 11}, "'queries' must be: list of 1 to 10"),
        ("find_related", {**at, "limit": 101}, "'limit' must be: integer, 1 to 100"),
        (
            "list_documents",
            {"collection": "handbook", "limit": 1001},
            "'limit' must be: integer, 1 to 1000",
        ),
        (
            "list_documents",
            {"collection": "handbook", "offset": -1},
            "'offset' must be: integer, at least 0",
        ),
        ("get_outline", {**at, "maxDepth": 7}, "'maxDepth' must be: integer, 1 to 6"),
        ("get_section", {**at, "section": " ## "}, "'section' must not be blank: give the text of a heading"),
        ("get_document", {"collection": "handbook"}, "'document' is required"),
    ):
        assert refused(asked, tool, **arguments).startswith(words)


@pytest.mark.clause("DC-50")
def test_every_tool_says_what_it_does_and_answers_as_it_declares(asked: LocalClient) -> None:
    tools = {one["name"]: one for one in asked.request("tools/list")["result"]["tools"]}
    mine = {name: one for name, one in tools.items() if name.startswith("documents_")}
    assert len(mine) == 9
    going_out = [name for name, one in mine.items() if one["annotations"]["openWorldHint"]]
    assert going_out == ["documents_sync"]
    reading = [name for name, one in mine.items() if one["annotations"]["readOnlyHint"]]
    assert set(mine) - set(reading) == {"documents_sync"}
    at = {"collection": "handbook", "document": "guide.md"}
    for name, arguments in (
        ("list_collections", {}),
        ("search", {"query": "x"}),
        ("get_document", at),
        ("list_documents", {"collection": "handbook"}),
        ("get_outline", at),
        ("get_section", {**at, "section": "Usage"}),
        ("search_batch", {"queries": [{"query": "x"}]}),
        ("find_related", at),
        ("sync", {}),
    ):
        jsonschema.validate(structured(asked, name, **arguments), mine[f"documents_{name}"]["outputSchema"])


@pytest.mark.clause("DC-53")
def test_documents_are_resources_with_completion(asked: LocalClient) -> None:
    listed = asked.request("resources/list")["result"]["resources"]
    uris = [one["uri"] for one in listed if one["uri"].startswith("context://document/")]
    assert uris == [
        f"context://document/handbook/{name}" for name in ("food/pasta.md", "guide.md", "keys.md")
    ]
    templates = asked.request("resources/templates/list")["result"]["resourceTemplates"]
    template = "context://document/{collection}/{id}"
    assert template in [one["uriTemplate"] for one in templates]
    for uri in (uris[0], "context://document/handbook/food%2Fpasta.md"):
        (content,) = asked.request("resources/read", {"uri": uri})["result"]["contents"]
        assert (content["text"], content["mimeType"]) == (PASTA, "text/markdown")
    for missing in ("handbook/none.md", "none/guide.md", "handbook/../context.json", "handbook"):
        reply = asked.request("resources/read", {"uri": f"context://document/{missing}"})
        assert reply["error"]["code"] == -32002

    def completed(name: str, value: str, **others: str) -> list[str]:
        params = {
            "ref": {"type": "ref/resource", "uri": template},
            "argument": {"name": name, "value": value},
        }
        reply = asked.request("completion/complete", {**params, "context": {"arguments": others}})
        values: list[str] = reply["result"]["completion"]["values"]
        return values

    assert completed("collection", "HAND") == ["handbook"]
    assert completed("id", "k", collection="handbook") == ["keys.md"]
    assert completed("id", "pasta") == ["food/pasta.md"]


@pytest.mark.clause("DC-23", "DC-20", "DC-06", "DC-01")
def test_edits_are_indexed_and_failed_documents_are_listed(tmp_path: Path, started: Start) -> None:
    client = started(handbook(tmp_path))
    assert structured(client, "search", query="pasta")["results"]
    lay(
        tmp_path,
        {"docs/new.md": "# New\n\nZebras graze.\n", "docs/bad.md": b"\xff\xfe\xff", "secret.md": "S"},
    )
    (tmp_path / "docs/food/pasta.md").unlink()
    (tmp_path / "docs/out.md").symlink_to(tmp_path / "secret.md")
    synced = structured(client, "sync", collection="handbook")["collections"][0]
    assert (synced["added"], synced["updated"], synced["removed"]) == (1, 0, 1)
    assert {one["document"]: one["reason"] for one in synced["failed"]} == {
        "bad.md": "it is not UTF-8",
        "out.md": "it leads outside the collection",
    }
    again = structured(client, "sync")["collections"][0]
    assert (again["added"], again["removed"], again["failed"]) == (0, 0, synced["failed"])
    assert structured(client, "search", query="zebras")["results"][0]["documentId"] == "new.md"
    assert "pasta.md" not in json.dumps(structured(client, "search", query="pasta")["results"])
    lay(tmp_path, {"docs/bad.md": "# Good\n\nGiraffes browse.\n"})
    assert structured(client, "sync")["collections"][0]["added"] == 1
    configure(tmp_path, handbook="./docs", broken="http://x/y")
    answer = structured(client, "list_collections")
    assert [one["collection"] for one in answer["collections"]] == ["handbook"]
    assert answer["warning"].startswith("context.json: collection 'broken': ")


@pytest.mark.clause("DC-45")
def test_an_answer_keeps_its_budget_and_documents_are_complete(tmp_path: Path, started: Start) -> None:
    paragraph = "The zebra walks over the plain and looks for water near the hills. " * 8
    for number in range(40):
        lay(tmp_path, {f"docs/z{number:02}.md": f"# Zebra {number}\n\n" + f"{paragraph}\n\n" * 3})
    lay(tmp_path, {"docs/long.md": "# Long\n\n" + "line of text\n" * 20_000})
    lay(tmp_path, {"docs/0.md": f"# {'wide ' * 30_000}\n\ntext\n"})
    configure(tmp_path, docs="./docs")
    client = started(tmp_path)
    for budget in (200, 1000, 5000):
        result = client.call("documents_search", {"query": "zebra water", "limit": 100, "maxTokens": budget})
        assert len(result["content"][0]["text"].encode()) <= budget * 2.5
        rows = result["structuredContent"]["results"]
        cut = [row.get("truncated", False) for row in rows]
        assert cut == sorted(cut)
        assert result["structuredContent"]["truncated"] is True
        assert f"{len(rows)} of 40 results are here" in result["structuredContent"]["more"]
    batch = {"queries": [{"query": "zebra"}] * 3, "limit": 50, "maxTokens": 2000}
    answer = client.call("documents_search_batch", batch)
    assert len(answer["content"][0]["text"].encode()) <= 5000
    for answered in answer["structuredContent"]["results"]:
        assert len(answered["results"][0]["content"]) > 500  # each query keeps the text of its best hit
    assert structured(client, "list_documents", collection="docs", limit=1)["documents"][0]["id"] == "0.md"
    odd = structured(client, "get_section", collection="docs", document="0.md", section="wide wide")
    assert (odd["truncated"], odd["content"][:6], len(odd["section"])) == (True, "# wide", 1000)
    whole = structured(client, "get_document", collection="docs", document="long.md")
    assert len(whole["content"]) == 8 + 13 * 20_000
    section = client.call(
        "documents_get_section", {"collection": "docs", "document": "long.md", "section": "Long"}
    )
    assert len(section["content"][0]["text"].encode()) <= 50_000
    body = section["structuredContent"]
    assert body["truncated"] is True
    assert body["content"].count("\n") == body["endLine"] - body["startLine"]
