"""Git sources: one commit fetched without a working tree, a question or a hook, and read object by object."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from private_folders import modes

from context_pack.documents.model import DocumentText, Survey
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.sources import DiskCollections
from context_pack_adapters.files.private import PrivateFolder


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main")
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(folder), *names, *words], check=True, capture_output=True, text=True, env=env
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "docs").mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "README.md").write_text("# Read me")
    (folder / "docs/guide.md").write_text("# Guide one")
    (folder / "docs/.env").write_text("TOKEN=1")
    (folder / "docs/draft.md").write_text("draft")
    (folder / "docs/.gitignore").write_text("draft.md\n")
    os.symlink("/etc/passwd", folder / "docs/evil.md")
    manifest = {"name": "repo docs", "version": "7", "sources": {"glob": ["**/*.md"]}}
    (folder / "docs/manifest.json").write_text(json.dumps(manifest))
    git(folder, "add", "-f", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "tag", "v1")
    return folder


def sources(tmp_path: Path, url: str) -> DiskCollections:
    """The repository as the user's own configuration names it."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    user = tmp_path / "context.json"
    user.write_text(json.dumps({"collections": {"r": {"url": url}}}))
    return DiskCollections(project, project / ".s", PathPolicy(), PrivateFolder(tmp_path / "cache"), user)


def looked(
    found: DiskCollections, fetch: bool = True, since: str = ""
) -> tuple[Survey | None, dict[str, str]]:
    source = found.open(found.catalogue().collections["r"], fetch)
    survey = source.survey(since)
    names = [] if survey is None else list(survey.files)
    return survey, {one.document: one.text for one in source.read(names) if isinstance(one, DocumentText)}


@pytest.mark.clause("DC-13")
def test_a_repository_is_fetched_and_read_without_a_working_tree(tmp_path: Path, repository: Path) -> None:
    found = sources(tmp_path, f"git+file://{repository}")
    survey, texts = looked(found)
    assert survey is not None
    assert texts == {"README.md": "# Read me", "docs/guide.md": "# Guide one"}
    assert {one.document: one.reason for one in survey.failed} == {
        "docs/evil.md": "a link in a repository is not followed"
    }
    assert os.listdir(tmp_path / "project") == []
    assert os.listdir(tmp_path / "cache/git") == [f"{found.catalogue().collections['r'].id}.git"]
    assert list((tmp_path / "cache").rglob("guide.md")) == []
    assert modes(tmp_path / "cache/git") == {}


@pytest.mark.clause("DC-13")
def test_a_manifest_in_a_folder_is_the_root_of_the_documents(tmp_path: Path, repository: Path) -> None:
    survey, texts = looked(sources(tmp_path, f"git+file://{repository}#v1?manifest=docs/manifest.json"))
    assert survey is not None
    assert (survey.about.name, survey.about.version) == ("repo docs", "7")
    assert texts == {"guide.md": "# Guide one"}


@pytest.mark.clause("DC-13", "DC-24")
def test_only_a_fetch_sees_new_commits_and_refs_stay_where_they_are(tmp_path: Path, repository: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    moving, fixed = sources(tmp_path, f"git+file://{repository}#main"), f"git+file://{repository}#{first}"
    survey, _ = looked(moving)
    assert survey is not None
    assert looked(moving, since=survey.signature)[0] is None
    (repository / "docs/guide.md").write_text("# Guide two")
    git(repository, "commit", "--quiet", "-am", "two")
    assert looked(moving, fetch=False, since=survey.signature)[0] is None
    assert looked(moving)[1]["docs/guide.md"] == "# Guide two"
    assert looked(sources(tmp_path, fixed))[1]["docs/guide.md"] == "# Guide one"
    assert looked(sources(tmp_path, fixed[:-30]))[1]["docs/guide.md"] == "# Guide one"


@pytest.mark.clause("PV-04", "DC-13")
def test_lock_files_of_a_killed_git_do_not_block_the_next_fetch(tmp_path: Path, repository: Path) -> None:
    found = sources(tmp_path, f"git+file://{repository}#main")
    looked(found)
    (store,) = (tmp_path / "cache/git").iterdir()
    left = ["shallow.lock", "refs/context-pack/current.lock", "objects/pack/tmp_pack_a1"]
    for name in left:
        (store / name).touch()
    (store / "objects/tmp_objdir-incoming-a1/pack").mkdir(parents=True)
    (repository / "docs/guide.md").write_text("# Guide two")
    git(repository, "commit", "--quiet", "-am", "two")
    assert looked(found)[1]["docs/guide.md"] == "# Guide two"
    assert [name for name in [*left, "objects/tmp_objdir-incoming-a1"] if (store / name).exists()] == []


@pytest.mark.clause("DC-13")
@pytest.mark.parametrize("way", ["config", "commondir", "link"])
def test_a_planted_git_store_is_not_used(tmp_path: Path, repository: Path, way: str) -> None:
    found = sources(tmp_path, f"git+file://{repository}")
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "--quiet")
    store = tmp_path / "cache/git" / f"{found.catalogue().collections['r'].id}.git"
    brought = tmp_path / "brought.git" if way != "config" else store
    store.mkdir(parents=True)
    brought.mkdir(exist_ok=True)
    git(brought, "init", "--quiet", "--bare")
    git(brought, "config", "core.alternateRefsCommand", f"touch {tmp_path}/ran; true")
    (brought / "objects/info/alternates").write_text(f"{tmp_path}/other/.git/objects\n")
    if way == "commondir":
        git(store, "init", "--quiet", "--bare")
        (store / "commondir").write_text(str(brought))
    elif way == "link":
        store.rmdir()
        store.symlink_to(brought)
    with pytest.raises(Failure, match="never fetched"):
        looked(found, fetch=False)
    assert looked(found)[1]["docs/guide.md"] == "# Guide one"
    assert looked(found, fetch=False)[1]["docs/guide.md"] == "# Guide one"
    assert not (tmp_path / "ran").exists()
    assert way == "config" or (brought / "HEAD").exists()


@pytest.mark.clause("DC-13")
@pytest.mark.parametrize(
    "tail, words",
    [
        ("-nowhere", "the repository could not be fetched: there is no such repository"),
        ("#nobranch", "the repository could not be fetched: there is no such branch, tag or commit"),
        ("?manifest=x.json", "there is no x.json in the repository"),
    ],
)
def test_a_failed_fetch_is_an_error_message(tmp_path: Path, repository: Path, tail: str, words: str) -> None:
    with pytest.raises(Failure) as refused:
        looked(sources(tmp_path, f"git+file://{repository}{tail}"))
    assert refused.value.message == words


@pytest.mark.clause("DC-13")
def test_a_repository_never_fetched_says_to_sync_first(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(Failure) as refused:
        looked(sources(tmp_path, f"git+file://{repository}"), fetch=False)
    assert refused.value.message == "it was never fetched; sync it first"


@pytest.mark.clause("DC-13")
def test_git_runs_without_inherited_variables_and_hooks(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path))
    hook = tmp_path / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    assert looked(sources(tmp_path, f"git+file://{repository}"))[1]["README.md"] == "# Read me"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "elsewhere").exists()
