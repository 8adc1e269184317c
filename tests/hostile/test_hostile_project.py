"""A cloned project that somebody hostile prepared: nothing outside is served, no host is talked to."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from document_trees import configure, environ
from file_trees import lay
from local_client import LocalClient
from waiting import PATIENCE

SECRET = "only-for-the-user"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The clone, beside a home with a private note."""
    lay(tmp_path / "home", {"notes.md": f"# Private\n\nThe lighthouse key is {SECRET}.\n"})
    lay(tmp_path / "clone", {"docs/a.md": "# Open\n\nA lighthouse.\n"})
    return tmp_path / "clone"


def settings(clone: Path) -> dict[str, str]:
    home = clone.parent / "home"
    return environ(home, HOME=str(home))


def connected(clone: Path) -> LocalClient:
    return LocalClient(clone, **settings(clone))


def everything(client: LocalClient) -> dict[str, Any]:
    """What the documents tools answer, by tool."""
    asked = {
        "sync": {},
        "search": {"query": "lighthouse key"},
        "list_collections": {},
        "list_documents": {"collection": "good"},
    }
    return {name: client.call(f"documents_{name}", given) for name, given in asked.items()}


@pytest.mark.clause("DC-14")
@pytest.mark.parametrize("way", ["~", "../home", "{home}", "file://{home}", "link"])
def test_the_home_of_the_user_is_neither_indexed_nor_served(clone: Path, way: str) -> None:
    (clone / "link").symlink_to(clone.parent / "home")
    configure(clone, good="docs", bad=way.format(home=clone.parent / "home"))
    answers = everything(connected(clone))
    told = json.dumps(answers)
    assert SECRET not in told
    assert str(clone.parent) not in told
    synced = {one["collection"]: one for one in answers["sync"]["structuredContent"]["collections"]}
    assert (synced["good"]["added"], synced["bad"]["added"]) == (1, 0)
    assert "docs add NAME PLACE --user" in synced["bad"]["failed"][0]["reason"]
    assert 'collection "bad"' in answers["search"]["structuredContent"]["warning"]
    assert answers["search"]["structuredContent"]["results"]
    assert answers["list_documents"]["structuredContent"]["total"] == 1


@pytest.mark.clause("DC-15")
def test_no_host_is_talked_to_before_the_user_has_allowed_it(clone: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"https://127.0.0.1:{listening.getsockname()[1]}/docs"
        configure(clone, good="docs", far=f"git+{address}")
        client = connected(clone)
        synced = everything(client)["sync"]["structuredContent"]["collections"]
        command = f"context-pack docs allow {address}"
        assert synced[1]["failed"][0]["reason"].endswith(f"run: {command}")
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()
        listening.setblocking(True)
        assert CommandLine(clone)(*command.split()[1:], **settings(clone)).code == 0
        with ThreadPoolExecutor(1) as pool:
            hung_up = pool.submit(lambda: listening.accept()[0].close())
            (reply,) = everything(client)["sync"]["structuredContent"]["collections"][1:]
            hung_up.result(PATIENCE)
        assert reply["failed"][0]["reason"].startswith("the repository could not be fetched")


@pytest.mark.clause("KN-06", "ENV-06")
def test_secrets_are_served_by_no_reader_and_are_not_in_the_index(tmp_path: Path) -> None:
    names = (".env", "id_rsa", "key.pem", ".npmrc", "vault.yml", "prod.tfstate")
    lay(tmp_path, {"app.py": "def feed_zebra():\n    return 1\n", **dict.fromkeys(names, f"{SECRET} word\n")})
    client = LocalClient(tmp_path, **settings(tmp_path))
    for name in names:
        assert client.call("read_file", {"path": name})["isError"], name
    for tool, arguments in (
        ("grep_codebase", {"pattern": SECRET}),
        ("context_search", {"query": SECRET}),
        ("context_search", {"query": "feed zebra"}),
        ("code_outline", {}),
    ):
        assert f"{SECRET} word" not in str(client.call(tool, arguments))
    named = LocalClient(tmp_path, **settings(tmp_path), CONTEXT_PACK_ALLOW=".npmrc")
    assert SECRET in str(named.payload("read_file", {"path": ".npmrc"}))
