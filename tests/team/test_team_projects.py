"""By which name a project is known in the team's database."""

from __future__ import annotations

from pathlib import Path

import pytest
from file_trees import git

from context_pack.kernel.errors import Failure
from context_pack_adapters.postgres.team import normalised, project_key


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
