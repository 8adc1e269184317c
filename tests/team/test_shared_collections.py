"""A collection that one member has synced is searched by all, also by those who do not have it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Server

from context_pack_adapters.disk_ports import open_ports
from context_pack_adapters.library import Workspace
from context_pack_adapters.postgres.connection import Database
from context_pack_adapters.settings import read_settings

CONFIG = {
    "collections": {
        "guide": {"url": "./guide", "shared": True, "description": "How we work"},
        "own": {"url": "./own"},
    }
}
NOWHERE = "postgresql://ada@127.0.0.1:1/team"


def member(folder: Path, url: str, project: str) -> Workspace:
    """Somebody's checkout with a collection of their own."""
    (folder / "own").mkdir(parents=True)
    (folder / "own/note.md").write_text(f"# Notes\n\nBadgers of {folder.name} sleep here.\n")
    (folder / "context.json").write_text(json.dumps(CONFIG))
    return reopened(folder, url, project)


def reopened(folder: Path, url: str, project: str) -> Workspace:
    """The same checkout, perhaps with another database."""
    given = {
        "CONTEXT_PACK_STORE": url,
        "CONTEXT_PACK_PROJECT": project,
        "CONTEXT_PACK_EMBEDDER": "fast",
        "CONTEXT_PACK_CACHE": str(folder / "cache"),
    }
    settings = read_settings(given, str(folder))
    return Workspace(open_ports(settings), settings.max_source_bytes)


def called(workspace: Workspace, tool: str, **given: Any) -> str:
    answer = workspace.call(tool, given)
    assert not answer.is_error, answer
    return str(answer)


def write_guide(folder: Path, rule: str) -> None:
    guide = folder / "guide"
    guide.mkdir(exist_ok=True)
    (guide / "rules.md").write_text(f"# Rules\n\n## Badgers\n\n{rule}\n\n## Foxes\n\nFoxes are let in.\n")
    (guide / "other.md").write_text("# Other\n\nNothing of that kind at all.\n")


@pytest.mark.clause("TM-14")
def test_one_member_syncs_a_shared_collection_and_everybody_searches_it(
    postgres: Server, new_database: Callable[[], Database], tmp_path: Path
) -> None:
    project = new_database().project
    with (
        member(tmp_path / "ada", postgres.url, project) as ada,
        member(tmp_path / "ben", postgres.url, project) as ben,
    ):
        write_guide(tmp_path / "ada", "Badgers are fed at noon.")
        assert "nobody has synced it yet" in called(ada, "documents_search", query="badgers")
        assert "Badgers of ben" in called(ben, "documents_search", query="badgers")

        called(ada, "documents_sync")
        assert not (tmp_path / "ben/guide").exists()
        found = called(ben, "documents_search", query="badgers")
        assert "fed at noon" in found
        assert "Badgers of ben" in found
        assert "Badgers of ada" not in found
        assert "fed at noon" in called(ben, "documents_search", query="badgers", collections=["guide"])
        assert "Foxes are let in" in called(
            ben, "documents_get_document", collection="guide", document="rules.md"
        )
        related = {"collection": "guide", "document": "other.md"}
        assert "rules.md" in called(ben, "documents_find_related", **related)

        write_guide(tmp_path / "ada", "Badgers are fed at night.")
        assert "fed at noon" in called(ada, "documents_search", query="badgers"), "it is synced on purpose"
        called(ada, "documents_sync")
        again = called(ben, "documents_search", query="badgers")
        assert "fed at night" in again
        assert "fed at noon" not in again


@pytest.mark.clause("TM-14", "TM-09")
def test_without_the_database_what_was_indexed_is_searched_and_it_is_said(
    postgres: Server, new_database: Callable[[], Database], tmp_path: Path
) -> None:
    project = new_database().project
    with member(tmp_path / "ben", postgres.url, project) as ben:
        write_guide(tmp_path / "ben", "Badgers are fed at noon.")
        called(ben, "documents_sync")
    with reopened(tmp_path / "ben", NOWHERE, project) as ben:
        found = called(ben, "documents_search", query="badgers")
        assert "fed at noon" in found
        assert "does not answer" in found
