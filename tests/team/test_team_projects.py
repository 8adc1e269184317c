"""By which name a project is known in the team's database, and who hears of another member's change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve
from file_trees import git
from postgres_server import Server
from sample_packs import maker
from stdio_client import StdioClient
from waiting import PATIENCE

from context_pack.kernel.errors import Failure
from context_pack_adapters.postgres.connection import Address, Database
from context_pack_adapters.postgres.packs import PostgresPackStore
from context_pack_adapters.postgres.schema import prepare
from context_pack_adapters.postgres.team import normalised, project_key
from context_pack_adapters.system import SystemClock


@pytest.mark.clause("TM-03")
@pytest.mark.parametrize(
    ("remotes", "project"),
    [
        (("git@Example.org:team/shop.git", "ssh://git@example.org:22/team/shop"), "example.org/team/shop"),
        (("https://ada:secret@example.org/team/shop.git/", "example.org:team/shop"), "example.org/team/shop"),
        (("/srv/shop.git", "../shop", "file:///srv/shop", "C:\\work\\shop", "", "https://h"), ""),
    ],
)
def test_every_spelling_of_a_remote_is_one_project_and_a_path_is_none(
    remotes: tuple[str, ...], project: str
) -> None:
    assert {normalised(remote) for remote in remotes} == {project}


@pytest.mark.clause("TM-03", "TM-08")
def test_the_project_is_the_remote_of_the_repository_and_no_included_file(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    repository.mkdir()
    git(repository, "init", "-q")
    (tmp_path / "elsewhere").write_text('[remote "origin"]\n\turl = https://example.org/other/secret\n')
    git(repository, "config", "include.path", str(tmp_path / "elsewhere"))
    with pytest.raises(Failure) as told:
        project_key(str(repository), "")
    assert "CONTEXT_PACK_PROJECT" in told.value.message
    assert project_key(str(repository), "a name") == "a name"
    git(repository, "config", "remote.origin.url", "git@example.org:team/shop.git")
    (repository / "below").mkdir()
    assert project_key(str(repository / "below"), "") == "example.org/team/shop"


@pytest.mark.clause("TM-11")
def test_a_subscriber_is_notified_of_another_members_change(postgres: Server, tmp_path: Path) -> None:
    project = "example.org/news"
    prepare(Address(postgres.url), project)
    store = PostgresPackStore(Database(Address(postgres.url), lambda: project, PATIENCE), os.urandom)
    pack = store.create(maker(SystemClock().now(), 60), None)
    uri = f"context://pack/{pack.id}"
    env = {"CONTEXT_PACK_STORE": postgres.url, "CONTEXT_PACK_PROJECT": project}
    client = StdioClient(tmp_path, env=env)
    try:
        client.initialize()
        assert "result" in client.request("resources/subscribe", {"uri": uri})
        # The listener connects in its own time: the change is made again until it is heard of.
        heard = None
        while heard is None:
            store.update(pack.id, lambda known: evolve(known, revision=known.revision + 1))
            try:
                heard = client.read(1.0)
            except TimeoutError:
                continue
        assert heard["method"] == "notifications/resources/updated"
        assert heard["params"]["uri"] == uri
    finally:
        client.kill()
