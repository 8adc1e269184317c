"""Folders and manifests on disk: what is a document, what fails alone, and that nothing outside is read."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from context_pack.documents.model import DocumentText, Failed, Survey
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.config import ConfigFile
from context_pack_adapters.collections.sources import DiskCollections
from context_pack_adapters.files.private import PrivateFolder


def lay(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def collections(root: Path, url: str = "./docs", deny: tuple[str, ...] = (), **entry: Any) -> DiskCollections:
    lay(root, {"context.json": json.dumps({"collections": {"docs": {"url": url, **entry}}})})
    cache = PrivateFolder(root / ".cache")
    return DiskCollections(root, root / ".agents/mcp/context_pack", PathPolicy(deny), cache)


def surveyed(sources: DiskCollections, explain: bool = False) -> Survey:
    found = sources.open(sources.catalogue().collections["docs"]).survey(explain=explain)
    assert found is not None
    return found


def read(sources: DiskCollections) -> tuple[dict[str, str], dict[str, str]]:
    """Every document's text, and every failed one's reason."""
    source = sources.open(sources.catalogue().collections["docs"])
    survey = source.survey()
    assert survey is not None
    found = list(source.read(list(survey.files)))
    failed = [*survey.failed, *(one for one in found if isinstance(one, Failed))]
    texts = {one.document: one.text for one in found if isinstance(one, DocumentText)}
    return texts, {one.document: one.reason for one in failed}


@pytest.mark.clause("DC-05", "DC-08")
def test_a_plain_folder_holds_its_text_files_but_for_ignored_and_denied_ones(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "docs/a.md": "# A",
            "docs/x/b.txt": "b",
            "docs/c.html": "no",
            "docs/.hidden/d.rst": "d",
            "docs/drafts/e.md": "e",
            "docs/.gitignore": "drafts/\n",
            "docs/private.md": "p",
            "docs/node_modules/f.md": "f",
            "docs/secret.md": "s",
            ".gitignore": "docs/private.md\n",
            "outside.md": "o",
        },
    )
    sources = collections(tmp_path, deny=("secret.md",))
    assert sorted(surveyed(sources).files) == [".hidden/d.rst", "a.md", "x/b.txt"]
    why = {one.document: one.reason for one in surveyed(sources, explain=True).skipped}
    assert why["c.html"] == "not among the sources"
    assert why["drafts/e.md"] == why["private.md"] == "ignored by .gitignore"
    assert why["secret.md"] == why["node_modules/"] == "the path policy denies it"


@pytest.mark.clause("DC-08")
def test_denied_paths_are_judged_from_the_source_root_too(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "a", "docs/private/b.md": "b", "docs/x/c.md": "c"})
    assert sorted(surveyed(collections(tmp_path, deny=("docs/private/**", "x/c.md"))).files) == ["a.md"]
    with pytest.raises(Failure):
        surveyed(collections(tmp_path, "docs/private", deny=("docs/private",)))
    assert list(surveyed(collections(tmp_path, "docs/private", deny=("private/b.md",))).files) == ["b.md"]


@pytest.mark.clause("DC-05")
def test_our_own_storage_is_never_a_document(tmp_path: Path) -> None:
    lay(tmp_path, {"a.md": "a", ".agents/mcp/context_pack/packs/pk_aaaaaaaa.md": "pack"})
    assert list(surveyed(collections(tmp_path, ".")).files) == ["a.md"]


@pytest.mark.clause("DC-06")
def test_a_link_that_leads_out_fails_alone_and_one_that_stays_inside_is_read(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "inside", "secret.md": "SECRET", "far/x.md": "SECRET"})
    (tmp_path / "docs/out.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "docs/up.md").symlink_to("../secret.md")
    (tmp_path / "docs/in.md").symlink_to("a.md")
    (tmp_path / "docs/gone.md").symlink_to("nowhere.md")
    (tmp_path / "docs/folder").symlink_to(tmp_path / "far")
    (tmp_path / "docs/round").symlink_to(".")
    texts, failed = read(collections(tmp_path))
    assert texts == {"a.md": "inside", "in.md": "inside"}
    assert failed == {
        "folder": "it leads outside the collection",
        "gone.md": "there is no such file",
        "out.md": "it leads outside the collection",
        "up.md": "it leads outside the collection",
    }


@pytest.mark.clause("DC-06", "DC-07")
def test_a_manifest_with_files_fails_entry_by_entry(tmp_path: Path) -> None:
    body = "good\n"
    digest = hashlib.sha256(body.encode()).hexdigest()
    entries: list[Any] = [
        "a.md",
        {"path": "b.md", "hash": digest},
        {"path": "c.md", "hash": f"sha256:{digest}"},
        {"path": "bad.md", "hash": "0" * 64},
        "../secret.md",
        "/etc/passwd",
        "missing.md",
        "link.md",
        "ignored.md",
        ".env",
        "folder",
    ]
    manifest = {"name": "pkg", "version": "2", "description": "d", "sources": {"files": entries}}
    lay(
        tmp_path,
        {
            "pkg/manifest.json": json.dumps(manifest),
            **{f"pkg/{name}.md": body for name in ("a", "b", "c", "bad", "ignored")},
            "pkg/.env": "TOKEN=1",
            "pkg/.gitignore": "ignored.md",
            "pkg/folder/x.md": "x",
            "secret.md": "SECRET",
        },
    )
    (tmp_path / "pkg/link.md").symlink_to("../secret.md")
    texts, failed = read(collections(tmp_path, "pkg/manifest.json"))
    assert texts == {"a.md": body, "b.md": body, "c.md": body}
    assert set(failed) == {
        *("bad.md", "../secret.md", "/etc/passwd", "missing.md", "link.md", "ignored.md", ".env", "folder")
    }
    assert failed["bad.md"].startswith(f"hash mismatch: the manifest says {'0' * 64}")
    assert failed["ignored.md"] == "ignored by .gitignore"
    assert failed[".env"] == "the path policy denies it"
    assert failed["folder"] == "it is not a regular file"


@pytest.mark.clause("DC-04")
def test_a_folder_with_a_manifest_of_ours_follows_it_and_ignores_others(tmp_path: Path) -> None:
    ours = {"name": "n", "version": "1", "sources": {"glob": ["*.md", "!b.md"]}}
    lay(
        tmp_path, {"docs/manifest.json": json.dumps(ours), "docs/a.md": "", "docs/b.md": "", "docs/c.txt": ""}
    )
    assert list(surveyed(collections(tmp_path)).files) == ["a.md"]
    lay(tmp_path, {"docs/manifest.json": json.dumps({"manifest_version": 3})})
    assert sorted(surveyed(collections(tmp_path)).files) == ["a.md", "b.md", "c.txt"]


@pytest.mark.clause("DC-20")
def test_non_text_documents_fail_with_their_reason(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "docs/a.md": "\ufeff# ok",
            "docs/b.md": b"\xff\xfe\xfa",
            "docs/c.md": b"a\0b",
            "docs/d.md": b"x" * (11 << 20),
        },
    )
    texts, failed = read(collections(tmp_path))
    assert texts == {"a.md": "# ok"}
    assert failed == {
        "b.md": "it is not UTF-8",
        "c.md": "it is not text",
        "d.md": "it is larger than 10485760 bytes",
    }


@pytest.mark.clause("DC-10")
def test_a_collection_may_lie_outside_but_never_where_the_policy_denies(tmp_path: Path) -> None:
    project = tmp_path / "project"
    lay(tmp_path, {"shared/a.md": "a", ".ssh/notes.md": "key"})
    project.mkdir()
    user = tmp_path / "home/context.json"
    (project / "link").symlink_to(tmp_path / ".ssh")

    def of_the_user(place: str) -> DiskCollections:
        lay(user.parent, {user.name: json.dumps({"collections": {"docs": {"url": place}}})})
        cache = PrivateFolder(tmp_path / "cache")
        return DiskCollections(project, project / ".s", PathPolicy(), cache, user)

    assert list(surveyed(of_the_user("../shared")).files) == ["a.md"]
    assert list(surveyed(of_the_user(f"file://{tmp_path}/shared")).files) == ["a.md"]
    (tmp_path / "way").symlink_to(tmp_path / ".ssh")
    for denied in ("../.ssh", "../way"):
        with pytest.raises(Failure, match="the path policy denies the place of the collection"):
            surveyed(of_the_user(denied))
    # A project's link is not followed, whoever names it.
    with pytest.raises(Failure, match=r"there is no folder \./link"):
        surveyed(of_the_user("../project/link"))


@pytest.mark.clause("DC-10")
def test_a_missing_source_is_reported_without_its_absolute_path(tmp_path: Path) -> None:
    for place in ("./nowhere", str(tmp_path / "nowhere"), "none/manifest.json"):
        with pytest.raises(Failure) as refused:
            surveyed(collections(tmp_path, place))
        assert "no" in refused.value.message
        assert str(tmp_path) not in refused.value.message


@pytest.mark.clause("DC-09")
def test_two_projects_with_the_same_folder_have_different_ids(tmp_path: Path) -> None:
    ids = set()
    for name in ("one", "two"):
        lay(tmp_path / name, {"docs/a.md": "a"})
        ids.add(collections(tmp_path / name).catalogue().collections["docs"].id)
        ids.add(collections(tmp_path / name, "docs/").catalogue().collections["docs"].id)
    assert len(ids) == 2


@pytest.mark.clause("DC-02")
def test_the_user_wide_file_is_merged_under_the_projects(tmp_path: Path) -> None:
    lay(tmp_path, {"project/docs/a.md": "a", "home/notes/n.md": "n"})
    project = tmp_path / "project"
    user = {"collections": {"docs": {"url": "/x"}, "notes": {"url": "notes", "description": "mine"}}}
    lay(tmp_path, {"home/context.json": json.dumps(user)})
    collections(project)
    sources = DiskCollections(
        project, project / ".s", PathPolicy(), PrivateFolder(tmp_path / "c"), tmp_path / "home/context.json"
    )
    found = sources.catalogue().collections
    assert list(found) == ["docs", "notes"]
    assert found["docs"].where.place == str(project / "docs")
    assert (found["notes"].where.place, found["notes"].user_wide) == (str(tmp_path / "home/notes"), True)


@pytest.mark.clause("DC-30")
def test_editing_the_configuration_is_atomic_and_seen_at_once(tmp_path: Path) -> None:
    sources = DiskCollections(
        tmp_path, tmp_path / ".s", PathPolicy(), PrivateFolder(tmp_path / "c"), tmp_path / "conf/context.json"
    )
    sources.configure("a", {"url": "./a"})
    lay(tmp_path, {"context.json": (tmp_path / "context.json").read_text().replace("{", '{"other": 1,', 1)})
    sources.configure("b", {"url": "./b", "description": "B"})
    sources.configure("mine", {"url": "/m"}, user_wide=True)
    assert list(sources.catalogue().collections) == ["a", "b", "mine"]
    sources.configure("a", None)
    assert json.loads((tmp_path / "context.json").read_text()) == {
        "other": 1,
        "collections": {"b": {"url": "./b", "description": "B"}},
    }
    assert sorted(os.listdir(tmp_path)) == ["conf", "context.json"]


@pytest.mark.clause("DC-14")
@pytest.mark.parametrize("kind", ["link inside", "link out", "pipe"])
def test_a_configuration_that_is_no_plain_file_is_neither_read_nor_written(tmp_path: Path, kind: str) -> None:
    project, user = tmp_path / "project", tmp_path / "home/context.json"
    decoy = (project if kind == "link inside" else tmp_path) / "decoy.json"
    text = '{"collections": {"theirs": {"url": "./theirs"}}}'
    lay(tmp_path, {"project/a.md": "a", "home/real.json": "{}"})
    decoy.write_text(text)
    if kind == "pipe":
        os.mkfifo(project / "context.json")
    else:
        (project / "context.json").symlink_to(decoy)
    user.symlink_to("real.json")
    sources = DiskCollections(project, project / ".s", PathPolicy(), PrivateFolder(tmp_path / "cache"), user)
    assert (dict(sources.catalogue().collections), len(sources.catalogue().problems)) == ({}, 1)
    for entry in ({"url": "./c"}, None):
        with pytest.raises(Failure, match="no regular file") as refused:
            sources.configure("c", entry)
        assert refused.value.code is Code.PERMISSION_DENIED
    assert decoy.read_text() == text
    assert sorted(os.listdir(project)) == sorted(
        {"a.md", "context.json", decoy.name} - {decoy.name if kind != "link inside" else ""}
    )
    # The user's own may be a link, and stays one.
    sources.configure("mine", {"url": "/m"}, user_wide=True)
    assert user.is_symlink()
    assert "mine" in (tmp_path / "home/real.json").read_text()


@pytest.mark.clause("PV-04")
def test_stale_temporary_files_of_an_edit_are_removed_by_the_next(tmp_path: Path) -> None:
    left, other = tmp_path / f".context.json.{'0' * 16}.tmp", tmp_path / f".other.json.{'0' * 16}.tmp"
    for path in (left, other):
        path.write_text("half")
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    ConfigFile(str(tmp_path / "context.json")).edit(lambda _: "{}")
    assert sorted(os.listdir(tmp_path)) == [other.name, "context.json"]


@pytest.mark.clause("DC-21")
def test_the_state_of_a_file_changes_with_every_edit(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "one"})
    sources = collections(tmp_path)
    os.utime(tmp_path / "docs/a.md", (1, 1))
    before = surveyed(sources).files["a.md"].stamp
    lay(tmp_path, {"docs/a.md": "two"})
    os.utime(tmp_path / "docs/a.md", (1, 1))
    assert surveyed(sources).files["a.md"].stamp != before


@pytest.mark.clause("DC-27")
def test_unusable_document_names_are_reported_on_one_short_line(tmp_path: Path) -> None:
    deep = "/".join(["d" * 240] * 4)
    lay(
        tmp_path,
        {
            "docs/a.md": "# A",
            "docs/new\nline.md": "n",
            "docs/new\nline.png": "no document anyway",
            "docs/ignored\n.md": "i",
            "docs/odd\x01folder/b.md": "b",
            f"docs/{deep}/{'e' * 100}.md": "e",
            "docs/.gitignore": "ignored*\n",
        },
    )
    sources = collections(tmp_path)
    survey = surveyed(sources)
    assert sorted(survey.files) == ["a.md"]
    assert {one.document: one.reason for one in survey.failed} == {
        "new?line.md": "its path must not hold control characters",
        "odd?folder/": "its path must not hold control characters",
        f"{'d' * 80}…": "its path must have at most 1024 bytes",
    }
    explained = {one.document: one.reason for one in surveyed(sources, explain=True).skipped}
    assert explained["new?line.png"] == "its path must not hold control characters"


@pytest.mark.clause("DC-27")
def test_a_pipe_among_documents_is_skipped_with_its_reason(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "# A", "docs/b.md": "b", "docs/.gitignore": "b.md\n"})
    os.mkfifo(tmp_path / "docs/fifo.md")
    survey = surveyed(collections(tmp_path), explain=True)
    assert sorted(survey.files) == ["a.md"]
    assert {one.document: one.reason for one in survey.skipped} == {
        ".gitignore": "not among the sources",
        "b.md": "ignored by .gitignore",
        "fifo.md": "it is not a regular file",
    }


@pytest.mark.clause("DC-10")
@pytest.mark.parametrize("ending", ["", "/manifest.json"])
def test_a_collection_path_that_is_too_long_is_an_io_error(tmp_path: Path, ending: str) -> None:
    sources = collections(tmp_path, f"./{'x' * 300}{ending}")
    with pytest.raises(Failure) as refused:
        surveyed(sources)
    assert refused.value.code is Code.IO_ERROR
    assert "too long" in refused.value.message
    assert str(tmp_path) not in refused.value.message


@pytest.mark.clause("DC-10")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("mode", [0, 0o400, 0o100])
def test_a_folder_that_cannot_be_listed_is_not_one_without_documents(tmp_path: Path, mode: int) -> None:
    lay(tmp_path, {"docs/a.md": "# A"})
    sources = collections(tmp_path)
    (tmp_path / "docs").chmod(mode)
    try:
        with pytest.raises(Failure, match="permission denied"):
            surveyed(sources)
    finally:
        (tmp_path / "docs").chmod(0o755)


@pytest.mark.clause("DC-04")
def test_a_broken_manifest_admits_no_excluded_document(tmp_path: Path) -> None:
    lay(tmp_path, {"docs/a.md": "# A", "docs/drafts/b.md": "# B"})
    manifest = tmp_path / "docs/manifest.json"
    manifest.write_text('{"name": "n", "version": "1" "sources": {"glob": ["**/*.md", "!drafts/**"]}}')
    with pytest.raises(Failure, match="not valid JSON"):
        surveyed(collections(tmp_path))
    manifest.write_text("{{ a template of something else }}")
    assert sorted(surveyed(collections(tmp_path)).files) == ["a.md", "drafts/b.md"]
